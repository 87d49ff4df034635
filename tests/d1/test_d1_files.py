"""Database files that cannot be used: each says what is wrong, and nothing acknowledged is lost."""

from __future__ import annotations

import asyncio
import os
import resource
import shutil
import signal
import sqlite3
import subprocess
import threading
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.d1.asking import database, refusal, rows, value
from tests.waiting import wait_until

from localedge.d1.sqlite import open_engine
from localedge.errors import Exit, JsException, OperatorError

pytestmark = pytest.mark.anyio


async def _opening_error(path: Path, **options: float) -> OperatorError:
    with pytest.raises(OperatorError) as caught:
        async with open_engine(path, **options):  # type: ignore[arg-type]  # only floats here
            pass
    assert caught.value.exit is Exit.UNREACHABLE
    assert str(path.name) in caught.value.message
    assert caught.value.hint
    return caught.value


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(content)


def _read(path: Path) -> bytes:
    return path.read_bytes()


async def test_a_file_that_is_no_database_is_named_and_left_as_it_is(path: Path) -> None:
    content = b"this is a text, and no database" * 100
    _write(path, content)

    error = await _opening_error(path)

    assert error.code == "d1/not-a-database"
    assert _read(path) == content


async def test_a_folder_in_the_files_place_cannot_be_opened(path: Path) -> None:
    os.mkdir(path)

    assert (await _opening_error(path)).code == "d1/cannot-open"


async def test_a_file_in_the_folders_place_cannot_be_opened(path: Path) -> None:
    _write(path, b"")

    assert (await _opening_error(path / "db.sqlite")).code == "d1/cannot-open"


async def test_missing_folders_are_made(path: Path) -> None:
    async with open_engine(path.parent / "a" / "b" / "c.sqlite") as engine:
        assert await value(database(engine), "SELECT 1") == 1


async def test_a_database_damaged_while_open_is_an_error_of_the_query(path: Path) -> None:
    async with open_engine(path) as engine:
        await database(engine).exec("CREATE TABLE t (a)")
        await database(engine).prepare("INSERT INTO t VALUES (?)").bind("x" * 50_000).run()
    with path.open("r+b") as file:
        file.seek(4096)
        file.write(b"\xff" * 4096)

    async with open_engine(path) as engine:
        text = await refusal(database(engine), "SELECT * FROM t")
        still = await value(database(engine), "SELECT 1")

    assert text == "database disk image is malformed: SQLITE_CORRUPT"
    assert still == 1


@contextmanager
def _locked(path: Path) -> Iterator[sqlite3.Connection]:
    """Another program holds the write lock."""
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    try:
        yield other
    finally:
        other.close()


async def test_a_write_past_another_programs_lock_fails_after_the_wait_and_reads_go_on(
    path: Path,
) -> None:
    async with open_engine(path, busy_timeout_s=0.05) as engine:
        db = database(engine)
        await db.exec("CREATE TABLE t (a)\nINSERT INTO t VALUES (1)")

        with _locked(path):
            text = await refusal(db, "INSERT INTO t VALUES (2)")
            seen = await rows(db, "SELECT a FROM t")
        await db.prepare("INSERT INTO t VALUES (3)").run()

        assert text == "database is locked: SQLITE_BUSY"
        assert seen == [[1]]
        assert await rows(db, "SELECT a FROM t") == [[1], [3]]


async def test_a_write_waits_for_another_programs_lock(path: Path) -> None:
    async with open_engine(path) as engine:
        db = database(engine)
        await db.exec("CREATE TABLE t (a)")
        with _locked(path) as other:
            write = asyncio.ensure_future(db.prepare("INSERT INTO t VALUES (1)").run())
            done, _ = await asyncio.wait([write], timeout=0.05)
            other.execute("COMMIT")
        result = await write

    assert not done
    assert result.meta.changes == 1


async def test_a_database_that_is_locked_whole_cannot_be_opened(path: Path) -> None:
    other = sqlite3.connect(path, isolation_level=None)
    other.execute("CREATE TABLE t (a)")
    other.execute("PRAGMA locking_mode=EXCLUSIVE")
    other.execute("BEGIN EXCLUSIVE")

    error = await _opening_error(path, busy_timeout_s=0.05)

    other.close()
    assert error.code == "d1/locked"


Relieve = Callable[[], None]


@contextmanager
def _disk_of_2_mb(folder: Path) -> Iterator[Relieve]:
    """`folder` is a small disk with a file that can be removed; needs root."""
    folder.mkdir()
    options = ["-t", "tmpfs", "-o", "size=2m", "tmpfs", str(folder)]
    subprocess.run(["mount", *options], check=True)
    try:
        ballast = folder / "ballast"
        ballast.write_bytes(bytes(800_000))
        yield ballast.unlink
    finally:
        subprocess.run(["umount", "-l", str(folder)], check=True)


