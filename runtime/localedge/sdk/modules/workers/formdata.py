"""`workers.FormData`."""

from __future__ import annotations

from collections.abc import Iterator, MutableMapping
from typing import Any

from localedge.errors import js_type_error
from localedge.jsproxy import JSNULL, JsProxy, raw_to_js
from localedge.sdk import web
from localedge.values import UNDEFINED
from workers.blob import Blob, File


class FormData(MutableMapping[str, Any]):
    """The fields of a form: `[name]` is a field's first value, `get_all` all of them.

    Shape: files are File objects; a missing `[name]` is `jsnull`, as on the platform.
    Errors: TypeError for something that is no form, and for a list as a value.
    Source: reference/python-workers.md 1.5, read 2026-12-01.
    """

    def __init__(self, form_data: Any = None) -> None:
        self._js = web.FormData()
        if not form_data:
            return
        if isinstance(form_data, FormData):
            self._js = form_data._js
        elif isinstance(form_data, dict):
            for name, value in form_data.items():
                self.append(name, value)
        elif isinstance(form_data, JsProxy) and isinstance(form_data._js, web.FormData):
            self._js = form_data._js
        else:
            raise TypeError("Expected form_data to be a dict or an instance of FormData")

    @property
    def js_object(self) -> JsProxy:
        """The platform's FormData."""
        return JsProxy(self._js)

    def __getitem__(self, key: str) -> Any:
        return _to_python(self._js.get(key))

    def __setitem__(self, key: str, value: Any) -> None:
        if isinstance(value, list):
            raise TypeError("Expected single item in arguments to FormData.__setitem__")
        self._js.set(key, _to_platform(value))

    def __delitem__(self, key: str) -> None:
        self.delete(key)

    def __contains__(self, key: object) -> bool:
        return self._js.has(key)

    def __iter__(self) -> Iterator[str]:
        return self.keys()

    def __len__(self) -> int:
        # The platform's SDK fails here in the same way.
        return len(self.keys())  # type: ignore[arg-type]

    def append(self, key: str, value: Any, filename: str | None = None) -> None:
        """The form has one field more.

        Errors: a JavaScript TypeError for a filename beside a text.
        """
        if filename is not None and isinstance(value, str):
            raise js_type_error("FormData append() takes a filename beside a Blob only.")
        self._js.append(key, _to_platform(value), UNDEFINED if filename is None else filename)

    def delete(self, key: str) -> None:
        """The form has no field `key`."""
        self._js.delete(key)

    def get_all(self, key: str) -> list[Any]:
        """All values of the field."""
        return [_to_python(value) for value in self._js.get_all(key)]

    def keys(self) -> Iterator[str]:  # type: ignore[override]
        """The names of the fields, one for each value."""
        yield from self._js.keys()

    def values(self) -> Iterator[Any]:  # type: ignore[override]
        """The values of the fields."""
        return (_to_python(value) for value in self._js.values())

    def items(self) -> Iterator[tuple[str, Any]]:  # type: ignore[override]
        """The fields in order."""
        return ((name, _to_python(value)) for name, value in self._js.pairs())


def _to_platform(value: Any) -> Any:
    return value._js if isinstance(value, Blob) else raw_to_js(value)


def _to_python(value: Any) -> Any:
    if isinstance(value, web.File):
        return File(JsProxy(value), value.name)
    return JSNULL if value is None else value
