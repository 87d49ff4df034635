"""Copies of a database that is in use, and the way back to each of them."""

from __future__ import annotations

import asyncio
import sqlite3
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

import pytest

from localedge.d1.copies import Budget
from localedge.d1.database import D1Database
from localedge.d1.sqlite import open_engine
from localedge.d1.time_travel import TimeTravel
from localedge.errors import JsException, OperatorError

pytestmark = pytest.mark.anyio
AMPLE = Budget(10**9, 100)


@asynccontextmanager
async def _database(file: Path) -> AsyncIterator[D1Database]:
    """An isolate's way to the database: its own connection, under D1's rules."""
    async with open_engine(file) as engine:
        yield D1Database(engine)


async def _values(database: D1Database) -> list[Any]:
    answer = await database.prepare("SELECT x FROM t ORDER BY x").raw()
    return [row[0] for row in answer]


async def _insert(database: D1Database, value: int) -> None:
    await database.prepare("INSERT INTO t VALUES (?)").bind(value).run()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A database with one table and one row."""
    path = tmp_path / "d1" / "shop.sqlite"
    path.parent.mkdir()
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        connection.execute("CREATE TABLE t (x)")
        connection.execute("INSERT INTO t VALUES (1)")
    return path


def _rows(path: Path) -> list[int]:
    with closing(sqlite3.connect(path)) as connection:
        return [row[0] for row in connection.execute("SELECT x FROM t ORDER BY x")]


async def test_an_open_connection_sees_a_restore_and_goes_on_writing(file: Path) -> None:
    travel = TimeTravel(file, AMPLE)
    async with _database(file) as database:
        first = await travel.keep("asked")
        await _insert(database, 2)

        await travel.restore(first)

        assert await _values(database) == [1]
        await _insert(database, 3)
        assert await _values(database) == [1, 3]


async def test_the_way_back_from_a_restore_has_all_that_was_written_before(file: Path) -> None:
    travel = TimeTravel(file, AMPLE)
    async with _database(file) as database:
        first = await travel.keep("asked")
        await _insert(database, 2)
        restored = await travel.restore(first)

        await travel.restore(restored.before)

        assert await _values(database) == [1, 2]


async def test_tables_made_since_are_gone_and_come_back(file: Path) -> None:
    travel = TimeTravel(file, AMPLE)
    async with _database(file) as database:
        first = await travel.keep("asked")
        await database.exec("CREATE TABLE later (y TEXT)")
        restored = await travel.restore(first)
        names = await database.prepare("SELECT name FROM sqlite_master").raw()
        assert ["later"] not in names

        await travel.restore(restored.before)

        assert (await database.prepare("SELECT count(*) FROM later").raw()) == [[0]]


async def test_an_unchanged_database_keeps_its_bookmark(file: Path) -> None:
    travel = TimeTravel(file, AMPLE)

    one, other = await travel.keep("asked"), await travel.keep("asked")

    assert one == other
    assert len(travel.copies()) == 1


async def test_opening_and_closing_a_database_does_not_change_its_bookmark(file: Path) -> None:
    travel = TimeTravel(file, AMPLE)
    one = await travel.keep("asked")
    async with _database(file) as database:
        await _values(database)

    other = await travel.keep("asked")

    assert one == other


async def test_every_write_gives_another_bookmark_that_sorts_later(file: Path) -> None:
    travel = TimeTravel(file, AMPLE)
    bookmarks = []
    async with _database(file) as database:
        for number in range(2, 6):
            bookmarks.append((await travel.keep("asked")).bookmark)
            await _insert(database, number)

    assert bookmarks == sorted(set(bookmarks))


async def test_bookmarks_of_sessions_go_on_growing_after_a_restore(file: Path) -> None:
    travel = TimeTravel(file, AMPLE)
    async with _database(file) as database:
        first = await travel.keep("asked")
        await _insert(database, 2)
        session = database.with_session()
        await session.prepare("SELECT 1").run()
        before = session.get_bookmark()

        restored = await travel.restore(first)
        await session.prepare("SELECT 1").run()

        assert before is not None
        assert before < restored.before.bookmark < restored.now.bookmark
        assert restored.now.bookmark < (session.get_bookmark() or "")


async def test_a_database_that_began_anew_gets_no_bookmark_twice(file: Path) -> None:
    travel = TimeTravel(file, AMPLE)
    old = await travel.keep("asked")
    file.unlink()  # noqa: ASYNC240  (one call)
    async with _database(file) as database:
        await database.exec("CREATE TABLE t (x)")

        new = await travel.keep("asked")

    assert new.bookmark > old.bookmark
    await travel.restore(old)
    assert _rows(file) == [1]


async def test_a_restored_state_has_a_copy_of_its_own(file: Path) -> None:
    travel = TimeTravel(file, AMPLE)
    async with _database(file) as database:
        first = await travel.keep("asked")
        await _insert(database, 2)
        restored = await travel.restore(first)
        await _insert(database, 3)

        await travel.restore(restored.now)

        assert await _values(database) == [1]


async def test_a_restore_keeps_the_way_back_beyond_any_budget(file: Path) -> None:
    travel = TimeTravel(file, AMPLE)
    first = await travel.keep("asked")
    async with _database(file) as database:
        await _insert(database, 2)
    poor = TimeTravel(file, Budget(0, 1))

    restored = await poor.restore(first)

    await poor.restore(restored.before)
    assert _rows(file) == [1, 2]


async def test_copies_stay_within_the_budget(file: Path) -> None:
    travel = TimeTravel(file, Budget(10**9, 3))
    async with _database(file) as database:
        for number in range(2, 9):
            await _insert(database, number)
            await travel.keep("minute")

    assert len(travel.copies()) == 3


async def test_a_copy_that_is_gone_is_told_and_changes_nothing(file: Path) -> None:
    travel = TimeTravel(file, AMPLE)
    copy = await travel.keep("asked")
    copy.path.unlink()

    with pytest.raises(OperatorError, match="is gone") as told:
        await travel.restore(copy)

    assert told.value.code == "d1/no-copy"
    assert _rows(file) == [1]


async def test_a_damaged_copy_is_told_and_changes_nothing(file: Path) -> None:
    travel = TimeTravel(file, AMPLE)
    copy = await travel.keep("asked")
    copy.path.write_bytes(b"not a database at all" * 500)

    with pytest.raises(OperatorError, match="not a database"):
        await travel.restore(copy)

    assert _rows(file) == [1]


async def test_a_database_that_does_not_exist_is_told(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="never been used"):
        await TimeTravel(tmp_path / "none.sqlite", AMPLE).keep("asked")


async def test_what_is_acknowledged_during_restores_is_live_or_in_the_way_back(file: Path) -> None:
    travel = TimeTravel(file, Budget(10**9, 1000))
    first = await travel.keep("asked")
    acknowledged: list[int] = []

    async def write(writer: int) -> None:
        async with _database(file) as database:
            for number in range(60):
                value = 1000 * writer + number
                await _insert(database, value)
                acknowledged.append(value)

    async with asyncio.TaskGroup() as tasks:
        writing = [tasks.create_task(write(writer)) for writer in range(1, 4)]
        ways_back = []
        while not all(task.done() for task in writing):
            ways_back.append((await travel.restore(first)).before)

    kept = {value for copy in ways_back for value in _rows(copy.path)}
    assert len(ways_back) > 1
    assert set(acknowledged) <= kept | set(_rows(file))


_RESTORE_FOR_EVER = """
import asyncio, sys
from pathlib import Path
from localedge.d1.copies import Budget, kept_in
from localedge.d1.time_travel import TimeTravel

