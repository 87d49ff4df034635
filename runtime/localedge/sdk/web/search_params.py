"""URLSearchParams, and the form encoding that it shares with forms."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any, ClassVar
from urllib.parse import parse_qsl, quote_plus

from localedge import jsmembers
from localedge.coercion import js_string
from localedge.errors import js_type_error
from localedge.jsproxy import listed
from localedge.sdk.web.usv import utf8
from localedge.values import UNDEFINED, JsObject, PyObject


class URLSearchParams(JsObject):
    """Names and values of a query.

    Shape: `changed`, when set, is called with the new query after every change.
    Source: url.spec.whatwg.org, read 2026-12-01.
    """

    __slots__ = ("_pairs", "changed")
    js_class = "URLSearchParams"
    js_methods: ClassVar[Mapping[str, str]] = {
        "append": "append",
        "delete": "delete",
        "entries": "entries",
        "forEach": "for_each",
        "get": "get",
        "getAll": "get_all",
        "has": "has",
        "keys": "keys",
        "set": "set",
        "sort": "sort",
        "toString": "text",
        "values": "values",
    }
    js_properties: ClassVar[Mapping[str, str]] = {"size": "size"}

    def __init__(self, init: Any = UNDEFINED) -> None:
        self._pairs = _pairs_of(init)
        self.changed: Callable[[str], None] | None = None

    @property
    def size(self) -> int:
        """How many pairs there are."""
        return len(self._pairs)

    def text(self) -> str:
        """The pairs in form encoding, without a question mark."""
        return form_encoded(self._pairs)

    def append(self, name: Any, value: Any) -> None:
        """One pair more, after the others."""
        self._pairs.append((js_string(name), js_string(value)))
        self._tell()

    def delete(self, name: Any, value: Any = UNDEFINED) -> None:
        """There is no pair of that name."""
        self._pairs[:] = [pair for pair in self._pairs if not _matches(pair, name, value)]
        self._tell()

    def set(self, name: Any, value: Any) -> None:
        """The name has this value only."""
        key, text = js_string(name), js_string(value)
        first = next((at for at, pair in enumerate(self._pairs) if pair[0] == key), None)
        if first is None:
            self._pairs.append((key, text))
        else:
            rest = [pair for pair in self._pairs[first + 1 :] if pair[0] != key]
            self._pairs[first:] = [(key, text), *rest]
        self._tell()

    def get(self, name: Any) -> str | None:
        """The first value of the name; None when there is none."""
        return next((value for key, value in self._pairs if key == js_string(name)), None)

    def get_all(self, name: Any) -> list[str]:
        """All values of the name."""
        return [value for key, value in self._pairs if key == js_string(name)]

    def has(self, name: Any, value: Any = UNDEFINED) -> bool:
        """Whether there is a pair of that name."""
        return any(_matches(pair, name, value) for pair in self._pairs)

    def sort(self) -> None:
        """The pairs are in the order of their names."""
        self._pairs.sort(key=lambda pair: pair[0].encode("utf-16-be"))
        self._tell()

    def entries(self) -> list[list[str]]:
        """The pairs in order."""
        return [[name, value] for name, value in self._pairs]

    def keys(self) -> list[str]:
        """The names, one for each pair."""
        return [name for name, _ in self._pairs]

    def values(self) -> list[str]:
        """The values in order."""
        return [value for _, value in self._pairs]

    def for_each(self, callback: Any) -> None:
        """`callback(value, name, self)` was called for every pair."""
        for name, value in list(self._pairs):
            jsmembers.invoke(callback, value, name, self)

    def __iter__(self) -> Iterator[list[str]]:
        return iter(self.entries())

    def replace(self, query: str) -> None:
        """The pairs are those of `query`; nobody is told."""
        self._pairs[:] = form_decoded(query)

    def _tell(self) -> None:
        if self.changed is not None:
            self.changed(self.text())


def _matches(pair: tuple[str, str], name: Any, value: Any) -> bool:
    return pair[0] == js_string(name) and (value is UNDEFINED or pair[1] == js_string(value))


def _pairs_of(init: Any) -> list[tuple[str, str]]:
    if init is UNDEFINED:
        return []
    if isinstance(init, URLSearchParams):
        return list(init._pairs)
    if isinstance(init, dict):
        return [(js_string(name), js_string(value)) for name, value in init.items()]
    if isinstance(init, list | PyObject) and (items := listed(init)) is not None:
        return [_pair(item) for item in items]
    return form_decoded(js_string(init).removeprefix("?"))


def _pair(item: Any) -> tuple[str, str]:
    pair = listed(item)
    if pair is None or len(pair) != 2:
        raise js_type_error("Each query pair must be an iterable [name, value] tuple.")
    return js_string(pair[0]), js_string(pair[1])


def form_decoded(text: str) -> list[tuple[str, str]]:
    """The pairs of a form-encoded text."""
    return parse_qsl(text, keep_blank_values=True, encoding="utf-8", errors="replace")


def form_encoded(pairs: list[tuple[str, str]]) -> str:
    """`pairs` in form encoding."""
    return "&".join(f"{_encoded(name)}={_encoded(value)}" for name, value in pairs)


def _encoded(text: str) -> str:
    return quote_plus(utf8(text), safe="*").replace("~", "%7E")
