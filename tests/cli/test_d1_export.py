"""`localedge d1 export`: what it writes makes the same database again."""

from __future__ import annotations

import json
import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from tests.migrations.command_line import Output, run_command
from tests.migrations.projects import database_of, make_project, query

RECORDED = Path(__file__).with_name("recorded")
"""What `wrangler d1 export --local` of wrangler 4.164 made of the input, recorded 2026-12-01."""
TEXTS = [
    "plain",
    "it's",
    "two\nlines",
    "dos\r\nlines",
    "both \\n and\nand \\r\r",
    "(\\n0)\\n\n",
    "nul\0byte",
    "☃ é 😀",
    "",
]
NUMBERS = [1, -1, 0.1, 1.0, 1e300, 2**53 + 1, -(2**63), float("inf"), float("-inf")]


def _export(root: Path, *arguments: str) -> Output:
    return run_command(["d1", "export", "DB", *arguments], root)


def _filled(root: Path, *statements: str, values: list[Any] | None = None) -> Path:
    """A project whose database was made by these statements, and a column of `values`."""
    project = make_project(root, {})
    database_of(project).parent.mkdir(parents=True)
    with closing(sqlite3.connect(database_of(project), isolation_level=None)) as connection:
        connection.execute("PRAGMA journal_mode=WAL")
        for statement in statements:
            connection.execute(statement)
        for value in values or ():
            connection.execute("INSERT INTO t VALUES (?)", (value,))
    return project


def _made_again(script: Path, sql: str) -> list[tuple[Any, ...]]:
    with closing(sqlite3.connect(":memory:")) as connection:
        connection.executescript(script.read_text("utf-8"))
        return connection.execute(sql).fetchall()


@pytest.mark.parametrize("value", [*TEXTS, *NUMBERS, b"", b"\x00\xff'", None])
def test_a_value_is_the_same_after_export_and_import(tmp_path: Path, value: Any) -> None:
    project = _filled(tmp_path, "CREATE TABLE t (x)", values=[value])

    output = _export(project, "--output", "out.sql")

    assert output.exit == 0, output.text
    ((found, kind),) = _made_again(tmp_path / "out.sql", "SELECT x, typeof(x) FROM t")
    assert (found, kind) == query(project, "SELECT x, typeof(x) FROM t")[0]


def test_a_text_that_is_not_utf8_is_the_same_bytes(tmp_path: Path) -> None:
    project = _filled(
        tmp_path, "CREATE TABLE t (x)", "INSERT INTO t VALUES (CAST(X'61ff62' AS TEXT))"
    )

    _export(project, "--output", "out.sql")

    found = _made_again(tmp_path / "out.sql", "SELECT hex(x), typeof(x) FROM t")
    assert found == [("61FF62", "text")]


def test_the_schema_comes_in_the_order_in_which_it_can_be_made(tmp_path: Path) -> None:
    project = _filled(
        tmp_path,
        'CREATE TABLE "it" (id INTEGER PRIMARY KEY AUTOINCREMENT, n AS (id * 2))',
        "CREATE VIEW v AS SELECT id FROM it",
        "CREATE TABLE log (id)",
        "CREATE TRIGGER tr AFTER INSERT ON it BEGIN INSERT INTO log VALUES (new.id); END",
        "CREATE INDEX ix ON log (id)",
        "INSERT INTO it (id) VALUES (7)",
    )

    _export(project, "--output", "out.sql")

    assert (tmp_path / "out.sql").read_text("utf-8") == (
        "PRAGMA defer_foreign_keys=TRUE;\n"
        'CREATE TABLE IF NOT EXISTS "it" (id INTEGER PRIMARY KEY AUTOINCREMENT, n AS (id * 2));\n'
        'INSERT INTO "it" ("id") VALUES(7);\n'
        "CREATE TABLE log (id);\n"
        'INSERT INTO "log" ("id") VALUES(7);\n'
        "DELETE FROM sqlite_sequence;\n"
        'INSERT INTO "sqlite_sequence" ("name","seq") VALUES(\'it\',7);\n'
        "CREATE INDEX ix ON log (id);\n"
        "CREATE TRIGGER tr AFTER INSERT ON it BEGIN INSERT INTO log VALUES (new.id); END;\n"
        "CREATE VIEW v AS SELECT id FROM it;"
    )


def test_the_export_is_what_wrangler_writes_to_the_byte(tmp_path: Path) -> None:
    project = make_project(tmp_path, {})
    made = str(RECORDED / "export_input.sql")
    run_command(["d1", "execute", "DB", "--file", made], project)

    _export(project, "--output", "out.sql")

    assert (tmp_path / "out.sql").read_bytes() == (RECORDED / "export_output.sql").read_bytes()


