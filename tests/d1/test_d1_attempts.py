"""Waiting for another isolate's lock."""

from __future__ import annotations

import sqlite3
from pathlib import Path

import pytest

from localedge.d1.attempts import Busy, until_free
from localedge.d1.database import D1Database
from localedge.d1.engine import EngineError
from localedge.d1.sqlite import open_engine
from localedge.errors import JsException


class Lock:
    """Fails as long as somebody else has it."""

    def __init__(self, busy_times: int) -> None:
        self.left = busy_times
        self.attempts = 0

    def attempt(self) -> str:
        self.attempts += 1
        if self.left:
            self.left -= 1
            raise Busy(EngineError("database is locked: SQLITE_BUSY"))
        return "done"


def test_it_is_attempted_until_the_lock_is_free() -> None:
    lock = Lock(busy_times=20)

    result = until_free(lock.attempt, timeout_s=30, is_stopped=lambda: False)

    assert (result, lock.attempts) == ("done", 21)


def test_after_the_timeout_the_database_is_locked() -> None:
    lock = Lock(busy_times=10**9)

    with pytest.raises(EngineError, match="database is locked"):
        until_free(lock.attempt, timeout_s=0.02, is_stopped=lambda: False)

    assert lock.attempts > 2


def test_who_was_told_to_end_does_not_go_on_waiting() -> None:
    lock = Lock(busy_times=10**9)

    with pytest.raises(EngineError):
        until_free(lock.attempt, timeout_s=30, is_stopped=lambda: lock.attempts == 3)

    assert lock.attempts == 3


@pytest.mark.anyio
async def test_a_program_that_met_a_lock_leaves_nothing_behind(tmp_path: Path) -> None:
    path = tmp_path / "x.sqlite"
    async with open_engine(path, busy_timeout_s=0.01) as engine:
        database = D1Database(engine)
        await database.exec("CREATE TABLE t (a)")
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")

        with pytest.raises(JsException, match="database is locked"):
            await database.exec("INSERT INTO t VALUES (1)")
        other.execute("ROLLBACK")
        other.close()
        await database.exec("INSERT INTO t VALUES (2)")

        rows = await database.prepare("SELECT a FROM t").raw()
    assert rows == [[2]]
