"""What must hold of agent state that `edgestate` keeps in D1."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

from localedge.explore.holds import Invariant, Memory
from localedge.explore.outcome import Broken, Outcome
from localedge.explore.stores import View

_TASKS: Final = "SELECT id, version, fence, status, total_steps FROM agent_tasks ORDER BY id"
_STEPS: Final = (
    "SELECT task_id, step_index, status, attempt, output, fence FROM agent_task_steps "
    "ORDER BY task_id, step_index"
)
_OPEN: Final = frozenset({"planned", "running"})


class _Task(NamedTuple):
    version: int
    fence: int
    status: str
    total_steps: int


class _Step(NamedTuple):
    status: str
    attempt: int
    output: str | None
    fence: int | None


class _Seen(NamedTuple):
    """All rows as the database gives them: comparing them costs less than reading them."""

    tasks: tuple[tuple[Any, ...], ...] = ()
    steps: tuple[tuple[Any, ...], ...] = ()

    def task_of(self) -> dict[str, _Task]:
        """Every task by its id."""
        return {row[0]: _Task(*row[1:]) for row in self.tasks}

    def step_of(self) -> dict[tuple[str, int], _Step]:
        """Every step by its task and index."""
        return {(row[0], row[1]): _Step(*row[2:]) for row in self.steps}


class AgentState(Invariant):
    """Tasks end or wait for a decision; versions and fences grow; a stored result stays.

    A success never runs again, no step changes without its task's version, and a completed task
    has all of its results.
    """

    def __init__(self, *, database: str | None = None) -> None:
        self._database = database

    def begin(self) -> Memory:
        return _Seen()

    async def written(self, memory: Memory, view: View) -> Memory:
        assert isinstance(memory, _Seen)
        seen = await self._read(view)
        if seen == memory:
            return memory
        tasks, before = seen.task_of(), memory.task_of()
        for task, was in before.items():
            now = tasks.get(task)
            if now is not None and (now.version < was.version or now.fence < was.fence):
                text = f"version {was.version}, fence {was.fence} became {now.version}, {now.fence}"
                raise Broken(Outcome.CORRUPT, f"task {task}: {text}")
        same = {*seen.steps}
        changed = [row for row in memory.steps if row not in same and row[0] in tasks]
        steps = seen.step_of() if changed else {}
        for task, index, *rest in changed:
            _check(task, index, _Step(*rest), steps.get((task, index)))
            if task in before and before[task].version == tasks[task].version:
                text = f"step {index} was changed by a write that did not move the version"
                raise Broken(Outcome.CORRUPT, f"task {task}: {text}")
        return seen

    async def _read(self, view: View) -> _Seen:
        tasks, steps = await view.sql_of(_TASKS, _STEPS, database=self._database)
        return _Seen(tuple(tasks), tuple(steps))

    async def ended(self, memory: Memory, view: View) -> None:
        seen = await self._read(view)
        steps = seen.step_of()
        for task, row in seen.task_of().items():
            done = sum(step.status == "success" for (of, _), step in steps.items() if of == task)
            if row.status == "completed" and done != row.total_steps:
                text = f"task {task} is completed with {done} of {row.total_steps} results"
                raise Broken(Outcome.LOST, text)
            if row.status in _OPEN:
                raise Broken(Outcome.STUCK, f"task {task} is left {row.status}")


def _check(task: str, index: int, was: _Step, now: _Step | None) -> None:
    """A step went from `was` to `now`: may it?"""
    if now is None:
        raise Broken(Outcome.LOST, f"task {task}: step {index} is gone")
    if (now.fence or 0) < (was.fence or 0):
        text = f"step {index} was written under fence {now.fence} after fence {was.fence}"
        raise Broken(Outcome.CORRUPT, f"task {task}: {text}")
    if was.status != "success":
        return
    if now.status != "success":
        raise Broken(Outcome.LOST, f"task {task}: the result of step {index} is gone")
    if now.attempt != was.attempt:
        raise Broken(Outcome.DUPLICATE, f"task {task}: finished step {index} ran again")
    text = f"the result of step {index} was {was.output} and is {now.output}"
    raise Broken(Outcome.CORRUPT, f"task {task}: {text}")