def test_d1_execute_takes_what_export_wrote(tmp_path: Path) -> None:
    (tmp_path / "one").mkdir()
    (tmp_path / "other").mkdir()
    project = _filled(tmp_path / "one", "CREATE TABLE t (x)", values=[*TEXTS, None, b"\x00\xff"])
    other = make_project(tmp_path / "other", {})
    _export(project, "--output", "out.sql")

    output = run_command(["d1", "execute", "DB", "--file", "../one/out.sql"], other)

    assert output.exit == 0, output.text
    assert query(other, "SELECT x FROM t") == query(project, "SELECT x FROM t")


@pytest.mark.parametrize(
    ("flags", "kept"),
    [
        (("--no-data",), ["CREATE TABLE a (x)", "CREATE TABLE b (x)"]),
        (("--no-schema",), ["INSERT INTO a", "INSERT INTO b"]),
        (("--table", "b"), ["CREATE TABLE b (x)", "INSERT INTO b"]),
        (("--table", "a", "--no-schema"), ["INSERT INTO a"]),
    ],
)
def test_flags_choose_what_is_exported(
    tmp_path: Path, flags: tuple[str, ...], kept: list[str]
) -> None:
    project = _filled(
        tmp_path,
        "CREATE TABLE a (x)",
        "CREATE TABLE b (x)",
        "INSERT INTO a VALUES (1)",
        "INSERT INTO b VALUES (1)",
    )

    _export(project, "--output", "out.sql", *flags)

    lines = (tmp_path / "out.sql").read_text("utf-8").replace('"', "").splitlines()[1:]
    assert [line.partition(";")[0].partition(" (x) VALUES")[0] for line in lines] == kept


def test_the_platforms_own_tables_are_left_out(tmp_path: Path) -> None:
    project = _filled(tmp_path, "CREATE TABLE t (x)")
    run_command(["d1", "time-travel", "info", "DB"], project)

    _export(project, "--output", "out.sql")

    assert "_cf_" not in (tmp_path / "out.sql").read_text("utf-8")


def test_it_counts_what_it_wrote(tmp_path: Path) -> None:
    project = _filled(tmp_path, "CREATE TABLE t (x)", values=[1, 2])

    output = _export(project, "--output", "out.sql")

    assert output.stdout == "Exported 1 table with 2 rows to out.sql.\n"


def test_json_names_the_file_and_counts(tmp_path: Path) -> None:
    project = _filled(tmp_path, "CREATE TABLE t (x)", values=[1, 2])

    output = _export(project, "--output", "out.sql", "--json")

    assert json.loads(output.stdout) == {
        "output": str(tmp_path / "out.sql"),
        "tables": 1,
        "rows": 2,
    }
    assert output.stderr == ""


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        ((), 2, "Missing option '--output'"),
        (("--output", "x", "--no-data", "--no-schema"), 2, "cannot specify both"),
        (("--output", "x", "--table", "nope"), 1, 'no table "nope".  There are: t, f'),
        (("--output", "x", "--table", "_cf_METADATA"), 1, "no table"),
        (("--output", "no/such/folder/x"), 1, "cannot be written: No such file or directory"),
        (("--output", "."), 1, "Is a directory"),
        (("--output", "wrangler.jsonc/x"), 1, "Not a directory"),
        (("--output", "x", "--remote"), 1, "local databases only"),
        (("--output", "x"), 1, "cannot export databases with Virtual Tables (fts5)"),
    ],
)
def test_what_cannot_be_exported_is_told_and_leaves_no_file(
    tmp_path: Path, arguments: tuple[str, ...], code: int, says: str
) -> None:
    project = _filled(tmp_path, "CREATE TABLE t (x)", "CREATE VIRTUAL TABLE f USING fts5(a)")

    output = _export(project, *arguments)

    assert output.exit == code
    assert " ".join(says.split()) in output.text
    assert not (tmp_path / "x").exists()
    assert list(tmp_path.glob(".*.new")) == []


def test_a_file_from_before_stays_when_an_export_fails(tmp_path: Path) -> None:
    project = _filled(tmp_path, "CREATE TABLE t (x)", "CREATE VIRTUAL TABLE f USING fts5(a)")
    (tmp_path / "x").write_text("from before")

    _export(project, "--output", "x")

    assert (tmp_path / "x").read_text() == "from before"


def test_a_database_that_was_never_used_is_told(tmp_path: Path) -> None:
    output = _export(make_project(tmp_path, {}), "--output", "x")

    assert output.exit == 4
    assert "localedge d1 migrations apply DB" in output.text


def test_rows_that_d1_does_not_take_again_are_counted(tmp_path: Path) -> None:
    project = _filled(tmp_path, "CREATE TABLE t (x)", values=["a" * 100_000, "b"])

    output = _export(project, "--output", "x")

    assert "1 rows make statements of more than 100,000 bytes" in output.stderr
