"""`localedge d1 time-travel` and `d1 info`: what they print and what they refuse."""

from __future__ import annotations

import json
import time
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest
from tests.migrations.command_line import Output, run_command
from tests.migrations.projects import make_project, query

UNKNOWN = "00000009-00000001-00000000-" + 32 * "a"


def _travel(root: Path, *arguments: str, answer: str | None = None) -> Output:
    return run_command(["d1", "time-travel", *arguments], root, answer=answer)


def _execute(root: Path, sql: str) -> None:
    output = run_command(["d1", "execute", "DB", "--command", sql], root)
    assert output.exit == 0, output.text


def _json(output: Output) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(output.stdout)
    return found


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose database has one row."""
    make_project(tmp_path, {})
    _execute(tmp_path, "CREATE TABLE t (x); INSERT INTO t VALUES (1)")
    return tmp_path


def test_info_prints_a_bookmark_that_restore_takes(project: Path) -> None:
    bookmark = _json(_travel(project, "info", "DB", "--json"))["bookmark"]
    _execute(project, "DELETE FROM t")

    output = _travel(project, "restore", "DB", f"--bookmark={bookmark}")

    assert output.exit == 0, output.text
    assert query(project, "SELECT x FROM t") == [(1,)]


def test_info_is_in_wranglers_words(project: Path) -> None:
    output = _travel(project, "info", "DB")

    bookmark = _json(_travel(project, "info", "DB", "--json"))["bookmark"]
    assert output.stdout == f"The current bookmark is '{bookmark}'\n"
    assert f"localedge d1 time-travel restore DB --bookmark={bookmark}" in output.stderr


def test_restore_prints_the_bookmark_that_undoes_it(project: Path) -> None:
    bookmark = _json(_travel(project, "info", "DB", "--json"))["bookmark"]
    _execute(project, "INSERT INTO t VALUES (2)")
    said = _travel(project, "restore", "DB", "--bookmark", bookmark).stdout.splitlines()[-1]

    _travel(project, "restore", "DB", "--bookmark", said.rpartition(" ")[2])

    assert said.startswith("To undo this operation, you can restore to the previous bookmark: ")
    assert query(project, "SELECT x FROM t ORDER BY x") == [(1,), (2,)]


def test_restore_to_a_moment_takes_the_newest_copy_from_before(project: Path) -> None:
    taken = _json(_travel(project, "info", "DB", "--json"))["timestamp"]
    _execute(project, "DELETE FROM t")
    _travel(project, "info", "DB")

    output = _travel(project, "restore", "DB", "--timestamp", taken)

    assert output.exit == 0, output.text
    assert query(project, "SELECT x FROM t") == [(1,)]


def test_a_command_that_writes_leaves_a_way_back(project: Path) -> None:
    _execute(project, "DELETE FROM t")
    copies = _json(_travel(project, "info", "DB", "--json"))["copies"]
    before = [copy for copy in copies if copy["cause"] == "before"][-1]

    _travel(project, "restore", "DB", "--bookmark", before["bookmark"])

    assert query(project, "SELECT x FROM t") == [(1,)]


def test_a_migration_leaves_a_way_back(tmp_path: Path) -> None:
    make_project(tmp_path, {"0001_drop.sql": "DROP TABLE t;"})
    _execute(tmp_path, "CREATE TABLE t (x)")
    run_command(["d1", "migrations", "apply", "DB"], tmp_path)
    copies = _json(_travel(tmp_path, "info", "DB", "--json"))["copies"]
    before = [copy for copy in copies if copy["cause"] == "before"][-1]

    _travel(tmp_path, "restore", "DB", "--bookmark", before["bookmark"])

    assert query(tmp_path, "SELECT count(*) FROM t") == [(0,)]


def test_a_command_that_reads_keeps_no_copy(project: Path) -> None:
    before = _json(_travel(project, "info", "DB", "--json"))["copies"]

    _execute(project, "SELECT x FROM t")

    assert _json(_travel(project, "info", "DB", "--json"))["copies"] == before


def test_restore_prints_json(project: Path) -> None:
    bookmark = _json(_travel(project, "info", "DB", "--json"))["bookmark"]

    output = _travel(project, "restore", "DB", "--bookmark", bookmark, "--json")

    found = _json(output)
    assert found.keys() == {"bookmark", "message", "previous_bookmark"}
    assert bookmark < found["previous_bookmark"] < found["bookmark"]
    assert output.stderr == ""


@pytest.mark.parametrize(("answer", "rows"), [("n\n", []), ("\n", []), ("y\n", [(1,)])])
def test_restore_asks_a_person_first(
    project: Path, answer: str, rows: list[tuple[int, ...]]
) -> None:
    bookmark = _json(_travel(project, "info", "DB", "--json"))["bookmark"]
    _execute(project, "DELETE FROM t")

    output = _travel(project, "restore", "DB", "--bookmark", bookmark, answer=answer)

    assert "overwrite all data in database DB" in output.stderr
    assert query(project, "SELECT x FROM t") == rows


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ((), 2, "Provide either a timestamp or a bookmark"),
        (("--bookmark", UNKNOWN, "--timestamp", "1"), 2, "not both"),
        (("--bookmark", "yesterday"), 2, "is no bookmark"),
        (("--bookmark", UNKNOWN), 1, f"No copy is kept for the bookmark {UNKNOWN}"),
        (("--bookmark", UNKNOWN[:-1] + "G"), 2, "is no bookmark"),
        (("--timestamp", "yesterday"), 2, "Invalid timestamp 'yesterday'"),
        (("--timestamp", "2026-12-24"), 2, "Invalid timestamp '2026-12-24'"),
        (("--timestamp", "2026-02-31T10:00:00Z"), 2, "Invalid timestamp"),
        (("--timestamp", "2099-01-01T00:00:00Z"), 2, "provide a timestamp in the past"),
        (("--timestamp", "1"), 2, "provide a timestamp within the last 30 days"),
        (("--timestamp", "9" * 40), 2, "Invalid timestamp"),
        (("--timestamp", "-1"), 2, "Invalid timestamp"),
        (("--timestamp", f"{time.time() - 3600:.0f}"), 1, "No copy is kept from"),
        (("--timestamp", "now", "--remote"), 1, "local databases only"),
    ],
)
def test_what_cannot_be_restored_is_told_and_changes_nothing(
    project: Path, arguments: tuple[str, ...], code: int, says: str
) -> None:
    output = _travel(project, "restore", "DB", *arguments)

    assert output.exit == code
    assert says in output.text
    assert query(project, "SELECT x FROM t") == [(1,)]


def test_without_copies_it_says_how_to_get_some(tmp_path: Path) -> None:
    make_project(tmp_path, {})
    _execute(tmp_path, "SELECT 1")

    output = _travel(tmp_path, "restore", "DB", "--bookmark", UNKNOWN)

    assert "There are none yet" in output.text


@pytest.mark.parametrize("command", [("info",), ("restore", "--bookmark", UNKNOWN)])
def test_a_database_that_was_never_used_is_told(tmp_path: Path, command: tuple[str, ...]) -> None:
    make_project(tmp_path, {})

    output = _travel(tmp_path, command[0], "DB", *command[1:])

    assert output.exit == 4
    assert "never been used" in output.text


def test_info_at_a_moment_says_from_when_its_copy_is(project: Path) -> None:
    kept = _json(_travel(project, "info", "DB", "--json"))
    now = datetime.now(UTC).isoformat().replace("+00:00", "Z")

    output = _travel(project, "info", "DB", "--timestamp", now)

    assert output.stdout == (
        f"Timestamp '{now}' corresponds with bookmark '{kept['bookmark']}', "
        f"of {kept['timestamp']}.\n"
    )


def test_d1_info_counts_tables_and_copies(project: Path) -> None:
    found = _json(run_command(["d1", "info", "app", "--json"], project))

    assert found["name"] == "app"
    assert found["num_tables"] == 1
    assert found["database_size"] > 0
    assert found["time_travel_copies"] == 1


def test_d1_info_is_a_table_for_people(project: Path) -> None:
    output = run_command(["d1", "info", "DB"], project)

    assert "│ num_tables " in output.stdout
    assert "kB" in output.stdout


@pytest.mark.parametrize(
    ("key", "value"),
    [("time_travel_mb", -1), ("time_travel_mb", "1"), ("time_travel_copies", 0)],
)
def test_a_budget_that_is_none_is_told_with_its_key(tmp_path: Path, key: str, value: Any) -> None:
    make_project(tmp_path, {})
    config = tmp_path / "wrangler.jsonc"
    told = json.loads(config.read_text()) | {"localedge": {key: value}}
    config.write_text(json.dumps(told))

    output = _travel(tmp_path, "info", "DB")

    assert output.exit == 3
    assert f"[localedge] {key}: Input should be" in output.text


def test_without_a_budget_commands_keep_no_copies_by_themselves(tmp_path: Path) -> None:
    make_project(tmp_path, {})
    config = tmp_path / "wrangler.jsonc"
    told = json.loads(config.read_text()) | {"localedge": {"time_travel_mb": 0}}
    config.write_text(json.dumps(told))
    _execute(tmp_path, "CREATE TABLE t (x)")
    _execute(tmp_path, "DROP TABLE t")

    copies = _json(_travel(tmp_path, "info", "DB", "--json"))["copies"]

    assert [copy["cause"] for copy in copies] == ["asked"]
