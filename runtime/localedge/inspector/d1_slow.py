"""The statements that took workers longest, of the calls that were recorded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Final

from localedge.inspector.d1_models import Slow
from localedge.supervisor.happenings import CALL_BEGAN, CALL_ENDED, Happening
from localedge.supervisor.stories import Story

MOST_SHOWN: Final = 50
_SQL: Final = re.compile(r'"sql": ("(?:[^"\\]|\\.)*)("?)')


@dataclass(slots=True)
class _Runs:
    count: int = 0
    failed: int = 0
    total_ms: float = 0.0
    slowest_ms: float = -1.0
    ray: str = ""

    def add(self, ms: float, ray: str, *, has_failed: bool) -> None:
        self.count += 1
        self.failed += has_failed
        self.total_ms += ms
        if ms > self.slowest_ms:
            self.slowest_ms, self.ray = ms, ray


def slowest(stories: Iterable[Story], bindings: Iterable[str]) -> tuple[Slow, ...]:
    """What was asked of D1 under one of these names, the slowest first, equal texts together.

    A batch is one call: its statements stand together, and so does its time.
    """
    names = frozenset(bindings)
    runs: dict[tuple[str, str], _Runs] = {}
    for story in stories:
        for began, ended in _calls(story.happened):
            if began.facts.get("type") == "d1" and began.facts.get("binding") in names:
                key = (statement_of(began.facts), str(began.facts["binding"]))
                has_failed = "error" in ended.facts
                runs.setdefault(key, _Runs()).add(
                    float(ended.facts.get("ms", 0)), story.ray, has_failed=has_failed
                )
    found = [
        Slow(
            sql=sql,
            binding=binding,
            runs=one.count,
            failed=one.failed,
            slowest_ms=one.slowest_ms,
            mean_ms=one.total_ms / one.count,
            ray=one.ray,
        )
        for (sql, binding), one in runs.items()
    ]
    return tuple(sorted(found, key=lambda slow: -slow.slowest_ms)[:MOST_SHOWN])


def _calls(happened: Iterable[Happening]) -> Iterator[tuple[Happening, Happening]]:
    began: dict[tuple[int | None, Any], Happening] = {}
    for one in happened:
        key = (one.pid, one.facts.get("call"))
        if one.kind == CALL_BEGAN:
            began[key] = one
        elif one.kind == CALL_ENDED and key in began:
            yield began.pop(key), one


def statement_of(facts: Any) -> str:
    """The SQL of a recorded call, as far as it was kept: several statements apart by `;`."""
    arguments = facts.get("arguments") or [""]
    given = facts.get("subject") or arguments[0]
    if facts.get("operation") == "exec":
        return _text(given)
    found = [_text(text + (end or '"')) for text, end in _SQL.findall(given)]
    return "; ".join(found) if found else str(facts.get("operation"))


def _text(quoted: str) -> str:
    try:
        text = json.loads(quoted)
    except ValueError:
        # It was cut, perhaps within an escape.
        return f"{quoted.strip(chr(34))}…"
    return " ".join(text.split()) if isinstance(text, str) else str(text)
