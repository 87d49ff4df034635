"""A team's members, board, sagas and dead letters, read from D1; and putting a letter back."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping
from typing import Any, Final

from edgestate.bindings import D1Binding
from edgestate.team import D1Record, DeadLetters, Deadlines, Desk, Event, life_of, take_seat
from localedge.errors import OperatorError
from localedge.inspector import team_sql as sql
from localedge.inspector.agents_data import batch_of, lease_shown, rows_of
from localedge.inspector.agents_models import LeaseShown
from localedge.inspector.team_models import (
    BoardShown,
    DeadLetterShown,
    EventShown,
    LifeShown,
    MemberShown,
    SagaShown,
    SagaStepShown,
    TeamShown,
)

MOST_GOALS: Final = 50
MOST_SAGAS: Final = 50
MOST_LETTERS: Final = 100
MOST_EVENTS: Final = 2_000
_PATIENT: Final = Deadlines(read_s=10.0, write_s=10.0)


async def team(db: D1Binding, *, now_ms: int) -> TeamShown:
    """The team as it is at `now_ms`. Errors: OperatorError when the tables are not there."""
    members, board, sagas, steps, letters = await batch_of(
        db,
        (sql.MEMBERS, (now_ms,)),
        (sql.BOARD, (now_ms, MOST_GOALS)),
        (sql.SAGAS, (now_ms, MOST_SAGAS)),
        (sql.SAGA_STEPS, (MOST_SAGAS,)),
        (sql.DEAD_LETTERS, (MOST_LETTERS,)),
    )
    by_saga: dict[str, list[SagaStepShown]] = {}
    for step in steps:
        by_saga.setdefault(step["saga_id"], []).append(_step(step))
    return TeamShown(
        members=tuple(MemberShown(**row) for row in members),
        board=tuple(BoardShown(**row) for row in board),
        sagas=tuple(
            SagaShown(**row, steps=tuple(by_saga.get(row["saga_id"], ()))) for row in sagas
        ),
        dead_letters=tuple(DeadLetterShown(**row) for row in letters),
    )


async def leases(db: D1Binding, *, now_ms: int) -> tuple[LeaseShown, ...]:
    """The leases that agents have on tasks and sagas, the first to end first."""
    rows = await rows_of(db, sql.LEASES, now_ms)
    return tuple(lease_shown(row, now_ms) for row in rows)


async def life(db: D1Binding, id_: str) -> LifeShown:
    """What happened to a trace, goal, subtask, saga or correlation, in order.

    Errors: OperatorError when nothing is known of it.
    """
    events = await life_of(_record(db), id_)
    if not events:
        raise OperatorError(
            "trace/unknown",
            f"nothing is known of {id_}.",
            "Give the id of a trace, a goal, a subtask, a saga, or a correlation id.",
        )
    members = {row["agent_id"] for row in await rows_of(db, sql.AGENTS)}
    shown = [_event(event, members) for event in events[-MOST_EVENTS:]]
    agents = dict.fromkeys(event.agent_id for event in shown if event.agent_id)
    return LifeShown(
        id=id_, agents=tuple(agents), events=tuple(shown), is_cut=len(shown) < len(events)
    )


async def requeue(db: D1Binding, letter_id: int) -> None:
    """What the dead letter is about is tried again, once; the planner's name stands under it.

    Errors: NoDeadLetter; OperatorError when the team has no planner.
    """
    rows = await rows_of(db, sql.PLANNER)
    if not rows:
        raise OperatorError(
            "team/no-planner",
            "the team has no planner, in whose name an operator puts things back.",
            "Start the planner's worker once: it enrols itself.",
        )
    record = _record(db)
    seat = await take_seat(record, rows[0]["agent_id"])
    await DeadLetters(Desk(record, seat)).requeue(letter_id)


def _event(event: Event, members: Collection[str]) -> EventShown:
    fields = {name: getattr(event, name) for name in EventShown.model_fields}
    # Whoever holds a saga is named with its incarnation behind it.
    name, _, incarnation = (event.agent_id or "").rpartition(" ")
    if incarnation and name in members and event.agent_id not in members:
        fields["agent_id"] = name
    return EventShown(**fields)


def _record(db: D1Binding) -> D1Record:
    return D1Record(db, deadlines=_PATIENT)


def _step(row: Mapping[str, Any]) -> SagaStepShown:
    fields = {name: value for name, value in row.items() if name != "saga_id"}
    return SagaStepShown(**{**fields, "result": json.loads(row["result"] or "null")})
