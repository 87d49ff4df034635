"""A D1 call has begun once it is made, and who stops waiting does not stop it."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.waiting import wait_until

from localedge.errors import JsException

pytestmark = pytest.mark.anyio


@pytest.fixture
async def table(db: Any) -> Any:
    """`env.DB` with an empty table `t`."""
    await db.prepare("CREATE TABLE t (n INTEGER)").run()
    return db


async def has_a_row(db: Any) -> bool:
    """Whether something was inserted."""
    return bool(await db.prepare("SELECT count(*) AS n FROM t").first("n"))


async def test_calls_run_in_the_order_in_which_they_were_made(table: Any) -> None:
    insert = table.prepare("INSERT INTO t VALUES (1)").run()
    count = table.prepare("SELECT count(*) AS n FROM t").first("n")

    found = await count
    await insert

    assert found == 1


async def test_a_call_whose_caller_is_cancelled_is_carried_out(table: Any) -> None:
    async def insert() -> None:
        await table.batch([table.prepare("INSERT INTO t VALUES (1)")])

    caller = asyncio.ensure_future(insert())
    await asyncio.sleep(0)

    caller.cancel()

    with pytest.raises(asyncio.CancelledError):
        await caller
    await wait_until(lambda: has_a_row(table))


async def test_an_error_is_raised_where_the_call_is_awaited(table: Any) -> None:
    call = table.prepare("INSERT INTO nowhere VALUES (1)").run()
    refused = table.batch([])

    with pytest.raises(JsException, match="no such table"):
        await call
    with pytest.raises(JsException, match="No SQL statements"):
        await refused


async def test_many_calls_at_once_have_their_own_answers(table: Any) -> None:
    calls = [table.prepare("SELECT ? AS n").bind(n).first("n") for n in range(20)]

    assert await asyncio.gather(*calls) == list(range(20))
