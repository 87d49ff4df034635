"""Which isolate worked on a task, as far as its calls were recorded."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from localedge.supervisor.endings import Ending
from localedge.supervisor.happenings import CALL_BEGAN, CALL_ENDED, Happening
from localedge.supervisor.stories import Story

_WRITES: Final = ("INSERT INTO agent_task", "UPDATE agent_task")
_CLAIM: Final = "fence = fence + 1"

AtMs = Callable[[float], int]
"""The workers' time, in ms, at a time of the machine."""


@dataclass(frozen=True, slots=True)
class ToolRun:
    """A call of a tool. Shape: `to_ms` is None while it goes on, or if its isolate died in it."""

    action: str
    from_ms: int
    to_ms: int | None
    is_lost: bool


@dataclass(slots=True)
class Work:
    """What one request had an isolate do for a task."""

    pid: int
    ray: str
    from_ms: int
    to_ms: int
    texts: list[str] = field(default_factory=list)
    tools: list[ToolRun] = field(default_factory=list)

    @property
    def has_claimed(self) -> bool:
        """Whether it had a lease. A long text that was cut does not show it, its tools do."""
        return bool(self.tools) or any(_CLAIM in text for text in self.texts)

    def names(self, holder: str) -> bool:
        """Whether it took a lease as `holder`."""
        return any(holder in text for text in self.texts)


def works(
    stories: Iterable[Story], endings: Iterable[Ending], task_id: str, at_ms: AtMs
) -> list[Work]:
    """Who worked on the task, in the order in which they began."""
    ends = {ending.pid: at_ms(ending.at_ms) for ending in endings}
    found = [_work(story, task_id, at_ms, ends) for story in stories]
    return sorted((work for work in found if work is not None), key=lambda work: work.from_ms)


def _work(story: Story, task_id: str, at_ms: AtMs, ends: dict[int, int]) -> Work | None:
    work: Work | None = None
    for one in story.happened:
        if one.kind != CALL_BEGAN or one.pid is None or one.facts.get("type") != "d1":
            continue
        text = str(one.facts.get("subject") or "") + " ".join(one.facts.get("arguments") or ())
        if task_id not in text or not any(write in text for write in _WRITES):
            continue
        if work is None:
            work = Work(one.pid, story.ray, at_ms(one.at_ms), at_ms(one.at_ms))
        work.texts.append(text)
    if work is not None:
        work.tools = list(_tools(story, work.pid, at_ms, ends))
        ours = [one.at_ms for one in story.happened if one.pid == work.pid]
        work.to_ms = max(work.to_ms, at_ms(max(ours, default=0)))
        work.to_ms = max([work.to_ms, *(tool.to_ms or 0 for tool in work.tools)])
    return work


def _tools(story: Story, pid: int, at_ms: AtMs, ends: dict[int, int]) -> Iterable[ToolRun]:
    began: dict[Any, Happening] = {}
    for one in story.happened:
        if one.pid != pid:
            continue
        if one.kind == CALL_BEGAN and one.facts.get("type") == "tool":
            began[one.facts.get("call")] = one
        elif one.kind == CALL_ENDED and one.facts.get("call") in began:
            first = began.pop(one.facts.get("call"))
            yield _tool(first, at_ms, at_ms(one.at_ms), is_lost=False)
    for first in began.values():
        yield _tool(first, at_ms, ends.get(pid), is_lost=pid in ends)


def _tool(began: Happening, at_ms: AtMs, to_ms: int | None, *, is_lost: bool) -> ToolRun:
    return ToolRun(str(began.facts.get("operation")), at_ms(began.at_ms), to_ms, is_lost)
