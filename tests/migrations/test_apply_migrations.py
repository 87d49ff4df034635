"""`apply_migrations`, and migrations while others use the database."""

from __future__ import annotations

import asyncio
import os
import shutil
import signal
import sys
from pathlib import Path

import pytest
from tests.migrations.command_line import run_command
from tests.migrations.projects import (
    BIG,
    database_of,
    has_applied,
    ledger,
    make_project,
    query,
)
from tests.waiting import wait_until

from localedge import project
from localedge.d1.database import D1Database
from localedge.d1.migrations import Applied, MigrationError, apply_migrations
from localedge.d1.sqlite import open_engine
from localedge.project.models import Project

pytestmark = [pytest.mark.anyio, pytest.mark.slow]


def _load(root: Path) -> Project:
    return project.load(start=root, process_env={}, to_run=False)


async def _start_applying(root: Path) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(
        Path(sys.executable).parent / "localedge",
        *("d1", "migrations", "apply", "DB"),
        cwd=root,
        stdout=asyncio.subprocess.DEVNULL,
        stderr=asyncio.subprocess.DEVNULL,
    )


async def test_what_is_pending_is_applied_and_returned_in_order(tmp_path: Path) -> None:
    make_project(tmp_path, {"10_b.sql": "CREATE TABLE b (x);", "9_a.sql": "CREATE TABLE a (x);"})
    found = _load(tmp_path)

    applied = await apply_migrations(found, found.d1_databases[0])

    assert applied == [Applied("9_a.sql", 2), Applied("10_b.sql", 2)]
    assert ledger(tmp_path) == ["9_a.sql", "10_b.sql"]


async def test_applying_again_does_nothing(tmp_path: Path) -> None:
    make_project(tmp_path, {"1.sql": "CREATE TABLE a (x);"})
    found = _load(tmp_path)
    await apply_migrations(found, found.d1_databases[0])

    assert await apply_migrations(found, found.d1_databases[0]) == []


async def test_another_folder_of_state_gets_a_database_of_its_own(tmp_path: Path) -> None:
    make_project(tmp_path, {"1.sql": "CREATE TABLE a (x);"})
    found = _load(tmp_path)

    await apply_migrations(found, found.d1_databases[0], state=tmp_path / "other")

    assert (tmp_path / "other" / "d1" / "d1-id.sqlite").exists()
    assert not database_of(tmp_path).exists()


async def test_a_failure_names_the_migration_and_keeps_those_before_it(tmp_path: Path) -> None:
    make_project(tmp_path, {"1.sql": "SELECT 1;", "2.sql": "SELECT nope;", "3.sql": "SELECT 3;"})
    found = _load(tmp_path)

    with pytest.raises(MigrationError, match="no such column: nope") as raised:
        await apply_migrations(found, found.d1_databases[0])

    assert raised.value.name == "2.sql"
    assert ledger(tmp_path) == ["1.sql"]


async def test_a_database_in_use_is_migrated_and_its_users_see_it(tmp_path: Path) -> None:
    make_project(tmp_path, {"1.sql": "CREATE TABLE t (x);", "2.sql": "INSERT INTO t VALUES (1);"})
    found = _load(tmp_path)
    async with open_engine(database_of(tmp_path)) as engine:
        database = D1Database(engine)
        await database.exec("CREATE TABLE busy (n)")

        async def write_on() -> None:
            for _ in range(100):
                await database.exec("INSERT INTO busy SELECT count(*) FROM busy")

        _, applied = await asyncio.gather(
            write_on(), apply_migrations(found, found.d1_databases[0])
        )

        assert len(applied) == 2
        assert await database.prepare("SELECT x FROM t").raw() == [[1]]
        assert await database.prepare("SELECT count(*) FROM busy").raw() == [[100]]


async def test_a_writer_that_holds_its_lock_is_waited_for(tmp_path: Path) -> None:
    make_project(tmp_path, {"1.sql": "CREATE TABLE t (x);"})
    found = _load(tmp_path)
    slow = f"{BIG.format(count=2_000_000)} INSERT INTO held SELECT max(i) FROM n"
    async with open_engine(database_of(tmp_path)) as engine:
        database = D1Database(engine)
        await database.exec("CREATE TABLE held (n)")
        holding = asyncio.ensure_future(database.prepare(slow).run())

        applied = await apply_migrations(found, found.d1_databases[0])

        await holding
        assert [each.name for each in applied] == ["1.sql"]