async def main():
    travel = TimeTravel(Path(sys.argv[1]), Budget(10**9, 20))
    old, new = travel.copies()[:2]
    while True:
        print("again", flush=True)
        await travel.restore(old)
        await travel.restore(new)

asyncio.run(main())
"""


async def test_keeping_copies_and_restoring_adds_no_table(file: Path) -> None:
    travel = TimeTravel(file, AMPLE)
    async with _database(file) as database:
        first = await travel.keep("asked")
        await _insert(database, 2)
        await travel.restore(first)

        names = await database.prepare("SELECT name FROM sqlite_master").raw()

    assert names == [["t"]]


async def test_an_empty_database_can_be_had_back_and_left_again(tmp_path: Path) -> None:
    file = tmp_path / "empty.sqlite"
    travel = TimeTravel(file, AMPLE)
    async with _database(file) as database:
        empty = await travel.keep("asked")
        await database.exec("CREATE TABLE t (x)")
        restored = await travel.restore(empty)
        with pytest.raises(JsException, match="no such table"):
            await _values(database)

        await travel.restore(restored.before)

        assert await _values(database) == []


async def test_a_killed_restore_leaves_one_state_whole_and_can_be_repeated(file: Path) -> None:
    travel = TimeTravel(file, AMPLE)
    async with _database(file) as database:
        old = await travel.keep("asked")
        await database.exec(
            "INSERT INTO t WITH n(i) AS (VALUES(2) UNION ALL SELECT i + 1 FROM n WHERE i < 9000) "
            "SELECT i FROM n"
        )
        new = await travel.keep("asked")
    for restores in range(4):
        await _killed_after(restores, file)

        assert len(_rows(file)) in (1, 9000)

    await travel.restore(new)
    assert len(_rows(file)) == 9000
    await travel.restore(old)
    assert _rows(file) == [1]


async def _killed_after(restores: int, file: Path) -> None:
    """A process that restores all the time was killed, so many restores after its beginning."""
    command = (sys.executable, "-c", _RESTORE_FOR_EVER, str(file))
    process = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    assert process.stdout is not None
    async with asyncio.timeout(20):
        for _ in range(restores + 1):
            await process.stdout.readline()
        process.kill()
        await process.wait()


_WRITE = """
import sqlite3, sys
other = sqlite3.connect(sys.argv[1], timeout=0, isolation_level=None)
try:
    other.execute("INSERT INTO t VALUES (9)")
