"""What must hold of agent state that `edgestate` keeps in D1."""

from __future__ import annotations

from typing import Final, NamedTuple

from localedge.explore.holds import Invariant, Memory
from localedge.explore.outcome import Broken, Outcome
from localedge.explore.stores import View

_TASKS: Final = "SELECT id, version, fence, status, total_steps FROM agent_tasks"
_STEPS: Final = "SELECT task_id, step_index, status, attempt, output, fence FROM agent_task_steps"
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
    """All tasks by id and all steps by task and index."""

    tasks: frozenset[tuple[str, _Task]] = frozenset()
    steps: frozenset[tuple[tuple[str, int], _Step]] = frozenset()


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
        tasks = dict(seen.tasks)
        before = dict(memory.tasks)
        for task, was in memory.tasks:
            now = tasks.get(task)
            if now is not None and (now.version < was.version or now.fence < was.fence):
                text = f"version {was.version}, fence {was.fence} became {now.version}, {now.fence}"
                raise Broken(Outcome.CORRUPT, f"task {task}: {text}")
        steps = dict(seen.steps)
        for (task, index), step in memory.steps - seen.steps:
            if task in tasks:
                _check(task, index, step, steps.get((task, index)))
                if task in before and before[task].version == tasks[task].version:
                    text = f"step {index} was changed by a write that did not move the version"
                    raise Broken(Outcome.CORRUPT, f"task {task}: {text}")
        return seen

    async def _read(self, view: View) -> _Seen:
        tasks, steps = await view.sql_of(_TASKS, _STEPS, database=self._database)
        return _Seen(
            frozenset((row[0], _Task(*row[1:])) for row in tasks),
            frozenset(((row[0], row[1]), _Step(*row[2:])) for row in steps),
        )

    async def ended(self, memory: Memory, view: View) -> None:
        seen = await self._read(view)
        for task, row in seen.tasks:
            done = sum(step.status == "success" for (of, _), step in seen.steps if of == task)
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
