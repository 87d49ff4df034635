"""What is written, by whom, and under which context: the values that a `Desk` works with."""

from __future__ import annotations

import hashlib
import json
import uuid
from dataclasses import dataclass
from typing import Final, Literal

from pydantic import JsonValue

from edgestate.errors import StoreRejected
from edgestate.keys import MAX_ID_BYTES
from edgestate.team.record import Statement

Role = Literal["planner", "worker", "critic"]
ROLES: Final[tuple[Role, ...]] = ("planner", "worker", "critic")


@dataclass(frozen=True, slots=True)
class Identity:
    """Who writes: the agent, what it is, and which of its lives this is.

    Shape: `is_confirmed` if the database has said so in this life; else it is asked first.
    """

    agent_id: str
    role: Role
    incarnation: str
    is_confirmed: bool = False


@dataclass(frozen=True, slots=True)
class Cycle:
    """A work cycle of an agent: the goal and the frozen context that it declared."""

    task_id: str
    version: int
    context_id: str


@dataclass(frozen=True, slots=True)
class Write:
    """What one request changes.

    Shape: `body` is what makes two requests the same; `answer` is stored with the request and
    returned for each repetition: a value, or a statement that sets it (?1 the request's id).
    `effects` happen in the same batch, behind its own statements; who may, and under which
    contexts, is checked for them too.
    """

    operation: str
    what: str
    body: JsonValue
    statements: tuple[Statement, ...]
    answer: JsonValue | Statement = None
    roles: tuple[Role, ...] = ROLES
    cycle: Cycle | None = None
    effects: tuple[Write, ...] = ()

    @property
    def all(self) -> tuple[Write, ...]:
        """This write and all that happen with it, in order."""
        return (self, *(inner for effect in self.effects for inner in effect.all))


def fingerprint(write: Write) -> str:
    """What two requests with the same id must have in common. Errors: as for `text_of`."""
    text = text_of([write.operation, write.body], sort_keys=True)
    return hashlib.sha256(text.encode()).hexdigest()


def text_of(value: JsonValue, *, sort_keys: bool = False) -> str:
    """`value` as JSON.

    Errors: StoreRejected for what is none, is nested too deeply, or has half a character, which
    no database keeps as it is.
    """
    try:
        text = json.dumps(value, ensure_ascii=False, allow_nan=False, sort_keys=sort_keys)
        text.encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise StoreRejected(f"the value is not JSON: {error}") from error
    return text


def new_id(kind: str) -> str:
    """An id that nothing else has."""
    return f"{kind}-{uuid.uuid4().hex}"


def request_of(*parts: object) -> str:
    """The id of the request that these parts name, however long they are."""
    text = "-".join(map(str, parts))
    if len(text.encode()) <= MAX_ID_BYTES:
        return text
    return f"{parts[0]}-{hashlib.sha256(text.encode()).hexdigest()}"
