"""Records as JSON texts: written in one stable form, and every older form migrated on reading."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Final, TypeVar

from pydantic import JsonValue, ValidationError

from edgestate.errors import CorruptRecord, SchemaTooNew, StateError
from edgestate.models import SCHEMA, Record, SessionState, TaskState, ToolState, VersionedTaskState

R = TypeVar("R", bound=Record)
Fields = dict[str, JsonValue]


def to_json(record: Record) -> str:
    """`record` as a JSON object in camelCase, led by its schema number."""
    body = record.model_dump_json(by_alias=True)
    return f'{{"schema":{SCHEMA},{body[1:]}'


def copied(record: R) -> R:
    """`record` once more, sharing nothing with it."""
    return type(record).model_validate(record.model_dump())


def versioned(task: TaskState, *, version: int, fence: int) -> VersionedTaskState:
    """A copy of `task` that says at which version it is stored."""
    fields = {**task.model_dump(), "version": version, "fence": fence}
    return VersionedTaskState.model_validate(fields)


def requested(task: TaskState) -> str:
    """The request that `task` answers; ValueError if it names none."""
    if task.request_id is None:
        raise ValueError(f"task {task.task_id} has no request_id")
    return task.request_id


def session_from_json(text: str, where: str) -> SessionState:
    """The session that `text`, read at `where`, holds; CorruptRecord if it holds none."""
    return _read(SessionState, text, where)


def task_from_json(text: str, where: str) -> VersionedTaskState:
    """The task that `text`, read at `where`, holds; CorruptRecord if it holds none."""
    return _read(VersionedTaskState, text, where)


def tool_from_json(text: str, where: str) -> ToolState:
    """The tool state that `text`, read at `where`, holds; CorruptRecord if it holds none."""
    return _read(ToolState, text, where)


def _read(model: type[R], text: str, where: str) -> R:
    try:
        fields = json.loads(text)
    except ValueError as error:
        raise CorruptRecord(where, f"not JSON ({error})") from error
    if not isinstance(fields, dict):
        raise CorruptRecord(where, "not a JSON object")
    return validated(model, _upgraded(model.kind, fields, where), where)


def validated(model: type[R], fields: Fields, where: str) -> R:
    """`fields` as a `model`, with every reason why it is none in a CorruptRecord."""
    try:
        return model.model_validate(fields)
    except ValidationError as error:
        reasons = "; ".join(
            f"{'.'.join(map(str, e['loc'])) or 'record'}: {e['msg']}" for e in error.errors()
        )
        raise CorruptRecord(where, reasons) from error
    except StateError as error:
        raise CorruptRecord(where, str(error)) from error


def _upgraded(kind: str, fields: Fields, where: str) -> Fields:
    found = fields.pop("schema", 1)
    if not isinstance(found, int) or isinstance(found, bool) or found < 1:
        raise CorruptRecord(where, f"its schema number is {found!r}")
    if found > SCHEMA:
        raise SchemaTooNew(where, found, SCHEMA)
    for number in range(found, SCHEMA):
        fields = UPGRADES[number](kind, fields)
    return fields


def _from_document(kind: str, fields: Fields) -> Fields:
    """Schema 1, the document's JSON, to 2: optional fields may be absent, effects are unknown.

    A step of unknown effect counts as non-idempotent (the model's default), so that a person is
    asked instead of an effect repeated. The pointer of the document never advanced.
    """
    steps = fields.get("steps")
    if kind == "task" and isinstance(steps, list):
        done = [isinstance(s, dict) and s.get("status") == "success" for s in steps]
        fields["currentStep"] = next(
            (i for i, is_done in enumerate(done) if not is_done), len(done)
        )
        fields["totalSteps"] = len(steps)
    return fields


UPGRADES: Final[dict[int, Callable[[str, Fields], Fields]]] = {1: _from_document}
"""From each schema number to the next one."""
