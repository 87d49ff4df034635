"""Effects of worker code that is run as a function: what a tool does outside."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextvars import ContextVar
from typing import Any, Final, Protocol

from localedge.explore.outside import Outside
from localedge.probe import Call, Probe


class Acting(Protocol):
    """Where a worker acts."""

    @property
    def outside(self) -> Outside:
        """The effect log."""

    @property
    def probe(self) -> Probe:
        """What its calls pass."""


ACTING: Final[ContextVar[Acting]] = ContextVar("localedge_acting")


async def act(name: str, *, key: str | None = None, answer: Any = None) -> Any:
    """The effect `name` has happened outside, as a tool call: a point of the run.

    Shape: a `key` that has been seen makes no new effect; what was answered then is answered again.
    Errors: LookupError outside of a run.
    """
    acting = ACTING.get()

    async def happen() -> Any:
        return acting.outside.happen(name, key=key, answer=answer)

    return await acting.probe.run(Call("tool", "", name, () if key is None else (key,)), happen)


def happen(name: str, *, key: str | None = None, answer: Any = None) -> Any:
    """The effect `name` has happened outside; no point of its own, for tools that are one."""
    return ACTING.get().outside.happen(name, key=key, answer=answer)


def observing(probe: Probe) -> Callable[..., Awaitable[Any]]:
    """What `edgestate.observe` is for workers behind `probe`."""

    async def observe(
        name: str, arguments: Any, operation: Callable[[], Awaitable[object]]
    ) -> object:
        return await probe.run(Call("tool", "", name, (arguments,)), operation)

    return observe
