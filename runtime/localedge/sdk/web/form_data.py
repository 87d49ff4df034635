"""FormData."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

from localedge import jsmembers
from localedge.coercion import js_string
from localedge.sdk.web.blob import Blob, File
from localedge.values import UNDEFINED, JsObject

Entry = str | File


class FormData(JsObject):
    """The fields of a form, files among them, in order."""

    __slots__ = ("_pairs",)
    js_class = "FormData"
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
        "values": "values",
    }

    def __init__(self) -> None:
        self._pairs: list[tuple[str, Entry]] = []

    def append(self, name: Any, value: Any, filename: Any = UNDEFINED) -> None:
        """One pair more, after the others."""
        self._pairs.append((js_string(name), _entry(value, filename)))

    def set(self, name: Any, value: Any, filename: Any = UNDEFINED) -> None:
        """The name has this value only."""
        key = js_string(name)
        first = next((at for at, pair in enumerate(self._pairs) if pair[0] == key), None)
        if first is None:
            self._pairs.append((key, _entry(value, filename)))
            return
        rest = [pair for pair in self._pairs[first + 1 :] if pair[0] != key]
        self._pairs[first:] = [(key, _entry(value, filename)), *rest]

    def delete(self, name: Any) -> None:
        """There is no pair of that name."""
        self._pairs[:] = [pair for pair in self._pairs if pair[0] != js_string(name)]

    def get(self, name: Any) -> Entry | None:
        """The first value of the name; None when there is none."""
        return next((value for key, value in self._pairs if key == js_string(name)), None)

    def get_all(self, name: Any) -> list[Entry]:
        """All values of the name."""
        return [value for key, value in self._pairs if key == js_string(name)]

    def has(self, name: Any) -> bool:
        """Whether there is a pair of that name."""
        return any(key == js_string(name) for key, _ in self._pairs)

    def pairs(self) -> list[tuple[str, Entry]]:
        """The fields in order."""
        return self._pairs

    def entries(self) -> list[list[Any]]:
        """The pairs in order."""
        return [[name, value] for name, value in self._pairs]

    def keys(self) -> list[str]:
        """The names, one for each pair."""
        return [name for name, _ in self._pairs]

    def values(self) -> list[Entry]:
        """The values in order."""
        return [value for _, value in self._pairs]

    def for_each(self, callback: Any) -> None:
        """`callback(value, name, self)` was called for every pair."""
        for name, value in list(self._pairs):
            jsmembers.invoke(callback, value, name, self)

    def __iter__(self) -> Iterator[list[Any]]:
        return iter(self.entries())


def _entry(value: Any, filename: Any) -> Entry:
    if not isinstance(value, Blob):
        return js_string(value)
    if isinstance(value, File) and filename is UNDEFINED:
        return value
    name = "blob" if filename is UNDEFINED else js_string(filename)
    return File(value.data, name, value.type)
