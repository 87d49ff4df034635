"""`localedge trace` and `localedge doctor team`, on a database that a team has used."""

from __future__ import annotations

import asyncio
import json
import shutil
from pathlib import Path

import pytest
from tests.edgestate.world import d1_binding
from tests.migrations.command_line import run_command
from tests.team.world import PATIENT, Team, claimed

from edgestate.team import Cache, D1Record, Tally, Versioned, traced
from localedge.binding import BindingWrapper
from localedge.kv.namespace import KvNamespace
from localedge.kv.redis import connect
from localedge.probe import Probe

CONFIG = """\
name = "tested"
main = "entry.py"
compatibility_date = "2026-11-01"
compatibility_flags = ["python_workers"]

[[d1_databases]]
binding = "DB"
database_name = "team-db"
database_id = "team"
"""


@pytest.fixture
def project(tmp_path: Path, empty_database: Path, anyio_backend: str) -> Path:
    """A project whose team has finished one of two subtasks."""
    folder = tmp_path / "project"
    (folder / ".localedge" / "d1").mkdir(parents=True)
    (folder / "entry.py").write_text("", "utf-8")
    (folder / "wrangler_like.toml").write_text(CONFIG, "utf-8")
    file = Path(shutil.copy(empty_database, folder / ".localedge" / "d1" / "team.sqlite"))
    asyncio.run(work(file))
    return folder


async def work(file: Path) -> None:
    async with d1_binding(file, is_migrated=True) as db:
        team = Team(db, D1Record(db, deadlines=PATIENT))
        with traced("the-trace"):
            await team.goal("first", "second")
            worker = await team.worker()
            await worker.board.complete(await claimed(worker), 1, summary="one")


async def change(file: Path, sql: str, *, is_migrated: bool = True) -> None:
    async with d1_binding(file, is_migrated=is_migrated) as db:
        await db.prepare(sql).run()


def test_trace_prints_the_life_of_a_goal_across_agents(project: Path) -> None:
    found = run_command(["trace", "goal"], project)

    lines = found.stdout.splitlines()
    assert found.exit == 0, found.stderr
    assert lines[0].startswith("goal is pending, review none, attempt 1, version 1")
    assert any("planner" in line and "split into 2 subtasks" in line for line in lines)
    assert any("worker-1" in line and "task completed" in line for line in lines)
    assert lines[-1].endswith("events of 2 agents, the-trace.")


def test_trace_prints_json(project: Path) -> None:
    found = run_command(["trace", "the-trace", "--db", "team-db", "--json"], project)

    document = json.loads(found.stdout)
    seqs = [event["seq"] for event in document["events"]]
    assert found.exit == 0
    assert seqs == sorted(seqs)
    assert document["state"] is None


def test_trace_says_when_nothing_is_known(project: Path) -> None:
    found = run_command(["trace", "nobody"], project)

    assert found.exit == 1
    assert "trace/unknown" in found.stderr


@pytest.mark.parametrize("command", [["trace", "goal"], ["doctor", "team"]])
def test_a_database_that_does_not_exist_is_named(project: Path, command: list[str]) -> None:
    unknown = run_command([*command, "--db", "NO"], project)
    unused = run_command([*command, "--persist-to", "elsewhere"], project)

    assert (unknown.exit, unused.exit) == (1, 4)
    assert "Couldn't find a D1 DB" in unknown.stderr
    assert "team/no-database" in unused.stderr


def test_a_database_without_the_teams_tables_says_what_to_do(project: Path) -> None:
    file = project / ".localedge" / "d1" / "team.sqlite"
    file.unlink()
    asyncio.run(change(file, "DROP TABLE team_events", is_migrated=False))

    found = run_command(["trace", "goal"], project)

    assert found.exit == 1
    assert "localedge d1 migrations apply DB" in found.stderr


def test_doctor_team_finds_nothing_in_a_healthy_database(project: Path) -> None:
    found = run_command(["doctor", "team", "--db", "DB"], project)

    assert found.exit == 0, found.text
    assert "Looked for 5 symptoms: found 0." in found.stdout


def test_doctor_team_shows_the_rows_and_what_to_do(project: Path) -> None:
    file = project / ".localedge" / "d1" / "team.sqlite"
    asyncio.run(change(file, "UPDATE task_snapshots SET payload = payload || ' '"))

    text = run_command(["doctor", "team"], project)
    data = json.loads(run_command(["doctor", "team", "--json"], project).stdout)

    assert text.exit == 1
    assert "FOUND a state cannot be restored" in text.stdout
    assert "version 1, why its checksum is wrong" in text.stdout
    assert [symptom["symptom"] for symptom in data if symptom["found"]] == ["unrestorable"]


def test_doctor_alone_is_as_before(project: Path) -> None:
    found = run_command(["doctor", "--json", "--port", "0"], project)

    assert "checks" in json.loads(found.stdout)


def test_doctor_team_compares_the_cache_with_the_database(project: Path, valkey_url: str) -> None:
    cache = f'[localedge]\nredis_url = "{valkey_url}"\n\n[[kv_namespaces]]\nbinding = "CACHE"\n'
    config = project / "wrangler_like.toml"
    config.write_text(CONFIG + cache + f'id = "{project.parent.name}"\n', "utf-8")
    asyncio.run(keep_old_version(valkey_url, project.parent.name))

    found = run_command(["doctor", "team", "--kv", "CACHE"], project)

    assert found.exit == 1, found.text
    assert "the cache has another version than the database" in found.stdout
    assert "task_id second, stored 1, cached 0" in found.stdout


async def keep_old_version(url: str, namespace: str) -> None:
    async with connect(url) as connection:
        kv = BindingWrapper(KvNamespace(connection.store(namespace)), "CACHE", Probe())
        await Cache(kv, Tally()).put("task", "second", Versioned("an older one", 0))
        # The first was claimed at once: whichever it was, both are looked at.
        await Cache(kv, Tally()).put("task", "first", Versioned("an older one", 0))


async def say(file: Path, text: str) -> None:
    async with d1_binding(file, is_migrated=True) as db:
        team = Team(db, D1Record(db, deadlines=PATIENT))
        with traced("the-trace"):
            await (await team.planner()).decisions.record("goal", "split", text)


def test_what_an_agent_wrote_cannot_forge_a_line_or_move_the_cursor(project: Path) -> None:
    file = project / ".localedge" / "d1" / "team.sqlite"
    asyncio.run(say(file, "fine\n     9  task completed\x1b[2J\u202e"))

    found = run_command(["trace", "goal"], project)
    unknown = run_command(["trace", "a\x1b[2Jb"], project)

    assert r"reason=fine\n     9  task completed\x1b[2J\u202e" in found.stdout
    assert "\x1b" not in found.stdout + unknown.stderr
    assert not any(line.startswith("     9  task") for line in found.stdout.splitlines())