except sqlite3.OperationalError as error:
    print(error)
"""


async def test_to_look_for_changes_takes_no_lock_from_a_writer_in_the_same_process(
    file: Path,
) -> None:
    travel = TimeTravel(file, AMPLE)
    await travel.keep("asked")
    with closing(sqlite3.connect(file, isolation_level=None)) as writer:
        writer.execute("BEGIN IMMEDIATE")
        travel.has_changed()

        command = (sys.executable, "-c", _WRITE, str(file))
        other = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
        async with asyncio.timeout(20):
            said, _ = await other.communicate()

    assert said == b"database is locked\n"
    assert _rows(file) == [1]


_RESTORE_WITHOUT_ROOM = """
import asyncio, resource, sys
from pathlib import Path
from localedge.d1.copies import Budget
from localedge.d1.time_travel import TimeTravel
from localedge.errors import OperatorError

async def main():
    travel = TimeTravel(Path(sys.argv[1]), Budget(10**9, 20))
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    try:
        await travel.restore(travel.copies()[0])
    except OperatorError as error:
        print(error.code, error.hint)

asyncio.run(main())
"""


async def test_without_room_for_the_way_back_nothing_is_restored(file: Path) -> None:
    travel = TimeTravel(file, AMPLE)
    await travel.keep("asked")
    async with _database(file) as database:
        await database.exec(
            "INSERT INTO t WITH n(i) AS (VALUES(2) UNION ALL SELECT i + 1 FROM n WHERE i < 90000) "
            "SELECT i FROM n"
        )

    command = (sys.executable, "-c", _RESTORE_WITHOUT_ROOM, str(file))
    restoring = await asyncio.create_subprocess_exec(*command, stdout=asyncio.subprocess.PIPE)
    async with asyncio.timeout(20):
        said, _ = await restoring.communicate()

    assert said.startswith(b"d1/")
    assert len(_rows(file)) == 90000
    assert len(travel.copies()) == 1
    assert not list(travel.folder.glob("*.new*"))
