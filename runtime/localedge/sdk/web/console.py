"""console: what workers print by the platform's own means."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any, Final, TextIO

from localedge.coercion import js_string
from localedge.errors import JsException
from localedge.sdk.web.response import stringified
from localedge.values import JsObject, NativeFunction, PyObject


def _shown(value: Any) -> str:
    if isinstance(value, PyObject):
        return str(value.value)
    if isinstance(value, dict | list) and not isinstance(value, JsObject):
        try:
            return stringified(value)
        except JsException:
            return js_string(value)
    return js_string(value)


def _printer(stream: Callable[[], TextIO]) -> Callable[..., None]:
    def write(*values: Any) -> None:
        stream().write(" ".join(_shown(value) for value in values) + "\n")

    return write


_OUT: Final = _printer(lambda: sys.stdout)
_ERR: Final = _printer(lambda: sys.stderr)
CONSOLE: Final = {
    name: NativeFunction(name, _ERR if name in ("error", "warn", "trace") else _OUT)
    for name in ("debug", "error", "info", "log", "trace", "warn")
}
