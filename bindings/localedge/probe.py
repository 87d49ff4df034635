"""The one seam that every binding call, outgoing fetch and tool call passes."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from itertools import count
from typing import Any, Protocol, TypeVar

from localedge.tally import Tally

T = TypeVar("T")
_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Call:
    """One call that leaves the worker.

    Shape: `kind` is "kv", "d1", "fetch" or "tool"; `binding` the name in `env` ("" for fetch);
    `operation` the method; `arguments` what was passed, in JavaScript's form; `number` grows
    by one per call in this process; `target` is the binding's object, a statement for example.
    """

    kind: str
    binding: str
    operation: str
    arguments: tuple[object, ...] = ()
    number: int = field(default_factory=lambda: next(_numbers))
    target: object = field(default=None, repr=False, compare=False)


@dataclass(frozen=True, slots=True)
class Outcome:
    """How a call ended: its `value`, or the `error` that it raised."""

    value: object = None
    error: BaseException | None = None


class Observer(Protocol):
    """Someone who looks at calls. Either method may wait, and may raise in the call's place."""

    async def before(self, call: Call) -> None:
        """Called before the operation begins."""

    async def after(self, call: Call, outcome: Outcome) -> None:
        """Called after the operation ended and before the worker learns of it."""


class Probe:
    """Runs operations past whoever is attached, and counts them in `tally`.

    Unattached it costs an attribute read and the counting: `python -m bench.probe` measures it.
    """

    __slots__ = ("observers", "tally")

    def __init__(self) -> None:
        self.observers: tuple[Observer, ...] = ()
        self.tally = Tally()

    def attach(self, observer: Observer) -> Callable[[], None]:
        """Show all calls from now on to `observer`; the returned function takes it off again."""
        self.observers = (*self.observers, observer)

        def detach() -> None:
            self.observers = tuple(o for o in self.observers if o is not observer)

        return detach

    async def run(self, call: Call, operation: Callable[[], Awaitable[T]]) -> T:
        """Return `operation()`'s value, between every observer's `before` and `after`."""
        observers = self.observers
        began = self.tally.begin(call.binding, call.operation, call.arguments, call.target)
        for observer in observers:
            await observer.before(call)
        try:
            value = await operation()
        except BaseException as error:
            self.tally.ended(call.kind, call.binding, call.operation, began, error)
            for observer in reversed(observers):
                await observer.after(call, Outcome(error=error))
            raise
        self.tally.ended(call.kind, call.binding, call.operation, began)
        for observer in reversed(observers):
            await observer.after(call, Outcome(value=value))
        return value


def describe(value: Any, limit: int = 200) -> str:
    """`repr(value)`, cut to `limit` characters."""
    text = repr(value)
    return text if len(text) <= limit else text[: limit - 1] + "…"
