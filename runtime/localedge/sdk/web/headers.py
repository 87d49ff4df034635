"""The Fetch standard's Headers."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, ClassVar

from localedge import jsmembers
from localedge.coercion import js_string
from localedge.errors import js_type_error
from localedge.jsproxy import listed
from localedge.values import UNDEFINED, JsObject

_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FORBIDDEN = re.compile(r"[\0\r\n]")


class Headers(JsObject):
    """Names and values of one message.

    Shape: names are lower case; the wire order is kept. Text beyond ASCII travels as UTF-8.
    Errors: a JavaScript TypeError for a name or value that HTTP cannot carry.
    Source: fetch.spec.whatwg.org, read 2026-12-01.
    """

    __slots__ = ("_pairs",)
    js_class = "Headers"
    js_methods: ClassVar[Mapping[str, str]] = {
        "append": "append",
        "delete": "delete",
        "entries": "entries",
        "forEach": "for_each",
        "get": "get",
        "getAll": "get_all",
        "getSetCookie": "get_set_cookie",
        "has": "has",
        "keys": "keys",
        "set": "set",
        "values": "values",
    }

    def __init__(self, pairs: Iterable[tuple[str, str]] = ()) -> None:
        self._pairs: list[tuple[str, str]] = []
        for name, value in pairs:
            self.append(name, value)

    @classmethod
    def trusted(cls, pairs: list[tuple[str, str]]) -> Headers:
        """Headers over `pairs`, whose names are lower case and whose values HTTP carried."""
        headers = cls.__new__(cls)
        headers._pairs = pairs
        return headers

    def raw(self) -> list[tuple[str, str]]:
        """All pairs in wire order, one per header line."""
        return self._pairs

    def copy(self) -> Headers:
        """The same pairs, independent of these."""
        return Headers.trusted(list(self._pairs))

    def append(self, name: str, value: Any) -> None:
        """One pair more, after the others."""
        self._pairs.append((_valid_name(name), _valid_value(value)))

    def set(self, name: str, value: Any) -> None:
        """The name has this value only."""
        key, text = _valid_name(name), _valid_value(value)
        first = next((at for at, pair in enumerate(self._pairs) if pair[0] == key), None)
        if first is None:
            self._pairs.append((key, text))
            return
        rest = [pair for pair in self._pairs[first + 1 :] if pair[0] != key]
        self._pairs[first:] = [(key, text), *rest]

    def delete(self, name: str) -> None:
        """There is no pair of that name."""
        key = _valid_name(name)
        self._pairs[:] = [pair for pair in self._pairs if pair[0] != key]

    def get(self, name: str) -> str | None:
        """The values of the name, joined; None when there are none."""
        key = _valid_name(name)
        values = [value for pair, value in self._pairs if pair == key]
        return ", ".join(values) if values else None

    def get_all(self, name: str) -> list[str]:
        """The values of Set-Cookie, the only name that the platform allows."""
        if _valid_name(name) != "set-cookie":
            raise js_type_error('getAll() can only be used with the header name "Set-Cookie".')
        return self.get_set_cookie()

    def get_set_cookie(self) -> list[str]:
        """The value of every Set-Cookie line."""
        return [value for name, value in self._pairs if name == "set-cookie"]

    def has(self, name: str) -> bool:
        """Whether there is a pair of that name."""
        key = _valid_name(name)
        return any(pair[0] == key for pair in self._pairs)

    def entries(self) -> list[list[str]]:
        """Sorted by name, values of one name joined, but each Set-Cookie for itself."""
        joined: dict[str, list[str]] = {}
        for name, value in self._pairs:
            joined.setdefault(name, []).append(value)
        found: list[list[str]] = []
        for name in sorted(joined):
            if name == "set-cookie":
                found.extend([name, value] for value in joined[name])
            else:
                found.append([name, ", ".join(joined[name])])
        return found

    def keys(self) -> list[str]:
        """The names, sorted."""
        return [name for name, _ in self.entries()]

    def values(self) -> list[str]:
        """The values in the order of their names."""
        return [value for _, value in self.entries()]

    def for_each(self, callback: Any) -> None:
        """`callback(value, name, self)` was called for every pair."""
        for name, value in self.entries():
            jsmembers.invoke(callback, value, name, self)

    def __iter__(self) -> Iterator[list[str]]:
        return iter(self.entries())


def headers_from(init: Any = UNDEFINED) -> Headers:
    """`new Headers(init)`: nothing, other headers, an object, a map or pairs.

    Errors: a JavaScript TypeError for anything else.
    """
    if init is UNDEFINED:
        return Headers()
    if isinstance(init, Headers):
        return init.copy()
    if isinstance(init, dict):
        return Headers((name, value) for name, value in init.items())
    items = listed(init)
    pairs = [listed(item) for item in items] if items is not None else [None]
    headers = Headers()
    for pair in pairs:
        if pair is None or len(pair) != 2:
            raise js_type_error("Headers can be made of an object or of pairs of name and value.")
        headers.append(pair[0], pair[1])
    return headers


def _valid_name(name: Any) -> str:
    text = name if isinstance(name, str) else js_string(name)
    if not _NAME.fullmatch(text):
        raise js_type_error("Invalid header name.")
    return text.lower()


def _valid_value(value: Any) -> str:
    text = (value if isinstance(value, str) else js_string(value)).strip(" \t\r\n")
    if _FORBIDDEN.search(text):
        raise js_type_error("Invalid header value.")
    return text
