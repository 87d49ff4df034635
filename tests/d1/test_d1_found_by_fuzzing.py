"""What the differential fuzzer found in D1 (docs/fuzzing.md), each once."""

from __future__ import annotations

from typing import Any

import pytest

from localedge.errors import JsException

pytestmark = pytest.mark.anyio


async def test_an_insert_that_fails_at_its_second_row_has_moved_the_last_row_id(db: Any) -> None:
    await db.exec("CREATE TABLE t (id INTEGER PRIMARY KEY, a NOT NULL)")
    await db.exec("CREATE TABLE u (a)")
    with pytest.raises(JsException, match="NOT NULL constraint failed"):
        await db.prepare("INSERT INTO t VALUES (7, 1), (8, NULL)").run()

    seen = await db.prepare("SELECT last_insert_rowid() AS id").all()
    updated = await db.prepare("UPDATE u SET a = 1").run()

    assert (seen.results[0].id, seen.meta.last_row_id) == (7, 7)
    assert (updated.meta.changed_db, updated.meta.last_row_id) == (False, 7)
