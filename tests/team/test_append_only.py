"""What is written once stays: the database refuses every way of changing or removing it."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

import pytest
from tests.edgestate.world import MIGRATIONS
from tests.team.world import Team, claimed

from edgestate.team import POLICIES, Subtask, examine
from edgestate.team.protections import PROTECTIONS
from localedge.errors import JsException

pytestmark = pytest.mark.anyio

REFUSED: Final = "agent_(append_only|identity_fixed|already_consumed|transition_refused)"
TABLES: Final = {
    "agent_messages": "seq",
    "task_status_history": "seq",
    "decision_log": "seq",
    "access_denials": "seq",
    "team_events": "seq",
    "dead_letters": "id",
    "task_results": "rowid",
    "message_deliveries": None,
    "task_dependencies": None,
    "team_agents": None,
    "contexts": None,
}
"""Each append-only table, with the column that numbers its rows."""


async def full(team: Team) -> None:
    """There is a row in every table of `TABLES`."""
    await team.goal(Subtask("a", "work"), Subtask("b", "work", after=("a",)))
    worker, critic = await team.worker(), await team.critic()
    await worker.board.complete(await claimed(worker), 1, summary="one")
    (task,) = await critic.reviews.open()
    await critic.reviews.reject(task, reason="wrong", max_attempts=1)
    await worker.messages.consume((await worker.messages.poll())[0])
    await worker.desk.denied("look at", "nothing")


async def content(team: Team, table: str) -> list[dict[str, object]]:
    return await team.rows(f"SELECT * FROM {table}")


WAYS: Final = {
    "update": "UPDATE {table} SET trace_id = 'forged'",
    "update or replace": "UPDATE OR REPLACE {table} SET trace_id = 'forged'",
    "update or ignore": "UPDATE OR FAIL {table} SET trace_id = 'forged'",
    "delete": "DELETE FROM {table}",
    "delete with a condition": "DELETE FROM {table} WHERE trace_id <> 'x'",
    "replace": "REPLACE INTO {table} SELECT * FROM {table}",
    "insert or replace": "INSERT OR REPLACE INTO {table} SELECT * FROM {table}",
    "replace with other content": (
        "INSERT OR REPLACE INTO {table} ({columns}) SELECT {forged} FROM {table}"
    ),
    "upsert": (
        "INSERT INTO {table} SELECT * FROM {table} WHERE TRUE "
        "ON CONFLICT DO UPDATE SET trace_id = 'forged'"
    ),
    "update from": "UPDATE {table} SET trace_id = o.trace_id FROM {table} AS o",
}


@pytest.mark.parametrize("way", WAYS)
async def test_nothing_that_is_append_only_is_changed_or_removed(team: Team, way: str) -> None:
    await full(team)
    for table in TABLES:
        before = await content(team, table)
        names = list(before[0])
        forged = ["'forged'" if name == "trace_id" else name for name in names]
        sql = WAYS[way].format(table=table, columns=", ".join(names), forged=", ".join(forged))

        with pytest.raises(JsException, match=REFUSED):
            await team.run(sql)

        assert await content(team, table) == before, table


PRAGMAS: Final = (
    "recursive_triggers = OFF",
    "recursive_triggers = ON",
    "ignore_check_constraints = ON",
    "defer_foreign_keys = ON",
    "legacy_alter_table = ON",
)


@pytest.mark.parametrize("way", ["update", "delete", "replace"])
async def test_no_pragma_that_the_database_takes_opens_a_way(team: Team, way: str) -> None:
    await full(team)
    sql = WAYS[way].format(table="agent_messages")

    for pragma in PRAGMAS:
        with pytest.raises(JsException, match="agent_append_only"):
            await team.db.batch([team.db.prepare(f"PRAGMA {pragma}"), team.db.prepare(sql)])


@pytest.mark.parametrize(
    "sql",
    [
        "PRAGMA writable_schema = ON",
        "UPDATE sqlite_master SET sql = NULL WHERE type = 'trigger'",
        "DELETE FROM sqlite_master WHERE type = 'trigger'",
    ],
)
async def test_the_schema_itself_cannot_be_written(team: Team, sql: str) -> None:
    with pytest.raises(JsException):
        await team.run(sql)


@pytest.mark.parametrize(
    "sql",
    [
        "DELETE FROM team_agents WHERE agent_id = 'planner'",
        "DELETE FROM task_status WHERE task_id = 'a'",
        "PRAGMA defer_foreign_keys = ON; DELETE FROM team_agents",
        "UPDATE task_status SET task_id = 'z' WHERE task_id = 'a'",
    ],
)
async def test_no_row_goes_because_the_row_that_it_refers_to_goes(team: Team, sql: str) -> None:
    await full(team)
    before = {table: await content(team, table) for table in TABLES}

    with pytest.raises(JsException):
        await team.db.exec(sql)

    assert {table: await content(team, table) for table in TABLES} == before


def test_no_table_of_the_team_is_emptied_by_a_cascade() -> None:
    text = "\n".join(path.read_text("utf-8") for path in MIGRATIONS.glob("*team*.sql"))

    assert "REFERENCES" in text
    assert not re.search(r"ON (DELETE|UPDATE)", text)


@pytest.mark.parametrize("number", [-1, 0])
async def test_a_row_comes_behind_all_others_and_never_before_them(team: Team, number: int) -> None:
    await full(team)
    unique = {"request_id": "request_id || 'x'", "version": "version + 99", "ref": "ref || 'x'"}
    for table, name in TABLES.items():
        if name not in ("seq", "id"):
            continue
        names = unique if name == "id" else {**unique, "id": "id || 'x'"}
        values = [
            str(number) if column == name else names.get(column, column)
            for column in list((await content(team, table))[0])
        ]
        sql = f"INSERT INTO {table} SELECT {', '.join(values)} FROM {table} LIMIT 1"

        with pytest.raises(JsException, match="agent_append_only"):
            await team.run(sql)


async def test_an_agent_that_replaces_itself_keeps_its_role(team: Team) -> None:
    await team.planner()
    await team.worker()

    for agent_id, role in (("worker-1", "critic"), ("usurper", "planner")):
        with pytest.raises(JsException, match="agent_identity_fixed"):
            await team.run(
                "INSERT OR REPLACE INTO team_agents VALUES (?, ?, 1, 't')", agent_id, role
            )

    rows = await team.rows("SELECT agent_id, role FROM team_agents ORDER BY role")
    assert [(row["agent_id"], row["role"]) for row in rows] == [
        ("planner", "planner"),
        ("worker-1", "worker"),
    ]


async def test_what_the_policies_call_append_is_append_only(team: Team) -> None:
    appended = {table for table, policy in POLICIES.items() if policy == "append"}

    # Counts only grow, by one statement each; nothing else is read from them.
    assert appended - {"team_counters"} <= set(TABLES)


def created(kind: str) -> set[str]:
    """The names of what the library's migrations for teams create."""
    text = "\n".join(path.read_text("utf-8") for path in Path(MIGRATIONS).glob("*team*.sql"))
    return set(re.findall(rf"^CREATE {kind} (\w+)", text, re.MULTILINE))


def test_every_trigger_and_unique_index_is_one_that_doctor_looks_for() -> None:
    named = {name for name in PROTECTIONS if not name.startswith("sqlite_autoindex")}

    assert named - {"write_requests"} == created("TRIGGER") | created("UNIQUE INDEX")


async def test_doctor_finds_a_trigger_that_somebody_dropped(team: Team) -> None:
    await team.run("DROP TRIGGER agent_messages_no_delete")
    await team.run("DROP TRIGGER event_of_message")

    (found,) = [symptom for symptom in await examine(team.record) if symptom.is_found]

    assert found.key == "repeated"
    assert [row["missing"] for row in found.evidence[0].rows] == [
        "agent_messages_no_delete",
        "event_of_message",
    ]


async def test_every_table_but_that_of_counts_has_the_trace_of_each_row(team: Team) -> None:
    for table in POLICIES.keys() - {"team_counters"}:
        columns = await team.rows(f"SELECT name, \"notnull\" FROM pragma_table_info('{table}')")

        assert {"name": "trace_id", "notnull": 1} in columns, table
