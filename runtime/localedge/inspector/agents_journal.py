"""Who had which task when: leases and statuses as they change, while the server runs.

A task's row only says who has it now. What changes is noticed by looking at the database each
time it was written to; nobody's work waits for that.
"""

from __future__ import annotations

import asyncio
import json
import logging
import os
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal

from edgestate.bindings import D1Binding
from edgestate.errors import StateError
from localedge.errors import OperatorError
from localedge.inspector.agents_data import rows_of

logger = logging.getLogger(__name__)

PAUSE_S: Final = 0.25
MOST_TASKS: Final = 500
MOST_OF_ONE: Final = 200
_LOOK: Final = """
SELECT id, status, version, fence, lease_holder, lease_expires_at FROM agent_tasks
WHERE status IN ('planned', 'running', 'waiting_tool')
  OR id IN (SELECT value FROM json_each(?1))
ORDER BY updated_at DESC LIMIT 300"""

How = Literal["held", "released", "expired", "taken over"]


@dataclass(slots=True)
class Span:
    """One lease: `fence` is its number. Units: ms since the epoch, by the workers' clock.

    Shape: `from_ms` is when it was first seen, up to `PAUSE_S` after it began; `to_ms` is None
    while it lasts.
    """

    fence: int
    holder: str
    from_ms: int
    expires_at_ms: int
    to_ms: int | None = None
    how: How = "held"


@dataclass(slots=True)
class Known:
    """What was seen of one task."""

    spans: list[Span] = field(default_factory=list)
    statuses: list[tuple[int, str]] = field(default_factory=list)


class Journal:
    """What was seen of the tasks of one database."""

    def __init__(self) -> None:
        self._tasks: dict[str, Known] = {}

    def of(self, task_id: str) -> Known:
        """What was seen of the task."""
        return self._tasks.get(task_id) or Known()

    async def look(self, db: D1Binding, now_ms: int) -> None:
        """Note what has changed. Errors: as of the database."""
        open_ = [id_ for id_, known in self._tasks.items() if not _is_over(known)]
        for row in await rows_of(db, _LOOK, json.dumps(open_)):
            self.saw(row, now_ms)

    def saw(self, row: Mapping[str, Any], now_ms: int) -> None:
        """Note how a task stands at `now_ms`."""
        known = self._tasks.get(row["id"])
        if known is None:
            known = self._tasks[row["id"]] = Known()
            while len(self._tasks) > MOST_TASKS:
                del self._tasks[next(iter(self._tasks))]
        if known.spans and row["fence"] < known.spans[-1].fence:
            # Read before what was noted already.
            return
        if not known.statuses or known.statuses[-1][1] != row["status"]:
            known.statuses.append((now_ms, row["status"]))
        _lease(known, row, now_ms)
        del known.statuses[:-MOST_OF_ONE], known.spans[:-MOST_OF_ONE]


def _lease(known: Known, row: Mapping[str, Any], now_ms: int) -> None:
    last = known.spans[-1] if known.spans else None
    fence, holder, expires_at_ms = row["fence"], row["lease_holder"], row["lease_expires_at"]
    if last is not None and last.how == "held":
        if fence != last.fence:
            # It was over before, or the same holder took it again.
            last.to_ms = min(now_ms, last.expires_at_ms)
            last.how = "expired" if last.expires_at_ms <= now_ms else "taken over"
        elif holder is None:
            last.to_ms, last.how = now_ms, "released"
        else:
            last.expires_at_ms = expires_at_ms
            if expires_at_ms <= now_ms:
                last.to_ms, last.how = expires_at_ms, "expired"
    if holder is not None and (last is None or fence > last.fence):
        known.spans.append(Span(fence, holder, now_ms, expires_at_ms))


def _is_over(known: Known) -> bool:
    return bool(known.statuses) and known.statuses[-1][1] in ("completed", "failed")


async def follow(
    journal: Journal, file: Path, binding: Callable[[], Any], now_ms: Callable[[], int]
) -> None:
    """Keep `journal` up to date with the database in `file`, until cancelled.

    Shape: `binding()` awaits what reads it. One that cannot be read is tried again when it was
    written to.
    """
    seen: tuple[int, ...] = ()
    while True:
        marks = _marks(file)
        # Once more after the last change: an expiry is no write.
        if marks != seen and marks:
            try:
                async with asyncio.timeout(10):
                    await journal.look(await binding(), now_ms())
            except (StateError, OperatorError, TimeoutError) as error:
                logger.debug("tasks not read", extra={"file": file.name, "why": str(error)})
            seen = marks
        await asyncio.sleep(PAUSE_S)


def _marks(file: Path) -> tuple[int, ...]:
    """What changes with each write to the database; nothing while there is none."""
    marks: list[int] = []
    for path in (file, file.with_name(f"{file.name}-wal")):
        try:
            status = os.stat(path)
        except FileNotFoundError:
            continue
        marks += (status.st_mtime_ns, status.st_size)
    return tuple(marks)
