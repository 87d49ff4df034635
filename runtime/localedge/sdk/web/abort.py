"""AbortController and AbortSignal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from localedge import jsmembers
from localedge.sdk.web.streams import as_error
from localedge.values import UNDEFINED, JsErrorValue, JsObject


class AbortSignal(JsObject):
    """Tells whether, and why, something was given up."""

    __slots__ = ("_listeners", "aborted", "reason")
    js_class = "AbortSignal"
    js_methods: ClassVar[Mapping[str, str]] = {
        "addEventListener": "add_listener",
        "throwIfAborted": "throw_if_aborted",
    }
    js_properties: ClassVar[Mapping[str, str]] = {"aborted": "aborted", "reason": "reason"}

    def __init__(self) -> None:
        self.aborted = False
        self.reason: Any = UNDEFINED
        self._listeners: list[Any] = []

    def add_listener(self, _event: Any, callback: Any) -> None:
        """`callback` is called when it happens."""
        self._listeners.append(callback)

    def throw_if_aborted(self) -> None:
        """Errors: the reason, when it was given up."""
        if self.aborted:
            raise as_error(self.reason)

    def abort(self, reason: Any) -> None:
        """It is given up now."""
        if self.aborted:
            return
        self.aborted = True
        given_up = JsErrorValue("AbortError", "The operation was aborted")
        self.reason = given_up if reason is UNDEFINED else reason
        for callback in self._listeners:
            jsmembers.invoke(callback, {"type": "abort"})


class AbortController(JsObject):
    """Gives something up: whoever has its `signal` learns of it."""

    __slots__ = ("signal",)
    js_class = "AbortController"
    js_methods: ClassVar[Mapping[str, str]] = {"abort": "abort"}
    js_properties: ClassVar[Mapping[str, str]] = {"signal": "signal"}

    def __init__(self) -> None:
        self.signal = AbortSignal()

    def abort(self, reason: Any = UNDEFINED) -> None:
        """The signal is aborted."""
        self.signal.abort(reason)
