"""Sessions and their bookmarks."""

from __future__ import annotations

import sqlite3
from pathlib import Path
from typing import Any

import pytest
from tests.d1.asking import database, meta, value

from localedge.d1.sqlite import open_engine
from localedge.errors import JsException

pytestmark = pytest.mark.anyio


@pytest.mark.parametrize(
    "constraint", [(), ("",), ("  ",), (None,), ("first-unconstrained",), ("first-primary",)]
)
async def test_a_session_has_no_bookmark_before_its_first_query(
    db: Any, constraint: tuple[Any, ...]
) -> None:
    session = db.withSession(*constraint)
    assert session.getBookmark() is None

    await session.prepare("SELECT 1").run()

    first, second, third, digest = session.getBookmark().split("-")
    assert [len(part) for part in (first, second, third, digest)] == [8, 8, 8, 32]


async def test_a_bookmark_grows_with_writes_and_only_with_them(db: Any) -> None:
    session = db.withSession()
    await session.batch([session.prepare("CREATE TABLE t (a)")])
    created = session.getBookmark()
    await session.prepare("SELECT * FROM t").all()
    read = session.getBookmark()
    await db.prepare("INSERT INTO t VALUES (1)").run()
    await session.prepare("SELECT * FROM t").all()
    written = session.getBookmark()

    assert created == read < written


async def test_a_bookmark_grows_over_sessions_and_restarts(path: Path) -> None:
    bookmarks = []
    for _ in range(3):
        async with open_engine(path) as engine:
            session = database(engine).withSession()
            await session.prepare("CREATE TABLE IF NOT EXISTS t (a)").run()
            bookmarks.append(session.getBookmark())

    assert bookmarks == sorted(set(bookmarks))


async def test_a_greater_bookmark_than_ours_sticks(db: Any) -> None:
    session = db.withSession("zzzz")

    await session.prepare("SELECT 1").run()

    assert session.getBookmark() == "zzzz"


async def test_a_lesser_bookmark_is_replaced(db: Any) -> None:
    session = db.withSession("0")
    assert session.getBookmark() == "0"

    await session.prepare("SELECT 1").run()

    assert session.getBookmark() > "0"


async def test_a_bookmark_leaves_last_row_id_alone(db: Any) -> None:
    await db.exec("CREATE TABLE t (a)\nINSERT INTO t VALUES (1), (2), (3)")
    session = db.withSession()
    await session.prepare("SELECT 1").run()

    assert (await meta(session, "SELECT 1")).last_row_id == 3


async def test_a_bookmark_that_cannot_be_written_does_not_fail_the_call(path: Path) -> None:
    async with open_engine(path, busy_timeout_s=0.05) as engine:
        session = database(engine).withSession()
        other = sqlite3.connect(path, isolation_level=None)
        other.execute("BEGIN IMMEDIATE")

        found = await value(session, "SELECT 1")

        other.close()
        assert found == 1
        assert session.getBookmark() is None


async def test_a_session_has_neither_exec_nor_dump(db: Any) -> None:
    session = db.withSession()

    assert not any(hasattr(session, name) for name in ("exec", "dump", "withSession"))


async def test_a_session_needs_a_text(db: Any) -> None:
    with pytest.raises(JsException, match="trim is not a function") as caught:
        db.withSession(5)

    assert caught.value.name == "TypeError"
