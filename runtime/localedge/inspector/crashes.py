"""Where an isolate was when it died: the calls before, and the call under way."""

from __future__ import annotations

from typing import Any, Final

from localedge.supervisor.happenings import CALL_BEGAN, CALL_ENDED, CONSOLE, Happening
from localedge.supervisor.history import Ending, History
from localedge.supervisor.stories import Story

CALLS_BEFORE: Final = 10
LINES_BEFORE: Final = 5


def shown_endings(history: History) -> list[dict[str, Any]]:
    """The isolates that are gone, the last one first."""
    return [_shown(ending, history) for ending in reversed(history.endings)]


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
        "in_flight": [_place(ray, ending, history.stories.get(ray)) for ray in ending.rays],
    }


def _place(ray: str, ending: Ending, story: Story | None) -> dict[str, Any]:
    """Where the request of `ray` was."""
    if story is None:
        return {"ray": ray, "method": None, "url": None, "before": [], "under_way": [], "lines": []}
    there = [one for one in story.happened if one.pid == ending.pid]
    began = {one.facts["call"]: one for one in there if one.kind == CALL_BEGAN}
    ended = {one.facts["call"]: one for one in there if one.kind == CALL_ENDED}
    done = [call for call in began if call in ended][-CALLS_BEFORE:]
    return {
        "ray": ray,
        "method": story.facts.get("method"),
        "url": story.facts.get("url"),
        "before": [_call(began[call], ended[call]) for call in done],
        "under_way": [_call(one, None) for call, one in began.items() if call not in ended],
        "lines": [one.shown() for one in there if one.kind == CONSOLE][-LINES_BEFORE:],
    }


def _call(began: Happening, ended: Happening | None) -> dict[str, Any]:
    return {**began.shown(), **({"ended": ended.shown()} if ended is not None else {})}
