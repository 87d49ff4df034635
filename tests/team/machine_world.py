"""What the model of the team is played on: agents that die at a call, calls that are repeated."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections.abc import Callable, Coroutine, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, TypeVar

from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine
from tests.edgestate.world import d1_binding
from tests.team.world import PATIENT, Team

from edgestate.errors import StateError
from edgestate.team import AccessDenied, D1Record, TeamMember, enrol

T = TypeVar("T")
AGENTS = ("planner", "worker-1", "worker-2", "critic")
WORKERS = ("worker-1", "worker-2")
BEGINNING = "2026-12-01T00:00:00Z"

agents = st.sampled_from(AGENTS)
workers = st.sampled_from(WORKERS)


def mostly(name: str) -> st.SearchStrategy[str]:
    """An agent, `name` more often than the others."""
    return st.sampled_from((name, name, name, name, *AGENTS))


@dataclass(frozen=True)
class Fate:
    """What happens to an agent while it does something.

    Shape: it dies at its `dies_at`-th call of the database (0: it lives), before or after the
    call has its effect, and does the same again in its next life; `repeats` is how often the
    request is sent again after that.
    """

    dies_at: int = 0
    is_after: bool = False
    repeats: int = 0


fates = st.one_of(
    st.just(Fate()),
    st.just(Fate()),
    st.builds(Fate, repeats=st.integers(1, 2)),
    st.builds(Fate, dies_at=st.integers(1, 3), is_after=st.booleans()),
)


class Killed(BaseException):
    """The isolate dies: nothing after this line happens in it."""


class Mortal:
    """`env.DB` of one life of an agent: it may die at a call, or have no database for a while."""

    def __init__(self, db: Any) -> None:
        self._db = db
        self.is_down = False
        self.is_dead = False
        self.fate = Fate()
        self.calls = 0

    def prepare(self, sql: str) -> Any:
        return self._db.prepare(sql)

    async def batch(self, statements: Sequence[Any]) -> Any:
        if self.is_dead:
            raise Killed
        if self.is_down:
            raise TimeoutError("the database is gone")
        self.calls += 1
        is_last = self.calls == self.fate.dies_at
        self.is_dead = is_last
        if is_last and not self.fate.is_after:
            raise Killed
        answer = await self._db.batch([*statements])
        if is_last:
            raise Killed
        return answer


class PlainKv:
    """A KV namespace that forgets nothing: keys in order, values as they were put."""

    def __init__(self) -> None:
        self.values: dict[str, str] = {}

    async def put(self, key: str, value: str, **_: Any) -> None:
        self.values[key] = value

    async def get(self, key: str) -> str | None:
        return self.values.get(key)

    async def list(self, *, prefix: str, limit: int) -> dict[str, Any]:
        names = sorted(name for name in self.values if name.startswith(prefix))
        return {"keys": [{"name": name} for name in names[:limit]]}


@dataclass(frozen=True)
class Outcome:
    """What came of something: a value or an error.

    Shape: `was_done` if it had its effect already in a life that ended before it could say so.
    """

    value: Any = None
    error: StateError | None = None
    was_done: bool = False


Doing = Callable[[TeamMember], Coroutine[Any, Any, Any]]
Errors = tuple[type[StateError], ...]


class World(RuleBasedStateMachine):
    """A database of its own, and the lives of four agents on it."""

    empty: Path
    clock: Any

    def __init__(self) -> None:
        super().__init__()
        self.runner = asyncio.Runner()
        self.stack = AsyncExitStack()
        self.folder = tempfile.mkdtemp()
        self.clock.move_to(BEGINNING)
        self.now = 0.0
        self.kv = PlainKv()
        self.mortals: dict[str, Mortal] = {}
        self.members: dict[str, TeamMember] = {}
        self.denied = 0

    def run(self, work: Coroutine[Any, Any, T]) -> T:
        return self.runner.run(work)

    def teardown(self) -> None:
        self.run(self.stack.aclose())
        self.runner.close()
        shutil.rmtree(self.folder)

    async def open(self) -> None:
        file = Path(self.folder) / "team.sqlite"
        shutil.copy(self.empty, file)
        db = await self.stack.enter_async_context(d1_binding(file, is_migrated=True))
        self.team = Team(db, D1Record(db, deadlines=PATIENT))
        for name in AGENTS:
            await self.born(name)

    async def born(self, name: str) -> None:
        """A new life of the agent: nothing of the last one is left."""
        mortal = self.mortals[name] = Mortal(self.team.db)
        role: Any = name.split("-")[0]
        record = D1Record(mortal, deadlines=PATIENT)
        lane = int(name[-1]) - 1 if role == "worker" else 0
        identity = await enrol(record, name, role)
        self.members[name] = TeamMember(record, identity, kv=self.kv, lane=lane)  # type: ignore[arg-type]

    def pass_time(self, seconds: float) -> None:
        self.clock.tick(seconds)
        self.now += seconds

    # --- doing things ---

    def act(self, name: str, doing: Doing, fate: Fate = Fate(), *, again: Errors = ()) -> Outcome:
        """`doing` is done by the agent with that fate; `again` is what a repetition may be told."""
        return self.run(self._act(name, doing, fate, again))

    async def _act(self, name: str, doing: Doing, fate: Fate, again: Errors) -> Outcome:
        before = await self._marks()
        mortal = self.mortals[name]
        mortal.fate, mortal.calls = fate, 0
        try:
            outcome = await self._tried(name, doing)
        except Killed:
            after = await self._marks()
            # A refusal that was written down, and not told.
            self.denied += after[1] - before[1]
            await self.born(name)
            outcome = await self._tried(name, doing)
            outcome = replace(outcome, was_done=after[0] != before[0])
            if outcome.was_done:
                assert outcome.error is None or isinstance(outcome.error, again), outcome.error
        mortal.fate = Fate()
        if outcome.error is None:
            marks = await self._marks()
            for _ in range(fate.repeats):
                repeated = await self._tried(name, doing)
                assert repeated.value == outcome.value or isinstance(repeated.error, again)
                assert await self._marks() == marks
        return outcome

    async def _tried(self, name: str, doing: Doing) -> Outcome:
        try:
            return Outcome(await doing(self.members[name]))
        except StateError as error:
            self.denied += isinstance(error, AccessDenied)
            return Outcome(error=error)

    async def _marks(self) -> tuple[tuple[Any, ...], int]:
        """What changes with every effect, and how many refusals are written down."""
        (row,) = await self.team.rows(
            "SELECT (SELECT COUNT(*) FROM team_events WHERE kind <> 'access denied') AS events, "
            "(SELECT COUNT(*) FROM access_denials) AS denials, "
            "(SELECT COUNT(*) || ' ' || SUM(fence) || ' ' || SUM(status = 'done') "
            " FROM write_requests) AS requests, "
            "(SELECT COUNT(*) || ' ' || SUM(consumed_at IS NOT NULL) FROM message_deliveries) "
            " AS deliveries, "
            "(SELECT SUM(lease_expires_at) FROM task_status) AS leases"
        )
        return (row["events"], row["requests"], row["deliveries"], row["leases"]), row["denials"]

    def happened(self, outcome: Outcome, refused: Errors | None) -> bool:
        """Whether it happened, which it did exactly if the model refuses it with no error."""
        if outcome.was_done:
            assert refused is None, f"happened, and should be refused with {refused}"
            return True
        if outcome.error is None:
            assert refused is None, f"happened, and should be refused with {refused}"
            return True
        assert refused is not None, f"refused: {outcome.error!r}"
        assert isinstance(outcome.error, refused), f"{outcome.error!r} is none of {refused}"
        return False
