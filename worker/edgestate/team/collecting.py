"""The document's example of a saga: collect data, process it, store it; or tell the collector."""

from __future__ import annotations

import json
from typing import Final

from edgestate.team.desk import Desk
from edgestate.team.messages import Messages
from edgestate.team.record import Statement, says
from edgestate.team.saga_rows import Done, SagaDefinition, SagaStep, SagaStepFailed, StepCall
from edgestate.team.sql import sagas as sql
from edgestate.team.tracing import trace_id
from edgestate.team.writes import Write

NAME: Final = "collect-process-store"
FORMAT_INVALID: Final = "format_invalid"
RECOLLECT_REQUIRED: Final = "recollect_required"


class Collecting:
    """The steps. The input is `{"records": [...]}`; a record is an object with a number `value`."""

    def __init__(self, desk: Desk, *, collector: str) -> None:
        self._desk = desk
        self._collector = collector
        self._messages = Messages(desk)

    def definition(self) -> SagaDefinition:
        """The saga. A failed step is undone before those that came before it."""
        return SagaDefinition(
            NAME,
            (
                SagaStep("collect", self._collect, "delete raw_data", self._delete, "process"),
                SagaStep(
                    "process",
                    self._process,
                    "mark required_recollect and notify the collector",
                    self._recollect,
                    FORMAT_INVALID,
                ),
                SagaStep("store", self._store, "delete stored_data", self._unstore),
            ),
        )

    async def _collect(self, call: StepCall) -> Done:
        records = call.input.get("records") if isinstance(call.input, dict) else None
        if not isinstance(records, list):
            raise SagaStepFailed("nothing_to_collect", "the input has no list of records")
        text = json.dumps(records, ensure_ascii=False)
        write = _write(
            call,
            says(sql.BEGIN_COLLECTION, call.saga_id, trace_id()),
            says(sql.COLLECT, call.saga_id, text, trace_id()),
        )
        return Done({"records": len(records)}, (write,))

    async def _delete(self, call: StepCall) -> Done:
        # Deleting what may not be there undoes a step that nobody knows the outcome of, too.
        return Done(None, (_write(call, says(sql.DELETE_RAW, call.saga_id)),))

    async def _process(self, call: StepCall) -> Done:
        (rows,) = await self._desk.read(says(sql.SELECT_RAW, call.saga_id))
        total = 0.0
        for position, row in enumerate(rows):
            record = json.loads(row["record"])
            value = record.get("value") if isinstance(record, dict) else None
            if not isinstance(value, int | float) or isinstance(value, bool):
                raise SagaStepFailed(FORMAT_INVALID, f"record {position} has no number")
            total += value
        return Done({"records": len(rows), "total": total})

    async def _recollect(self, call: StepCall) -> Done:
        notice = self._messages.sending(
            self._collector,
            RECOLLECT_REQUIRED,
            {"saga_id": call.saga_id, "why": call.failure},
            message_id=f"message-{call.key}",
        )
        mark = _write(call, says(sql.RECOLLECT, call.saga_id, call.failure))
        return Done(None, (mark, notice))

    async def _store(self, call: StepCall) -> Done:
        return Done(call.results.get("process"), (_write(call, says(sql.STORE, call.saga_id)),))

    async def _unstore(self, call: StepCall) -> Done:
        return Done(None, (_write(call, says(sql.UNSTORE, call.saga_id)),))


def _write(call: StepCall, *statements: Statement) -> Write:
    return Write("saga step", call.saga_id, call.key, statements)
