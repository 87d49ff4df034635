"""What the `d1` commands print, ask and answer beyond the recorded cases."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest
from tests.migrations.command_line import Output, run_command
from tests.migrations.projects import ledger, make_project, query

TWO = {"0001_a.sql": "CREATE TABLE a (x);", "0002_b.sql": "INSERT INTO a VALUES (1);"}


def _d1(root: Path, *arguments: str, answer: str | None = None) -> Output:
    return run_command(["d1", *arguments], root, answer=answer)


def _script(root: Path, *arguments: str | bytes) -> subprocess.CompletedProcess[bytes]:
    script = str(Path(sys.executable).parent / "localedge")
    command = [script, "d1", *arguments]
    return subprocess.run(command, cwd=root, capture_output=True, timeout=60, check=False)


def test_list_prints_nothing_but_the_table_on_standard_output(tmp_path: Path) -> None:
    make_project(tmp_path, TWO)

    output = _d1(tmp_path, "migrations", "list", "DB")

    assert output.stdout == (
        "Migrations to be applied:\n"
        "┌────────────┐\n│ Name       │\n├────────────┤\n"
        "│ 0001_a.sql │\n├────────────┤\n│ 0002_b.sql │\n└────────────┘\n"
    )
    assert output.stderr == ""


def test_apply_ends_with_a_counted_sentence(tmp_path: Path) -> None:
    make_project(tmp_path, TWO)

    output = _d1(tmp_path, "migrations", "apply", "DB")

    last = output.stdout.splitlines()[-1]
    assert last.startswith("Applied 2 migrations to DB (0001_a.sql, 0002_b.sql) in ")


@pytest.mark.parametrize(
    ("arguments", "printed"),
    [
        (("list", "DB"), {"pending": ["0001_a.sql", "0002_b.sql"]}),
        (
            ("apply", "DB"),
            {
                "applied": [
                    {"name": "0001_a.sql", "commands": 2},
                    {"name": "0002_b.sql", "commands": 2},
                ]
            },
        ),
        (("list", "NOPE"), {"error": {"text": "Couldn't find a D1 DB with the name or binding"}}),
    ],
)
def test_migrations_print_json(
    tmp_path: Path, arguments: tuple[str, ...], printed: dict[str, object]
) -> None:
    make_project(tmp_path, TWO)

    found = json.loads(_d1(tmp_path, "migrations", *arguments, "--json").stdout)

    if "error" in found:
        found["error"]["text"] = found["error"]["text"].partition(" 'NOPE'")[0]
    assert found == printed


def test_a_failing_apply_prints_what_stays_applied_beside_the_error(tmp_path: Path) -> None:
    make_project(tmp_path, {**TWO, "0003_c.sql": "SELECT nope;"})

    output = _d1(tmp_path, "migrations", "apply", "DB", "--json")

    found = json.loads(output.stdout)
    assert output.exit == 1
    assert found["error"]["text"].startswith("no such column: nope")
    assert [done["name"] for done in found["applied"]] == list(TWO)


def test_create_prints_json(tmp_path: Path) -> None:
    make_project(tmp_path, TWO)

    output = _d1(tmp_path, "migrations", "create", "DB", "next one", "--json")

    path = tmp_path.resolve() / "migrations" / "0003_next_one.sql"
    assert json.loads(output.stdout) == {"name": "0003_next_one.sql", "path": str(path)}
    assert path.exists()


def test_create_never_overwrites_a_file(tmp_path: Path) -> None:
    names = {"99999999999999999999_a.sql": "", "100000000000000000000_x.sql": "kept"}
    make_project(tmp_path, names)

    output = _d1(tmp_path, "migrations", "create", "DB", "x")

    assert output.exit == 1
    assert (tmp_path / "migrations" / "100000000000000000000_x.sql").read_text() == "kept"


def test_a_person_is_asked_before_migrations_are_applied(tmp_path: Path) -> None:
    make_project(tmp_path, TWO)

    output = _d1(tmp_path, "migrations", "apply", "DB", answer="n\n")

    assert output.exit == 0
    assert "About to apply 2 migration(s)" in output.stderr
    assert ledger(tmp_path) == []


def test_a_person_who_says_yes_gets_what_was_announced(tmp_path: Path) -> None:
    make_project(tmp_path, TWO)

    _d1(tmp_path, "migrations", "apply", "DB", answer="y\n")

    assert ledger(tmp_path) == list(TWO)


@pytest.mark.parametrize("flag", ["--yes", "-y"])
def test_yes_asks_nobody(tmp_path: Path, flag: str) -> None:
    make_project(tmp_path, TWO)

    output = _d1(tmp_path, "migrations", "apply", "DB", flag, answer="")

    assert "About to apply" not in output.stderr
    assert ledger(tmp_path) == list(TWO)


def test_a_person_who_wants_no_folder_gets_none(tmp_path: Path) -> None:
    make_project(tmp_path, {})
    (tmp_path / "migrations").rmdir()

    output = _d1(tmp_path, "migrations", "create", "DB", "x", answer="n\n")

    assert output.exit == 1
    assert not (tmp_path / "migrations").exists()


def test_a_terminal_shows_rows_as_a_table(tmp_path: Path) -> None:
    make_project(tmp_path, {})
    sql = "SELECT 1 AS a, NULL AS b, 'x\ny' AS c, x'01' AS d; SELECT 1 WHERE 0"

    output = _d1(tmp_path, "execute", "DB", "--command", sql, answer="")

    assert output.stdout == (
        "┌───┬──────┬───┬─────┐\n│ a │ b    │ c │ d   │\n├───┼──────┼───┼─────┤\n"
        "│ 1 │ null │ x │ [1] │\n│   │      │ y │     │\n└───┴──────┴───┴─────┘\n"
    )


def test_json_is_json_on_a_terminal_too(tmp_path: Path) -> None:
    make_project(tmp_path, {})

    output = _d1(tmp_path, "execute", "DB", "--command", "SELECT 1 AS a", "--json", answer="")

    assert json.loads(output.stdout)[0]["results"] == [{"a": 1}]


def test_numbers_are_printed_as_javascript_prints_them(tmp_path: Path) -> None:
    make_project(tmp_path, {})
    sql = "SELECT 1.0 AS a, 9223372036854775807 AS b, 1e21 AS c, -0.0 AS d, 1e400 AS e"

    output = _d1(tmp_path, "execute", "DB", "--command", sql, "--json")

    shown = output.stdout.replace(" ", "").replace("\n", "")
    assert '{"a":1,"b":9223372036854776000,"c":1e+21,"d":0,"e":null}' in shown


def test_a_failing_execute_says_where_and_that_nothing_was_changed(tmp_path: Path) -> None:
    make_project(tmp_path, {})

    output = _d1(tmp_path, "execute", "DB", "--command", "CREATE TABLE a (x); SELEC 1")

    assert output.exit == 1
    assert "Statement 2 of 2 failed: `SELEC 1`. Nothing was changed." in output.stderr
    assert output.stdout == ""


@pytest.mark.parametrize(
    "arguments",
    [
        ("migrations", "list", "DB", "--remote"),
        ("migrations", "apply", "DB", "--remote"),
        ("execute", "DB", "--command", "SELECT 1", "--remote"),
        ("execute", "DB", "--command", "SELECT 1", "--remote", "--preview"),
    ],
)
def test_the_edge_is_refused_with_a_way_out(tmp_path: Path, arguments: tuple[str, ...]) -> None:
    make_project(tmp_path, TWO)

    output = _d1(tmp_path, *arguments)

    assert output.exit == 1
    assert "Cannot use --remote: localedge has local databases only." in output.stderr
    assert "use wrangler for the database at the edge" in output.stderr


@pytest.mark.parametrize(
    "arguments",
    [(), ("migrations",), ("migrations", "apply"), ("migrations", "apply", "DB", "--dry-run")],
)
def test_a_wrong_command_line_ends_with_the_exit_code_for_it(
    tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    make_project(tmp_path, TWO)

    assert _d1(tmp_path, *arguments).exit == 2


@pytest.mark.slow
def test_the_console_script_prints_results_only_on_standard_output(tmp_path: Path) -> None:
    make_project(tmp_path, TWO)

    done = _script(tmp_path, "execute", "DB", "--command", "SELECT 'é' AS a", "--json")

    (result,) = json.loads(done.stdout)
    assert result["results"] == [{"a": "é"}]
    assert result["success"] is True


@pytest.mark.slow
def test_the_console_script_takes_bytes_that_are_not_utf8(tmp_path: Path) -> None:
    make_project(tmp_path, {})

    done = _script(tmp_path, "execute", "DB", "--json", b"--command=SELECT '\xff' AS a")

    assert json.loads(done.stdout)[0]["results"] == [{"a": "\ufffd"}]


@pytest.mark.slow
def test_the_console_script_applies_and_ends_with_its_exit_code(tmp_path: Path) -> None:
    make_project(tmp_path, {**TWO, "0003_c.sql": "SELECT nope;"})

    done = _script(tmp_path, "migrations", "apply", "app")

    assert done.returncode == 1
    assert query(tmp_path, "SELECT x FROM a") == [(1,)]
    assert b"no such column: nope" in done.stderr
