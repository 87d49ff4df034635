"""The first migration makes the four tables of an agent's state; it is never edited."""

from __future__ import annotations

import hashlib
import sqlite3
from contextlib import closing

from tests.worker.schema import MIGRATIONS

Column = tuple[str, str, int, str | None, int]


def columns(table: str) -> list[Column]:
    """Name, type, NOT NULL, default and place in the primary key of each column."""
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript((MIGRATIONS / "0001_create_agent_state.sql").read_text("utf-8"))
        return [tuple(row[1:]) for row in connection.execute(f"PRAGMA table_info({table})")]


def test_the_migration_is_the_seed_documents_text_to_the_byte() -> None:
    text = (MIGRATIONS / "0001_create_agent_state.sql").read_bytes()

    assert (
        hashlib.sha256(text).hexdigest()
        == "9f911c64ed1507d6dd532a9a066251b84219aa8951a326818e387761de4e997d"
    )


def test_sessions() -> None:
    assert columns("agent_sessions") == [
        ("id", "TEXT", 0, None, 1),
        ("user_id", "TEXT", 1, None, 0),
        ("status", "TEXT", 1, "'active'", 0),
        ("message_count", "INTEGER", 1, "0", 0),
        ("created_at", "TEXT", 1, None, 0),
        ("last_active_at", "TEXT", 1, None, 0),
    ]


def test_tasks() -> None:
    assert columns("agent_tasks") == [
        ("id", "TEXT", 0, None, 1),
        ("session_id", "TEXT", 1, None, 0),
        ("goal", "TEXT", 1, None, 0),
        ("status", "TEXT", 1, "'planned'", 0),
        ("current_step", "INTEGER", 1, "0", 0),
        ("total_steps", "INTEGER", 1, "0", 0),
        ("created_at", "TEXT", 1, None, 0),
        ("updated_at", "TEXT", 1, None, 0),
    ]


def test_steps() -> None:
    assert columns("agent_task_steps") == [
        ("id", "INTEGER", 0, None, 1),
        ("task_id", "TEXT", 1, None, 0),
        ("step_index", "INTEGER", 1, None, 0),
        ("action", "TEXT", 1, None, 0),
        ("input", "TEXT", 0, None, 0),
        ("output", "TEXT", 0, None, 0),
        ("status", "TEXT", 1, "'pending'", 0),
        ("error", "TEXT", 0, None, 0),
        ("started_at", "TEXT", 0, None, 0),
        ("completed_at", "TEXT", 0, None, 0),
    ]


def test_tool_states() -> None:
    assert columns("agent_tool_states") == [
        ("task_id", "TEXT", 1, None, 1),
        ("tool_name", "TEXT", 1, None, 2),
        ("status", "TEXT", 1, "'idle'", 0),
        ("retry_count", "INTEGER", 1, "0", 0),
        ("max_retries", "INTEGER", 1, "3", 0),
        ("last_result", "TEXT", 0, None, 0),
        ("last_error", "TEXT", 0, None, 0),
        ("rate_limit_reset_at", "TEXT", 0, None, 0),
    ]
