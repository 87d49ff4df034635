"""The engine in memory: copies of its state, and the same rules."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
import time_machine
from tests.d1.asking import database, refusal, rows, value

from localedge.d1.memory import MemoryEngine

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


async def test_a_table_function_works_after_every_restore(memory: MemoryEngine) -> None:
    # SQLite's own `deserialize` leaves json_each with the old schema's memory: it crashed.
    db = database(memory)
    await db.exec("CREATE TABLE t (v)")
    empty = memory.snapshot()

    for _ in range(50):
        memory.restore(empty)
        await db.prepare("INSERT INTO t SELECT value FROM json_each('[1, 2]')").run()
        memory.snapshot()

    assert await rows(db, "SELECT v FROM t") == [[1], [2]]


async def test_tables_that_two_branches_made_are_not_mistaken_for_each_other(
    memory: MemoryEngine,
) -> None:
    db = database(memory)
    await db.exec("CREATE TABLE t (a)")
    start = memory.snapshot()
    await db.exec("CREATE TABLE u (a, b)")
    first = memory.snapshot()
    memory.restore(start)
    await db.exec("CREATE TABLE u (c)\nINSERT INTO u VALUES (7)")

    memory.restore(first)

    assert await rows(db, "SELECT a, b FROM u") == []


async def test_copies_of_equal_databases_have_equal_keys(memory: MemoryEngine) -> None:
    db = database(memory)
    await db.exec("CREATE TABLE t (a)\nINSERT INTO t VALUES (1)")
    copy = memory.snapshot()
    await db.exec("INSERT INTO t VALUES (2)")
    other = memory.snapshot()

    memory.restore(copy)
    await db.exec("UPDATE t SET a = 1")

    assert memory.snapshot().key == copy.key
    assert other.key != copy.key


async def test_what_was_run_at_a_copy_before_comes_to_the_same_copy(memory: MemoryEngine) -> None:
    db = database(memory)
    await db.exec("CREATE TABLE t (a)")
    empty = memory.snapshot()

    with time_machine.travel(1_800_000_000, tick=False):
        first = await db.prepare("INSERT INTO t VALUES (?)").bind(1).run()
        full = memory.snapshot()
        memory.restore(empty)
        again = await db.prepare("INSERT INTO t VALUES (?)").bind(1).run()
        copy = memory.snapshot()
        await db.prepare("INSERT INTO t VALUES (?)").bind(2).run()

    assert again["meta"]["changes"] == first["meta"]["changes"] == 1
    assert copy is full
    assert await rows(db, "SELECT a FROM t") == [[1], [2]]


async def test_who_asks_for_the_last_change_gets_that_of_the_statement_before(
    memory: MemoryEngine,
) -> None:
    db = database(memory)
    await db.exec("CREATE TABLE t (a)")
    empty = memory.snapshot()

    for _ in range(3):
        memory.restore(empty)
        await db.prepare("INSERT INTO t VALUES (1), (2)").run()
        memory.snapshot()
        assert await value(db, "SELECT changes()") == 2
