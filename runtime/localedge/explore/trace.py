"""What is noted of a run, so that others can begin in its middle."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

from localedge.d1.database import D1PreparedStatement
from localedge.explore.answers import KILLED, Answer, Memo, memo_of
from localedge.explore.choices import Choices
from localedge.explore.holds import Memory
from localedge.explore.outcome import Finding
from localedge.explore.stores import State
from localedge.probe import Call

_KV_WRITES: Final = frozenset({"put", "delete"})


def may_write(call: Call) -> bool:
    """Whether `call` could change a store."""
    if call.kind == "kv":
        return call.operation in _KV_WRITES
    if call.kind != "d1":
        return False
    target = call.target
    return not isinstance(target, D1PreparedStatement) or not target.query.parsed.is_read_only


@dataclass(frozen=True, slots=True)
class Fork:
    """A run in its middle, from which another one can go on.

    Shape: `memo` has the ends of the client's operations so far; `choices` are those made so far.
    """

    state: State
    memo: tuple[Memo, ...]
    memories: tuple[Memory, ...]
    findings: tuple[Finding, ...]
    choices: Choices
    point: int
    workers: int

    def killed(self, answered: Answer | None) -> Fork:
        """The same after the death of the worker; the client has `answered`, or nothing."""
        memo = (*self.memo, memo_of(answered or KILLED))
        return Fork(
            self.state, memo, self.memories, self.findings, self.choices, self.point, self.workers
        )

    def chosen(self, choices: Choices) -> Fork:
        """The same, reached by `choices`."""
        return Fork(
            self.state, self.memo, self.memories, self.findings, choices, self.point, self.workers
        )

    @property
    def key(self) -> tuple[object, ...]:
        """Equal for forks from which every run goes the same way, up to made-up ids."""
        memo = tuple(memo.key for memo in self.memo)
        return (self.state.key, memo, self.memories, self.findings)


@dataclass(slots=True)
class PointInfo:
    """One call of a run.

    Shape: `operation` counts the client's operations from 0; `start` is the run before it;
    `before` and `after` are None where the run cannot be copied (others are at work).
    `state` is that before the call;
    `values` are how many values each KV read of the call could have had, where more than one.
    """

    point: int
    worker: int
    call: Call
    operation: int
    start: Fork
    state: State
    before: Fork | None = None
    after: Fork | None = None
    values: list[int] = field(default_factory=list)

    @property
    def shape(self) -> tuple[str, str, str]:
        """What the call is, without its arguments."""
        return (self.call.kind, self.call.binding, self.call.operation)

    @property
    def may_write(self) -> bool:
        """Whether the call could have changed a store."""
        return may_write(self.call)


@dataclass(frozen=True, slots=True)
class Decision:
    """Whose turn it was: `enabled` workers in order, the `chosen` one and the one before it.

    Shape: `key` is equal where everything that is to come is.
    """

    point: int
    enabled: tuple[int, ...]
    chosen: int
    current: int
    key: tuple[object, ...] = ()

    def cost(self, worker: int) -> int:
        """1 if giving `worker` the turn takes it from one that could go on."""
        return int(worker != self.current and self.current in self.enabled)


@dataclass(slots=True)
class Trace:
    """All points and decisions of a run.

    Shape: `landings` are the points at which a late call, if it was tried, would have changed
    something.
    """

    points: dict[int, PointInfo] = field(default_factory=dict)
    decisions: list[Decision] = field(default_factory=list)
    landings: set[int] = field(default_factory=set)


@dataclass(frozen=True, slots=True)
class Event:
    """One line of a run's story: what a worker, the client or the explorer did.

    Shape: `kind` is "call", "begin", "end", "client", "choice" or "finding"; `worker` 0 for the
    client.
    """

    kind: str
    worker: int
    point: int
    at_s: float
    text: str
    result: str = ""
