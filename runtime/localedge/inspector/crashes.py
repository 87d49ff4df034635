"""Where an isolate was when it died: the calls before, and the call under way."""

from __future__ import annotations

from typing import Any, Final

from localedge.isolate.steps import Step
from localedge.supervisor.endings import Ending
from localedge.supervisor.happenings import CALL_BEGAN, CALL_ENDED, CONSOLE, Happening
from localedge.supervisor.history import History
from localedge.supervisor.stories import Story

CALLS_BEFORE: Final = 10
LINES_BEFORE: Final = 5


def shown_endings(history: History) -> list[dict[str, Any]]:
    """The isolates that are gone, the last one first."""
    return [_shown(ending, history) for ending in reversed([*history.endings])]


def _shown(ending: Ending, history: History) -> dict[str, Any]:
    return {
        "pid": ending.pid,
        "generation": ending.generation,
        "at": round(ending.at_ms, 3),
        "cause": ending.cause,
        "status": ending.status,
        "age_s": round(ending.age_s, 1),
        "served": ending.served,
        "was_watched": ending.was_watched,
        "in_flight": [
            _place(ray, ending, history.stories.get(ray)) for ray in ending.rays.values()
        ],
    }


def _place(ray: str, ending: Ending, story: Story | None) -> dict[str, Any]:
    """Where the request of `ray` was."""
    happened = story.happened if story is not None else []
    there = [one for one in happened if one.pid == ending.pid]
    facts = story.facts if story is not None else {}
    place = {
        "ray": ray,
        "method": facts.get("method"),
        "url": facts.get("url"),
        "lines": [one.shown() for one in there if one.kind == CONSOLE][-LINES_BEFORE:],
    }
    calls = _recorded(there) if any(one.kind == CALL_BEGAN for one in there) else None
    return place | (
        calls or _left([step for step in ending.trail if ending.rays.get(step.event) == ray])
    )


def _recorded(there: list[Happening]) -> dict[str, Any]:
    """The calls as they were recorded: somebody was looking."""
    began = {one.facts["call"]: one for one in there if one.kind == CALL_BEGAN}
    ended = {one.facts["call"]: one for one in there if one.kind == CALL_ENDED}
    done = [call for call in began if call in ended][-CALLS_BEFORE:]
    return {
        "before": [_call(began[call], ended[call]) for call in done],
        "under_way": [_call(one, None) for call, one in began.items() if call not in ended],
    }


def _left(steps: list[Step]) -> dict[str, Any]:
    """The calls as the isolate has left them in its memory: nobody was looking."""
    done = [step for step in steps if step.has_ended]
    return {
        "before": [_step(step) | {"ended": {}} for step in done[-CALLS_BEFORE:]],
        "under_way": [_step(step) for step in steps if not step.has_ended],
    }


def _step(step: Step) -> dict[str, Any]:
    return {
        "binding": step.binding,
        "operation": step.operation,
        "subject": None,
        "arguments": [step.what] if step.what else [],
    }


def _call(began: Happening, ended: Happening | None) -> dict[str, Any]:
    return {**began.shown(), **({"ended": ended.shown()} if ended is not None else {})}
