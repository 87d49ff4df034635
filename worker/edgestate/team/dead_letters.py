"""What nobody can get done: listed for people, and put back by them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from edgestate import clock
from edgestate.errors import StateError
from edgestate.team.desk import Desk
from edgestate.team.errors import NoDeadLetter
from edgestate.team.record import says
from edgestate.team.sql import board as board_sql
from edgestate.team.sql import sagas as sql
from edgestate.team.writes import Write


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """Why a task or a step of a saga was given up.

    Shape: `step` is -1 for a task. Units: times in ms since the epoch.
    """

    id: int
    kind: Literal["task", "saga"]
    ref: str
    step: int
    reason: str
    attempts: int
    created_at: int
    requeued_at: int | None
    trace_id: str


class DeadLetters:
    """The dead letters."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def list(self, *, with_requeued: bool = False) -> list[DeadLetter]:
        """The dead letters, the oldest first."""
        (rows,) = await self._desk.read(says(sql.SELECT_DEAD, int(with_requeued)))
        names = DeadLetter.__dataclass_fields__
        return [DeadLetter(**{name: row[name] for name in names}) for row in rows]

    async def requeue(self, letter_id: int) -> None:
        """What the letter is about is tried again, from where it stopped; once per letter.

        Errors: NoDeadLetter if it was requeued before or does not exist; AccessDenied for all but
        the planner, for whom an operator acts.
        """
        letters = {letter.id: letter for letter in await self.list()}
        letter = letters.get(letter_id)
        if letter is None:
            raise NoDeadLetter(letter_id)
        now = clock.now_ms()
        again = {
            "task": (
                says(board_sql.REQUEUE_TASK, letter.ref, self._desk.me, now),
                says(sql.GUARD_REQUEUE),
            ),
            "saga": (
                says(sql.REQUEUE_SAGA, letter.ref, now),
                says(sql.GUARD_REQUEUE),
                says(sql.REQUEUE_STEP, letter.ref, letter.step),
            ),
        }[letter.kind]
        write = Write(
            "requeue",
            f"dead letter {letter_id}",
            letter_id,
            (says(sql.REQUEUE, letter_id, now), says(sql.GUARD_REQUEUE), *again),
            roles=("planner",),
        )

        async def why(_reason: str) -> StateError:
            return NoDeadLetter(letter_id)

        await self._desk.write(write, refused=why)
