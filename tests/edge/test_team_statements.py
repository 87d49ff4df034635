"""Every statement of `edgestate.team`, and every way past it that is refused, on the real D1."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final

import pytest
from tests.edgestate.world import MIGRATIONS, d1_binding
from tests.team.test_append_only import PRAGMAS, TABLES, WAYS
from tests.team.test_team_batches import everything
from tests.team.world import PATIENT, Team

from edgestate.team import D1Record, examine, history, life_of, metrics_text
from localedge.d1.migrations.splitting import split
from localedge.errors import JsException
from localedge.port.verify.driver import Driver
from localedge.port.verify.parts import Parts

pytestmark = [pytest.mark.edge, pytest.mark.anyio]

REPLAY: Final = """
import json
answers = []
for batch in given:
    statements = [
        env.DB.prepare(sql).bind(*values) if values else env.DB.prepare(sql)
        for sql, values in batch
    ]
    try:
        results = await env.DB.batch(statements)
        rows = [[dict(row) for row in result["results"]] for result in results]
        answers.append([json.dumps(rows), None])
    except Exception as error:
        answers.append([None, str(error)])
return answers
"""
REASON: Final = re.compile(r"agent_\w+|UNIQUE constraint failed: [\w.]+|CHECK|FOREIGN KEY")


class Recorder:
    """`env.DB` that keeps every batch with what came of it."""

    def __init__(self, db: Any) -> None:
        self._db = db
        self.batches: list[list[tuple[str, list[Any]]]] = []
        self.rows: list[Any] = []
        self.errors: list[str | None] = []

    def prepare(self, sql: str) -> Any:
        return _Statement(self._db.prepare(sql), sql)

    async def batch(self, statements: Sequence[Any]) -> Any:
        self.batches.append([(one.sql, one.values) for one in statements])
        try:
            answer = await self._db.batch([one.inner for one in statements])
        except JsException as error:
            self.rows.append(None)
            self.errors.append(str(error))
            raise
        self.rows.append([[dict(row) for row in result["results"]] for result in answer])
        self.errors.append(None)
        return answer


class _Statement:
    def __init__(self, inner: Any, sql: str, values: Sequence[Any] = ()) -> None:
        self.inner, self.sql, self.values = inner, sql, [*values]

    def bind(self, *values: Any) -> _Statement:
        return _Statement(self.inner.bind(*values), self.sql, values)

    async def all(self) -> Any:
        return await self.inner.all()


async def forge(recorder: Recorder, team: Team) -> None:
    """Everything that must be refused is tried on every append-only table."""
    for table in TABLES:
        rows = await team.rows(f"SELECT * FROM {table}")
        if not rows:
            continue
        forged = ["'forged'" if name == "trace_id" else name for name in rows[0]]
        texts = [
            [way.format(table=table, columns=", ".join(rows[0]), forged=", ".join(forged))]
            for way in WAYS.values()
        ]
        texts += [[f"PRAGMA {pragma}", f"DELETE FROM {table}"] for pragma in PRAGMAS]
        for batch in texts:
            with pytest.raises(JsException):
                await recorder.batch([recorder.prepare(sql) for sql in batch])


def reason(error: str | None) -> str | None:
    """What in an error's text the library goes by."""
    found = REASON.search(error) if error else None
    return found.group(0) if found else error


async def test_the_real_database_answers_every_statement_as_ours_does(
    driver: Driver, parts: Parts, tmp_path: Path
) -> None:
    async with d1_binding(tmp_path / "ours.sqlite") as db:
        recorder = Recorder(db)
        team = Team(recorder, D1Record(recorder, deadlines=PATIENT))
        await everything(team)
        await examine(team.record)
        await metrics_text(team.record)
        await history(team.record)
        await life_of(team.record, "goal")
        await forge(recorder, team)
    tables: list[list[tuple[str, list[Any]]]] = [
        [(statement, [])]
        for file in sorted(MIGRATIONS.glob("*.sql"))
        for statement in split(file.read_text("utf-8"))
    ]
    await driver.boot([parts.sdk])

    made = await driver.python(REPLAY, tables)
    answers = await driver.python(REPLAY, recorder.batches)

    assert [error for _, error in made if error] == []
    assert len(answers) > 200
    for batch, rows, error, (told, raised) in zip(
        recorder.batches, recorder.rows, recorder.errors, answers, strict=True
    ):
        assert reason(raised) == reason(error), batch
        assert (told and json.loads(told)) == rows, batch
