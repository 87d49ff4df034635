"""The tables: the document's rows are kept, and what must not be stored cannot be."""

from __future__ import annotations

import re
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.edgestate.world import MIGRATIONS, migrate

from edgestate import D1StateStore
from localedge.binding import BindingWrapper
from localedge.d1.database import D1Database
from localedge.d1.sqlite import open_engine
from localedge.errors import JsException
from localedge.probe import Probe

pytestmark = pytest.mark.anyio

ROOT = Path(__file__).parents[2]
FIRST, SECOND = "0001_create_agent_state.sql", "0002_guard_agent_state.sql"


@pytest.fixture
async def old(tmp_path: Path) -> AsyncIterator[D1Database]:
    """A database with the document's tables only."""
    async with open_engine(tmp_path / "old.sqlite") as engine:
        database = D1Database(engine)
        await migrate(database, FIRST)
        yield database


def wrapped(database: D1Database) -> Any:
    return BindingWrapper(database, "DB", Probe())


async def fill(db: Any) -> None:
    """Rows as the document's code leaves them: steps twice, statuses of any kind."""
    for sql in (
        "INSERT INTO agent_sessions VALUES ('s','u','active',3,'2026-12-01T00:00:00.000Z',"
        "'2026-12-01T00:00:00.000Z')",
        "INSERT INTO agent_sessions VALUES ('odd','u','sleeping',0,'x','not a date')",
        "INSERT INTO agent_tasks VALUES ('t','s','go','running',0,3,'c','u')",
        "INSERT INTO agent_tasks VALUES ('bad','s','go','done',0,0,'c','u')",
        "INSERT INTO agent_tool_states (task_id, tool_name) VALUES ('t','x')",
        *(
            "INSERT INTO agent_task_steps (task_id, step_index, action, output, status) "
            f"VALUES ('t',{index},'act','{output}','{status}')"
            for index, status, output in (
                (0, "pending", "0"),
                (0, "success", "1"),
                (0, "pending", "2"),
                (1, "running", "3"),
                (2, "pending", "4"),
                (2, "pending", "5"),
            )
        ),
    ):
        await db.prepare(sql).run()


async def test_rows_of_the_document_are_kept_and_made_whole(old: D1Database) -> None:
    await fill(wrapped(old))

    await migrate(old, SECOND)

    store = D1StateStore(wrapped(old))
    task = await store.get_task("t")
    assert task is not None
    assert (task.version, task.fence, task.current_step, task.status) == (1, 0, 1, "running")
    assert [(s.status, s.output) for s in task.steps] == [
        ("success", 1),
        ("running", 3),
        ("pending", 5),
    ]
    assert await store.get_tool_state("t", "x") is not None


async def test_a_step_that_ran_in_old_rows_asks_before_it_runs_again(old: D1Database) -> None:
    await fill(wrapped(old))

    await migrate(old, SECOND)

    task = await D1StateStore(wrapped(old)).get_task("t")
    assert task is not None
    assert task.steps[1].is_uncertain


async def test_a_status_that_does_not_exist_sets_its_task_aside(old: D1Database) -> None:
    await fill(wrapped(old))

    await migrate(old, SECOND)

    aside = await D1StateStore(wrapped(old)).list_quarantined()
    assert aside == {"bad": "its status was 'done'"}


async def test_a_session_without_a_readable_date_is_over(old: D1Database) -> None:
    await fill(wrapped(old))

    await migrate(old, SECOND)

    row = await wrapped(old).prepare("SELECT * FROM agent_sessions WHERE id = 'odd'").first()
    assert (row["status"], row["expires_at"]) == ("expired", 0)


async def test_old_rows_keep_their_references(old: D1Database) -> None:
    await fill(wrapped(old))

    await migrate(old, SECOND)

    broken = await wrapped(old).prepare("PRAGMA foreign_key_check").all()
    assert broken["results"] == []


@pytest.mark.parametrize(
    ("sql", "text"),
    [
        ("INSERT INTO agent_guard VALUES ('version')", "agent_version_conflict"),
        ("INSERT INTO agent_guard VALUES ('fence')", "agent_fence_lost"),
        ("INSERT INTO agent_guard VALUES ('context')", "agent_context_conflict"),
        ("INSERT INTO agent_guard VALUES (NULL)", "NOT NULL constraint failed"),
        ("UPDATE agent_tasks SET status = 'done'", "agent_transition_refused"),
        (
            "INSERT INTO agent_tasks (id, session_id, goal, status, created_at, updated_at) "
            "VALUES ('n', 's', 'go', 'done', 'c', 'u')",
            "agent_task_status",
        ),
        ("UPDATE agent_tasks SET version = 0", "agent_transition_refused"),
        ("UPDATE agent_tasks SET fence = -1", "agent_transition_refused"),
        ("UPDATE agent_sessions SET status = 'gone'", "agent_transition_refused"),
        (
            "INSERT INTO agent_sessions (id, user_id, status, created_at, last_active_at) "
            "VALUES ('n', 'u', 'gone', 'c', 'u')",
            "agent_session_status",
        ),
        ("UPDATE agent_sessions SET message_count = -1", "CHECK constraint failed"),
        ("UPDATE agent_task_steps SET status = 'odd' WHERE step_index = 2", "agent_step_status"),
        ("UPDATE agent_task_steps SET effect = NULL", "NOT NULL constraint failed"),
        ("UPDATE agent_task_steps SET status = 'pending'", "agent_transition_refused"),
        (
            "INSERT INTO agent_task_steps (task_id, step_index, action) VALUES ('t', 0, 'act')",
            "UNIQUE constraint failed",
        ),
        (
            "INSERT INTO agent_task_steps (task_id, step_index, action) VALUES ('no', 0, 'act')",
            "FOREIGN KEY constraint failed",
        ),
        ("INSERT INTO agent_tool_states (task_id, tool_name) VALUES ('t', '')", "CHECK"),
    ],
)
async def test_what_must_not_be_stored_cannot_be(old: D1Database, sql: str, text: str) -> None:
    await fill(wrapped(old))
    await migrate(old, SECOND)

    with pytest.raises(JsException, match=text):
        await wrapped(old).prepare(sql).run()


def test_every_check_of_a_column_that_may_be_null_says_so() -> None:
    text = (MIGRATIONS / SECOND).read_text("utf-8")
    columns = re.findall(
        r"^  (\w+) (TEXT|INTEGER)([^,]*(?:,[^,\n]*\))*[^,]*?)(?:,$|\n\))", text, re.M
    )
    checked = [(name, rest) for name, _, rest in columns if "CHECK" in rest]

    assert len(checked) > 12
    for name, rest in checked:
        is_never_null = "NOT NULL" in rest or "PRIMARY KEY" in rest
        assert is_never_null or "IS NULL OR" in rest, name


def test_the_projects_migrations_are_the_librarys() -> None:
    for file in MIGRATIONS.glob("*.sql"):
        assert (ROOT / "migrations" / file.name).read_bytes() == file.read_bytes()


def test_the_librarys_first_migration_is_the_documents_own_sql() -> None:
    text = (MIGRATIONS / FIRST).read_text("utf-8")

    assert text.startswith("-- migrations/0001_create_agent_state.sql\nCREATE TABLE agent_sessions")
    assert text.count("CREATE TABLE") == 4
