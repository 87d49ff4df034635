"""The values of the other side of a binding, modelled in Python.

The far side is JavaScript: null is `None`, undefined `UNDEFINED`, Boolean `bool`, Number `int` or
`float`, BigInt `BigInt`, String `str`, Array `list`, Object `dict` with text keys, Map `JsMap`,
Set `JsSet`, Date `JsDate`, an Error `JsErrorValue`, a typed array or ArrayBuffer `bytes`, a
function `JsFunction`, and any other object `JsObject`.
"""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any, ClassVar, Final


class Undefined:
    def __repr__(self) -> str:
        return "undefined"

    def __bool__(self) -> bool:
        return False


UNDEFINED: Final = Undefined()


class BigInt(int):
    """A JavaScript BigInt."""


class JsMap(dict[str, Any]):
    """A JavaScript Map."""


class JsSet(list[Any]):
    """A JavaScript Set, in insertion order."""


@dataclass(frozen=True, slots=True)
class JsDate:
    """A JavaScript Date: milliseconds since the epoch."""

    epoch_ms: float

    @property
    def moment(self) -> datetime:
        """The date as Python has it, aware and UTC: the platform's zone is no other."""
        return datetime.fromtimestamp(0, UTC) + timedelta(milliseconds=self.epoch_ms)

    def iso(self) -> str:
        """The form of `toISOString()`, which is also its JSON form."""
        moment = self.moment
        return f"{moment:%Y-%m-%dT%H:%M:%S}.{moment.microsecond // 1000:03d}Z"

    def text(self) -> str:
        """The form of `String(date)`; the platform's zone is UTC."""
        if not math.isfinite(self.epoch_ms):
            return "Invalid Date"
        moment = self.moment
        return f"{moment:%a %b %d %Y %H:%M:%S} GMT+0000 (Coordinated Universal Time)"


@dataclass(frozen=True, slots=True)
class JsErrorValue:
    """An Error object as a value (not raised)."""

    name: str
    message: str


@dataclass(frozen=True, slots=True)
class JsFunction:
    """A Python callable seen from the other side.

    Shape: one that was passed to a call as it is, is `lent`: once that is over it `has_ended`, in
    whatever holds it still.
    """

    function: Callable[..., Any]
    ends: list[bool] = field(default_factory=list, compare=False, repr=False)

    @property
    def has_ended(self) -> bool:
        """Whether the call that it was lent to is over."""
        return bool(self.ends)


class JsObject:
    """An object of the platform with methods: a stream, a Response, a binding.

    Shape: `js_class` is its constructor's name; `js_methods` maps the platform's name of a
    method to ours, `js_properties` likewise. It crosses as a `JsProxy`.
    """

    __slots__ = ()
    js_class: ClassVar[str] = "Object"
    js_methods: ClassVar[Mapping[str, str]] = {}
    js_properties: ClassVar[Mapping[str, str]] = {}


@dataclass(frozen=True, slots=True)
class PyObject(JsObject):
    """A Python object that has no form of its own on the other side."""

    value: object


class JsBuffer(JsObject):
    """A window of bytes: an ArrayBuffer, a typed array, a DataView.

    Shape: `view` is writable memory that several windows may share.
    """

    __slots__ = ("view",)
    js_class = "ArrayBuffer"

    def __init__(self, data: bytes | bytearray | memoryview = b"") -> None:
        self.view = data if isinstance(data, memoryview) else memoryview(bytearray(data))

    @property
    def items(self) -> memoryview:
        """The same memory as the numbers that the object shows."""
        return self.view

    def __bytes__(self) -> bytes:
        return bytes(self.view)


class Uint8Array(JsBuffer):
    """A window of bytes as a typed array: what streams are made of."""

    __slots__ = ()
    js_class = "Uint8Array"


class NativeFunction(JsObject):
    """A function of the platform: it takes and gives values of this side.

    Shape: `function` may be a coroutine function; its caller then gets a JsPromise. Surplus
    arguments are dropped, missing ones are a JavaScript TypeError.
    """

    __slots__ = ("function", "name")
    js_class = "Function"

    def __init__(self, name: str, function: Callable[..., Any]) -> None:
        self.name = name
        self.function = function


class NativeClass(NativeFunction):
    """A class of the platform: `function` is what `new` calls, `statics` what hangs on it.

    Shape: `call` is what happens without `new`; None refuses it.
    """

    __slots__ = ("call", "statics")

    def __init__(
        self,
        name: str,
        construct: Callable[..., Any],
        statics: Mapping[str, Any] | None = None,
        call: Callable[..., Any] | None = None,
    ) -> None:
        super().__init__(name, construct)
        self.statics = statics or {}
        self.call = call


class JsPromise(JsObject):
    """A promise: `future` gives its value, a value of this side."""

    __slots__ = ("future",)
    js_class = "Promise"

    def __init__(self, future: asyncio.Future[Any]) -> None:
        self.future = future
