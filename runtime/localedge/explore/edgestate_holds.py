"""What must hold of agent state that `edgestate` keeps in D1."""

from __future__ import annotations

from typing import Any, Final

from localedge.explore.holds import Invariant, Memory
from localedge.explore.outcome import Broken, Outcome
from localedge.explore.stores import View

_TASKS: Final = "SELECT id, version, fence, status, total_steps FROM agent_tasks"
_DONE: Final = (
    "SELECT task_id, step_index, output, attempt FROM agent_task_steps WHERE status = 'success'"
)
_OPEN: Final = frozenset({"planned", "running"})


class AgentState(Invariant):
    """Tasks end or wait for a decision; versions and fences grow; a result once stored stays.

    A success never runs again, and a completed task has all of its results.
    """

    def __init__(self, *, database: str | None = None) -> None:
        self._database = database

    def begin(self) -> Memory:
        return (frozenset(), frozenset())

    async def written(self, memory: Memory, view: View) -> Memory:
        numbers, done = await self._read(view)
        was_numbers: frozenset[Any]
        was_done: frozenset[Any]
        was_numbers, was_done = memory  # type: ignore[misc]  # what `begin` and this return
        for task, version, fence in was_numbers:
            now = numbers.get(task)
            if now is not None and (now[0] < version or now[1] < fence):
                text = f"task {task}: version {version}, fence {fence} became {now[0]}, {now[1]}"
                raise Broken(Outcome.CORRUPT, text)
        for task, step, output, attempt in was_done - done:
            if task not in numbers:
                continue
            again = [row for row in done if row[:2] == (task, step)]
            if not again:
                raise Broken(Outcome.LOST, f"task {task}: the result of step {step} is gone")
            if again[0][3] != attempt:
                text = f"task {task}: finished step {step} ran again"
                raise Broken(Outcome.DUPLICATE, text)
            text = f"task {task}: the result of step {step} was {output} and is {again[0][2]}"
            raise Broken(Outcome.CORRUPT, text)
        return (frozenset((task, *pair) for task, pair in numbers.items()), done)

    async def _read(self, view: View) -> tuple[dict[str, tuple[int, int]], frozenset[Any]]:
        tasks = await view.sql(_TASKS, database=self._database)
        done = await view.sql(_DONE, database=self._database)
        return {row[0]: (row[1], row[2]) for row in tasks}, frozenset(done)

    async def ended(self, memory: Memory, view: View) -> None:
        await self.written(memory, view)
        _, done = await self._read(view)
        for task, _, _, status, total in await view.sql(_TASKS, database=self._database):
            results = sum(row[0] == task for row in done)
            if status == "completed" and results != total:
                text = f"task {task} is completed with {results} of {total} results"
                raise Broken(Outcome.LOST, text)
            if status in _OPEN:
                raise Broken(Outcome.STUCK, f"task {task} is left {status}")