@contextmanager
def _files_of_1_mb(folder: Path) -> Iterator[Relieve]:
    """No file of this process may grow beyond 1 MB, in `folder` or anywhere."""
    folder.mkdir()
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)

    def relieve() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))

    handler = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, hard))
    try:
        yield relieve
    finally:
        relieve()
        signal.signal(signal.SIGXFSZ, handler)


def _may_mount() -> bool:
    """Whether this machine lets us mount a disk: as root, outside a locked-down container."""
    if os.geteuid() != 0 or shutil.which("mount") is None:
        return False
    probe = subprocess.run(
        ["unshare", "--mount", "mount", "-t", "tmpfs", "tmpfs", "/mnt"], capture_output=True
    )
    return probe.returncode == 0


# On a full disk where the machine lets us make one; else the same end by another way.
_full_disk = _disk_of_2_mb if _may_mount() else _files_of_1_mb


async def _fill(db: Any) -> tuple[int, str]:
    """Insert until it fails: how many inserts were acknowledged, and the error's message."""
    for count in range(200):
        try:
            await db.prepare("INSERT INTO t VALUES (?)").bind("x" * 50_000).run()
        except JsException as error:
            return count, error.message
    raise AssertionError("there was always room")


@pytest.mark.parametrize("full", [_full_disk, _files_of_1_mb])
async def test_a_full_disk_fails_the_write_and_keeps_what_was_acknowledged(
    full: Callable[[Path], AbstractContextManager[Relieve]], tmp_path: Path
) -> None:
    folder = tmp_path / "disk"
    with full(folder) as relieve:
        async with open_engine(folder / "db.sqlite") as engine:
            db = database(engine)
            await db.exec("CREATE TABLE t (a)")

            acknowledged, message = await _fill(db)
            kept = await value(db, "SELECT count(*) FROM t WHERE length(a) = 50000")
            relieve()
            await db.prepare("INSERT INTO t VALUES ('fits')").run()

        async with open_engine(folder / "db.sqlite") as engine:
            after = await value(database(engine), "SELECT count(*) FROM t")

    assert message in (
        "D1_ERROR: database or disk is full: SQLITE_FULL",
        "D1_ERROR: disk I/O error: SQLITE_IOERR (extended: SQLITE_IOERR_WRITE)",
    )
    assert kept == acknowledged > 0
    assert after == acknowledged + 1


async def test_a_full_disk_on_opening_is_the_operators_matter(tmp_path: Path) -> None:
    folder = tmp_path / "disk"
    with _files_of_1_mb(folder):
        resource.setrlimit(resource.RLIMIT_FSIZE, (0, resource.getrlimit(resource.RLIMIT_FSIZE)[1]))

        error = await _opening_error(folder / "db.sqlite")

    assert error.code in ("d1/disk-full", "d1/cannot-open")


@contextmanager
def _read_only(folder: Path) -> Iterator[None]:
    """Nothing in `folder` can be written; root needs more than its permissions for that."""
    if _may_mount():
        subprocess.run(["mount", "--bind", str(folder), str(folder)], check=True)
        subprocess.run(["mount", "-o", "remount,bind,ro", str(folder)], check=True)
        try:
            yield
        finally:
            subprocess.run(["umount", "-l", str(folder)], check=True)
        return
    os.chmod(folder, 0o500)
    try:
        yield
    finally:
        os.chmod(folder, 0o700)


async def test_a_read_only_database_cannot_be_opened_and_is_whole_afterwards(
    tmp_path: Path,
) -> None:
    folder = tmp_path / "disk"
    async with open_engine(folder / "db.sqlite") as engine:
        await database(engine).exec("CREATE TABLE t (a)\nINSERT INTO t VALUES (1)")

    with _read_only(folder):
        error = await _opening_error(folder / "db.sqlite")

    assert error.code == "d1/read-only"
    async with open_engine(folder / "db.sqlite") as engine:
        assert await rows(database(engine), "SELECT a FROM t") == [[1]]


async def test_opening_that_is_given_up_leaves_no_thread(path: Path) -> None:
    async def open_and_wait() -> None:
        async with open_engine(path):
            await asyncio.Event().wait()

    opening = asyncio.ensure_future(open_and_wait())
    await wait_until(path.exists)

    opening.cancel()
    with pytest.raises(asyncio.CancelledError):
        await opening

    await wait_until(lambda: not [t for t in threading.enumerate() if "worker" in t.name])
