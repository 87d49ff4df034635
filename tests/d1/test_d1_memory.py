"""The engine in memory: copies of its state, and the same rules."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.d1.asking import database, refusal, rows, value

from localedge.d1.sqlite import MemoryEngine

pytestmark = pytest.mark.anyio


@pytest.fixture
def memory() -> Iterator[MemoryEngine]:
    engine = MemoryEngine()
    yield engine
    engine.close()


async def test_a_restored_database_is_what_it_was(memory: MemoryEngine) -> None:
    db = database(memory)
    await db.exec("CREATE TABLE t (a)\nINSERT INTO t VALUES (1)")
    snapshot = memory.snapshot()
    await db.exec("INSERT INTO t VALUES (2)\nCREATE TABLE u (a)")

    for _ in range(2):
        memory.restore(snapshot)
        assert await rows(db, "SELECT a FROM t") == [[1]]
        await db.exec("INSERT INTO t VALUES (3)\nCREATE TABLE u (a)")


async def test_rules_and_foreign_keys_hold_after_a_restore(memory: MemoryEngine) -> None:
    db = database(memory)
    await db.exec("CREATE TABLE p (id INTEGER PRIMARY KEY)\nCREATE TABLE c (p REFERENCES p)")

    memory.restore(memory.snapshot())

    assert await refusal(db, "PRAGMA user_version") == "not authorized: SQLITE_AUTH"
    assert await refusal(db, "ATTACH ':memory:' AS x") == "not authorized: SQLITE_AUTH"
    assert (await refusal(db, "INSERT INTO c VALUES (1)")).startswith("FOREIGN KEY")
    assert await value(db, "SELECT count(*) FROM c") == 0


async def test_an_empty_database_can_be_copied(memory: MemoryEngine) -> None:
    snapshot = memory.snapshot()
    await database(memory).exec("CREATE TABLE t (a)")

    memory.restore(snapshot)

    assert await rows(database(memory), "SELECT * FROM sqlite_master") == []


async def test_sessions_work_in_memory(memory: MemoryEngine) -> None:
    session = database(memory).withSession("first-primary")

    await session.prepare("SELECT 1").run()

    assert session.getBookmark() is not None
