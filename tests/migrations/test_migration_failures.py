"""Migrations that cannot be applied: what is said, and what remains."""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.migrations.command_line import run_command
from tests.migrations.projects import database_of, ledger, make_project, query

APPLY = ["d1", "migrations", "apply", "DB"]
LIST = ["d1", "migrations", "list", "DB"]


def test_a_syntax_error_names_the_file_the_statement_and_what_remains(tmp_path: Path) -> None:
    bad = "CREATE TABLE b (x);\nSELEC 1;\nCREATE TABLE c (x);\n"
    good = {"0001_a.sql": "CREATE TABLE a (x);", "0003_c.sql": "SELECT 1;"}
    make_project(tmp_path, {**good, "0002_b.sql": bad})

    output = run_command(APPLY, tmp_path)

    assert output.exit == 1
    assert 'near "SELEC": syntax error' in output.stderr
    assert "0002_b.sql: Statement 2 of 4 failed: `SELEC 1`." in output.stderr
    assert "pending: 0002_b.sql, 0003_c.sql." in output.stderr
    assert "Applied 1 migration to DB (0001_a.sql) in" in output.stdout
    assert query(tmp_path, "SELECT name FROM sqlite_schema WHERE name IN ('b', 'c')") == []


def test_a_missing_semicolon_is_said_to_be_missing(tmp_path: Path) -> None:
    make_project(tmp_path, {"0001_a.sql": "CREATE TABLE a (x)"})

    output = run_command(APPLY, tmp_path)

    assert "The last statement lacks its `;`." in output.stderr


def test_a_failing_record_does_not_blame_a_semicolon(tmp_path: Path) -> None:
    make_project(tmp_path, {"0001_a.sql": "DROP TABLE d1_migrations;"})

    output = run_command(APPLY, tmp_path)

    assert "no such table: d1_migrations" in output.stderr
    assert "lacks its" not in output.stderr


def test_a_violation_at_commit_is_told_apart_from_a_failing_statement(tmp_path: Path) -> None:
    text = (
        "PRAGMA defer_foreign_keys = on; CREATE TABLE p (id INTEGER PRIMARY KEY);"
        "CREATE TABLE c (p REFERENCES p(id)); INSERT INTO c VALUES (1);"
    )
    make_project(tmp_path, {"0001_a.sql": text})

    output = run_command(APPLY, tmp_path)

    assert output.exit == 1
    assert "could not be committed" in output.stderr
    assert ledger(tmp_path) == []


def test_a_missing_folder_leaves_no_database_behind(tmp_path: Path) -> None:
    make_project(tmp_path, {})
    (tmp_path / "migrations").rmdir()

    output = run_command(APPLY, tmp_path)

    assert output.exit == 1
    assert f"No migrations present at {tmp_path.resolve()}/migrations." in output.text
    assert not (tmp_path / ".localedge").exists()


def test_an_unknown_database_is_answered_with_the_known_ones(tmp_path: Path) -> None:
    make_project(tmp_path, {})

    output = run_command(["d1", "migrations", "list", "NOPE"], tmp_path)

    assert output.exit == 1
    assert "'NOPE' in your wrangler.jsonc file.  It has DB." in output.stderr


def test_a_file_that_is_no_database_is_named_and_left_alone(tmp_path: Path) -> None:
    make_project(tmp_path, {"0001_a.sql": "SELECT 1;"})
    file = database_of(tmp_path)
    file.parent.mkdir(parents=True)
    file.write_bytes(b"this is no database" * 100)

    output = run_command(APPLY, tmp_path)

    assert output.exit == 4
    assert str(file) in output.stderr
    assert file.read_bytes() == b"this is no database" * 100


def test_a_folder_in_the_place_of_the_database_is_named(tmp_path: Path) -> None:
    make_project(tmp_path, {"0001_a.sql": "SELECT 1;"})
    database_of(tmp_path).mkdir(parents=True)

    output = run_command(LIST, tmp_path)

    assert output.exit == 4
    assert str(database_of(tmp_path)) in output.stderr


def test_a_read_only_database_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    make_project(tmp_path, {"0001_a.sql": "SELECT 1;"})
    run_command(LIST, tmp_path)
    # Permissions mean nothing to root, under whom CI runs; what asks for them can be told so.
    allowed = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK and allowed(path, mode))

    output = run_command(APPLY, tmp_path)

    assert output.exit == 4
    assert "d1/read-only" in output.stderr


def test_a_table_of_the_ledgers_name_without_its_columns_is_refused(tmp_path: Path) -> None:
    make_project(tmp_path, {"0001_a.sql": "CREATE TABLE a (x);"})
    database_of(tmp_path).parent.mkdir(parents=True)
    with closing(sqlite3.connect(database_of(tmp_path))) as connection:
        connection.execute("CREATE TABLE d1_migrations (id INTEGER)")

    output = run_command(APPLY, tmp_path)

    assert output.exit == 1
    assert "table d1_migrations has no column named name" in output.stderr
    assert query(tmp_path, "SELECT name FROM sqlite_schema WHERE name = 'a'") == []


def test_a_file_whose_name_is_not_utf8_is_refused(tmp_path: Path) -> None:
    make_project(tmp_path, {"0001_a.sql": "SELECT 1;"})
    (tmp_path / "migrations" / os.fsdecode(b"0002_\xff.sql")).write_text("SELECT 2;")

    output = run_command(APPLY, tmp_path)

    assert output.exit == 1
    assert "0002_" in output.stderr
    assert "is not UTF-8" in output.stderr


def test_a_broken_config_ends_with_the_exit_code_for_it(tmp_path: Path) -> None:
    (tmp_path / "wrangler.jsonc").write_text('{"name": ')

    output = run_command(LIST, tmp_path)

    assert output.exit == 3


def test_no_config_ends_with_the_exit_code_for_it(tmp_path: Path) -> None:
    assert run_command(LIST, tmp_path).exit == 3
