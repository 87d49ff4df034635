"""Tools: what an agent can do, what doing it twice means, and how often and long it may try."""

from __future__ import annotations

import random
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

from pydantic import JsonValue

from edgestate.keys import check_id
from edgestate.models import ToolState
from edgestate.statuses import Effect

EFFECTS: Final = ("read", "idempotent", "non_idempotent")


@dataclass(frozen=True, slots=True)
class Backoff:
    """How long to wait before the next try: doubled each time, up to a cap, randomly shortened."""

    first_s: float = 0.2
    cap_s: float = 10.0

    def pause_s(self, retry: int) -> float:
        """The pause before retry number `retry` (from 1)."""
        full = min(self.cap_s, self.first_s * 2.0 ** min(retry - 1, 60))
        return full * random.uniform(0.5, 1.0)


@dataclass(frozen=True, slots=True)
class RateLimit:
    """At most `calls` calls of a tool, by all workers together, in `window_s`."""

    calls: int
    window_s: float


class SaveState(Protocol):
    """Stores a tool's state while its call is under way."""

    async def __call__(self, state: ToolState) -> None:
        """`state` is stored."""


@dataclass(slots=True)
class ToolCall:
    """One call of a tool, as the tool sees it.

    Shape: `idempotency_key` is the same in every attempt of the step; `results` are the outputs
    of the steps before; `state` is what is known of the tool within the task.
    """

    task_id: str
    session_id: str
    step_index: int
    input: Any
    idempotency_key: str
    attempt: int
    results: list[JsonValue]
    state: ToolState
    _save: SaveState

    @property
    def cursor(self) -> JsonValue:
        """Where the next page begins; None at the start. Survives a crash."""
        return self.state.cursor

    async def save_page(self, cursor: JsonValue, **extra: JsonValue) -> None:
        """The next page begins at `cursor`, and `extra` is remembered: both are stored.

        A tool has one cursor within a task, and the step's result ends it: steps of one tool
        that page must not run at once.
        Errors: FenceLost, LeaseLost: someone else has the task, stop.
        """
        self.state.status = "calling"
        self.state.cursor = cursor
        self.state.extra = {**self.state.extra, **extra}
        await self._save(self.state)


ToolFunction = Callable[[ToolCall], Awaitable[object]]
"""What it returns must be JSON; a step whose result is not says so and fails."""


@dataclass(frozen=True, slots=True)
class Tool:
    """Something that an agent can do.

    Shape: `effect`: `read` has none; `idempotent` may be repeated with its key;
    `non_idempotent` must not be repeated unless a person says so. `run` raises ToolFailed when
    it knows that nothing happened. `parameters` is the JSON schema that a model is shown.
    Units: `timeout_s` for one call.
    """

    name: str
    run: ToolFunction
    effect: Effect = "non_idempotent"
    timeout_s: float = 30.0
    max_retries: int = 3
    backoff: Backoff = Backoff()
    rate: RateLimit | None = None
    description: str = ""
    parameters: Mapping[str, JsonValue] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_id("tool", self.name)
        if self.effect not in EFFECTS:
            raise ValueError(f"the effect of {self.name} is one of {EFFECTS}, not {self.effect!r}")


def tool(
    *,
    effect: Effect,
    name: str | None = None,
    timeout_s: float = 30.0,
    max_retries: int = 3,
    backoff: Backoff | None = None,
    rate: RateLimit | None = None,
    parameters: Mapping[str, JsonValue] | None = None,
) -> Callable[[ToolFunction], Tool]:
    """A decorator: the function is a `Tool` of its own name, described by its docstring."""

    def made(function: ToolFunction) -> Tool:
        return Tool(
            name=name or str(getattr(function, "__name__", "tool")),
            run=function,
            effect=effect,
            timeout_s=timeout_s,
            max_retries=max_retries,
            backoff=backoff or Backoff(),
            rate=rate,
            description=(function.__doc__ or "").strip(),
            parameters=parameters or {},
        )

    return made
