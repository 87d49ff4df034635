"""Short ways to ask a database, and to say what it refused."""

from __future__ import annotations

from typing import Any

import pytest

from localedge.binding import EnvWrapper
from localedge.d1.database import D1Database
from localedge.d1.engine import Engine
from localedge.errors import JsException
from localedge.probe import Probe


def database(engine: Engine) -> Any:
    """`env.DB` of a worker on `engine`."""
    return EnvWrapper({"DB": D1Database(engine)}, Probe()).DB


async def rows(db: Any, sql: str, *values: Any) -> list[list[Any]]:
    """The rows of `sql`."""
    found: list[list[Any]] = await _statement(db, sql, values).raw()
    return found


async def value(db: Any, sql: str, *values: Any) -> Any:
    """The only value of the only row of `sql`."""
    ((found,),) = await rows(db, sql, *values)
    return found


async def meta(db: Any, sql: str, *values: Any) -> Any:
    """The `meta` of `sql`."""
    return (await _statement(db, sql, values).run()).meta


async def refusal(db: Any, sql: str, *values: Any) -> str:
    """The message of the error that `sql` ends with, without its prefix."""
    with pytest.raises(JsException) as caught:
        await _statement(db, sql, values).run()
    prefix, text = caught.value.message.split(": ", 1)
    assert prefix == "D1_ERROR"
    assert caught.value.cause is not None
    assert caught.value.cause.message == text
    return text


def _statement(db: Any, sql: str, values: tuple[Any, ...]) -> Any:
    statement = db.prepare(sql)
    return statement.bind(*values) if values else statement