async def test_a_kill_in_the_middle_of_a_file_leaves_nothing_of_it(tmp_path: Path) -> None:
    text = (
        "CREATE TABLE t (x);\nINSERT INTO t VALUES (zeroblob(1000000));\n"
        f"{BIG.format(count=50_000)} INSERT INTO t SELECT randomblob(1000) FROM n;\n"
        f"{BIG.format(count=2_000_000_000)} SELECT max(i) FROM n;\n"
    )
    make_project(tmp_path, {"1.sql": "CREATE TABLE before (x);", "2.sql": text})
    wal = database_of(tmp_path).with_name("d1-id.sqlite-wal")
    process = await _start_applying(tmp_path)
    # Pages that no longer fit into memory go to the log before the commit.
    await wait_until(lambda: wal.exists() and wal.stat().st_size > 5_000_000, within_s=30)

    os.kill(process.pid, signal.SIGKILL)
    async with asyncio.timeout(10):
        await process.wait()

    assert ledger(tmp_path) == ["1.sql"]
    assert query(tmp_path, "SELECT name FROM sqlite_schema WHERE name = 't'") == []
    (tmp_path / "migrations" / "2.sql").write_text("CREATE TABLE t (x);")
    again = await asyncio.to_thread(run_command, ["d1", "migrations", "apply", "DB"], tmp_path)
    assert again.exit == 0
    assert ledger(tmp_path) == ["1.sql", "2.sql"]


async def test_an_interrupt_ends_the_command_at_once_and_undoes_the_file(tmp_path: Path) -> None:
    text = f"CREATE TABLE t (x);\n{BIG.format(count=2_000_000_000)} SELECT max(i) FROM n;\n"
    make_project(tmp_path, {"1.sql": "CREATE TABLE before (x);", "2.sql": text})
    process = await _start_applying(tmp_path)
    await wait_until(lambda: has_applied(tmp_path, "1.sql"))

    process.send_signal(signal.SIGINT)

    async with asyncio.timeout(10):
        assert await process.wait() == 130
    assert ledger(tmp_path) == ["1.sql"]
    assert query(tmp_path, "SELECT name FROM sqlite_schema WHERE name = 't'") == []


async def test_two_processes_that_apply_at_once_apply_each_file_once(tmp_path: Path) -> None:
    names = [f"{n:04}_x.sql" for n in range(1, 6)]
    text = "CREATE TABLE IF NOT EXISTS t (x);\nINSERT INTO t VALUES (1);\n"
    make_project(tmp_path, dict.fromkeys(names, text))
    processes = [await _start_applying(tmp_path) for _ in range(2)]

    async with asyncio.timeout(30):
        await asyncio.gather(*(process.wait() for process in processes))

    # Whoever came second to a file was refused as a whole by the ledger.
    recorded = ledger(tmp_path)
    assert query(tmp_path, "SELECT count(*) FROM t") == [(len(recorded),)]
    again = await asyncio.to_thread(run_command, ["d1", "migrations", "apply", "DB"], tmp_path)
    assert again.exit == 0
    assert ledger(tmp_path) == names
    assert query(tmp_path, "SELECT count(*) FROM t") == [(5,)]


def test_an_existing_projects_folder_applies_unchanged(tmp_path: Path) -> None:
    root = Path(__file__).parents[2]
    shutil.copytree(root / "migrations", tmp_path / "migrations")
    (tmp_path / "wrangler.toml").write_text(
        'name = "x"\ncompatibility_date = "2026-10-01"\n'
        '[[d1_databases]]\nbinding = "DB"\ndatabase_id = "d1-id"\n'
    )
    names = sorted(path.name for path in (tmp_path / "migrations").glob("*.sql"))

    output = run_command(["d1", "migrations", "apply", "DB"], tmp_path)

    assert output.exit == 0
    assert ledger(tmp_path) == names
