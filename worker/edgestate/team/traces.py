"""The whole life of a task or of a trace, across agents, in the order in which it happened."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from edgestate.team.record import Record, says
from edgestate.team.sql import inspecting as sql

PAGE = 1000


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened.

    Shape: `seq` orders all events; `detail` depends on `kind`. Units: `created_at` in ms since
    the epoch, for people: clocks differ.
    """

    seq: int
    trace_id: str
    kind: str
    ref: str
    agent_id: str | None
    detail: dict[str, Any]
    created_at: int


async def life_of(record: Record, id_: str) -> list[Event]:
    """Every event of a trace, a goal, a subtask, a saga, or a correlation; none for no such id."""
    (found,) = await record.batch([says(sql.SELECT_TRACE_OF, id_)], "read")
    if not found:
        return []
    trace, is_whole = found[0]["trace_id"], bool(found[0]["is_whole"])
    events: list[Event] = []
    while True:
        last = events[-1].seq if events else 0
        statement = (
            says(sql.SELECT_EVENTS, trace, last, PAGE)
            if is_whole
            else says(sql.SELECT_EVENTS_OF, trace, last, PAGE, id_)
        )
        (rows,) = await record.batch([statement], "read")
        events += [_event(row) for row in rows]
        if len(rows) < PAGE:
            return events


def _event(row: Any) -> Event:
    names = Event.__dataclass_fields__
    return Event(**{name: row[name] for name in names} | {"detail": json.loads(row["detail"])})
