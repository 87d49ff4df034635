"""What a saga is made of, in code and as it is stored."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, Literal

from pydantic import JsonValue

from edgestate.keys import check_id
from edgestate.team.errors import UnknownSaga
from edgestate.team.writes import Write

SagaStatus = Literal["running", "completed", "compensating", "compensated", "dead"]
Forward = Literal["none", "unknown", "done", "failed"]
ANY: Final = "*"
GAVE_UP: Final = "gave_up"


class SagaStepFailed(Exception):  # noqa: N818  (what happened)
    """A step says that it did not do its work and never will; what it is for is compensated.

    Shape: `code` is compared with the conditions of compensations.
    """

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True, slots=True)
class StepCall:
    """What a step or a compensation is given.

    Shape: `key` is the same for every attempt, another one for the compensation; `forward` says
    what is known of the step when it is compensated: "unknown" if it may have happened.
    """

    saga_id: str
    seq: int
    input: JsonValue
    results: Mapping[str, JsonValue]
    key: str
    attempt: int
    forward: Forward = "none"
    failure: str | None = None


@dataclass(frozen=True, slots=True)
class Done:
    """What a step came to: its result, and writes that happen in one batch with its record."""

    result: JsonValue = None
    writes: tuple[Write, ...] = ()


Action = Callable[[StepCall], Awaitable[Done]]


@dataclass(frozen=True, slots=True)
class SagaStep:
    """A step and how it is undone.

    Shape: `condition` is the failure's code, or the name of the step that failed, for which the
    compensation is meant; "*" is every failure. A step that failed itself is compensated only if
    its condition names the failure.
    """

    name: str
    run: Action
    compensation: str | None = None
    compensate: Action | None = None
    condition: str = ANY

    def __post_init__(self) -> None:
        if (self.compensation is None) != (self.compensate is None):
            raise ValueError(f"step {self.name} needs its compensation's name and action, or none")


@dataclass(frozen=True, slots=True)
class SagaDefinition:
    """The steps of a saga, in order.

    Units: `backoff_s` before the second try, doubled for each further one.
    """

    name: str
    steps: tuple[SagaStep, ...]
    max_attempts: int = 3
    max_compensation_attempts: int = 5
    backoff_s: float = 1.0
    step_timeout_s: float = 20.0
    lease_s: float = field(default=60.0)

    def pause_ms(self, attempt: int) -> int:
        """How long to wait after the failed try `attempt`."""
        return int(self.backoff_s * 1000 * 2 ** (attempt - 1))

    def must_fit(self, saga: SagaRow) -> None:
        """Return if the stored saga's steps are these, and can be undone. Errors: UnknownSaga."""
        names = [step.name for step in saga.steps]
        cannot = [
            step.name
            for step, defined in zip(saga.steps, self.steps, strict=False)
            if step.compensation is not None and defined.compensate is None
        ]
        if cannot or names != [step.name for step in self.steps]:
            raise UnknownSaga(saga.saga_id, f"has other steps than {self.name} has now")


@dataclass(slots=True)
class StepRow:
    """A step as it is stored."""

    seq: int
    name: str
    status: str
    compensation: str | None
    condition: str | None
    forward: Forward
    attempts: int
    compensation_attempts: int
    result: JsonValue
    error: str | None

    def values(self) -> tuple[Any, ...]:
        """What `MOVE_STEP` takes behind the saga's id."""
        return (
            self.seq,
            self.status,
            self.forward,
            self.attempts,
            self.compensation_attempts,
            json.dumps(self.result, ensure_ascii=False),
            self.error,
        )

    def must_be_compensated(self, failure: str | None, failed_step: str | None) -> bool:
        """Whether the step is undone after that failure."""
        if self.compensation is None or self.forward == "none":
            return False
        is_named = self.condition in (failure, failed_step)
        if self.forward == "failed":
            return is_named and self.condition is not None
        # Whether it happened is not known: undoing is made for that, whatever the failure was.
        return is_named or self.condition == ANY or self.forward == "unknown"


@dataclass(slots=True)
class SagaRow:
    """A saga as it is stored."""

    saga_id: str
    name: str
    input: JsonValue
    status: SagaStatus
    failure: str | None
    version: int
    fence: int
    due_at: int
    trace_id: str
    steps: list[StepRow]

    @property
    def failed_step(self) -> str | None:
        """The name of the step that stopped the saga."""
        return next((s.name for s in self.steps if s.forward in ("failed", "unknown")), None)


def saga_of(row: Any, steps: Any) -> SagaRow:
    """The saga of its rows."""
    names = [name for name in SagaRow.__dataclass_fields__ if name not in ("steps", "input")]
    return SagaRow(
        **{name: row[name] for name in names},
        input=json.loads(row["input"]),
        steps=[
            StepRow(
                **{name: step[name] for name in StepRow.__dataclass_fields__ if name != "result"},
                result=json.loads(step["result"] or "null"),
            )
            for step in steps
        ],
    )


def saga_key(saga_id: str, seq: int, purpose: Literal["run", "undo"]) -> str:
    """The idempotency key of a step, or of its compensation: the same for every attempt."""
    digest = hashlib.sha256(f"{check_id('saga', saga_id)}\0{seq}\0{purpose}".encode())
    return f"saga-{digest.hexdigest()[:34]}"
