"""Secrets: files, the process, and what is let through; beyond the recorded cases."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.project.projects import loaded, refused, toml, write

from localedge.project import dotenv

ENTRIES = [
    ("export A=1", {"A": "1"}),
    ("  export  A = 1 ", {"A": "1"}),
    ("A.b-c_d=1", {"A.b-c_d": "1"}),
    ("A B=1", {}),
    ("É=1\nB=2", {"B": "2"}),
    ("A='x' y", {"A": "'x' y"}),
    ("A=`x\\`y`", {"A": "x\\`y"}),
    ("A=\u00a0x\u00a0", {"A": "x"}),
    ("A=1\r\rB=2", {"A": "1", "B": "2"}),
    ("A=x#y", {"A": "x"}),
    ("__proto__=1\nB=2", {"B": "2"}),
]


@pytest.mark.parametrize(("text", "values"), ENTRIES)
def test_a_line_is_read_as_dotenv_reads_it(text: str, values: dict[str, str]) -> None:
    assert dotenv.parse(text) == values


EXPANSIONS = [
    ({"A": "a", "B": "${A:-x}${A:+y}"}, {"A": "a", "B": "ay"}),
    ({"A": "", "B": "${A+y}|${A-x}"}, {"A": "", "B": "|x"}),
    ({"B": "${A:-${C:-deep}}"}, {"B": "deep"}),
    ({"A": "a", "B": "${A-x-y}"}, {"A": "a", "B": "a"}),
    ({"B": "${A:-x:-y}"}, {"B": "x:-y"}),
    ({"A": "1", "B": "\\${A} $A"}, {"A": "1", "B": "${A} 1"}),
    ({"A": "$B", "B": "$A"}, {"A": "", "B": ""}),
]


@pytest.mark.parametrize(("parsed", "expanded"), EXPANSIONS)
def test_references_are_replaced_as_dotenv_expand_replaces_them(
    parsed: dict[str, str], expanded: dict[str, str]
) -> None:
    assert dotenv.expand(parsed, {}) == expanded


def test_a_reference_that_grows_comes_to_an_end() -> None:
    assert dotenv.expand({"B": "$A"}, {"A": "x${A}"}) == {"B": "x"}


def test_the_process_wins_over_files_and_its_dollars_stay() -> None:
    assert dotenv.expand({"A": "file", "B": "$A"}, {"A": "p$B"}) == {"A": "p$B", "B": "p$B"}


def test_a_file_of_the_folder_of_the_command_is_in_the_process_environment(
    tmp_path: Path,
) -> None:
    toml(tmp_path, '[secrets]\nrequired = ["TOKEN"]\n')
    write(tmp_path, {"src/.env": "TOKEN=from src\n"})

    assert loaded(tmp_path / "src").secrets == {"TOKEN": "from src"}


def test_secrets_of_an_environment_on_the_command_line_come_from_its_files(
    tmp_path: Path,
) -> None:
    toml(tmp_path, "[env.s]\n")
    write(tmp_path, {".env": "A=1\nB=1\n", ".env.s": "A=2\n", ".env.s.local": "C=${A}\n"})

    project = loaded(tmp_path, environment="s")

    assert project.secrets == {"A": "2", "B": "1", "C": "2"}
    assert project.secrets_from == (".env", ".env.s", ".env.s.local")


def test_an_environment_file_that_is_missing_is_passed_over(tmp_path: Path) -> None:
    toml(tmp_path, "")
    write(tmp_path, {".dev.vars": "A=1\n", "b.env": "B=2\n"})

    project = loaded(tmp_path, env_files=(Path("a.env"), Path("b.env")))

    assert (project.secrets, project.secrets_from) == ({"B": "2"}, ("b.env",))


def test_the_switch_for_env_files_counts_for_named_ones_too(tmp_path: Path) -> None:
    toml(tmp_path, "")
    write(tmp_path, {"a.env": "A=1\n"})

    project = loaded(
        tmp_path,
        env_files=(Path("a.env"),),
        process_env={"CLOUDFLARE_LOAD_DEV_VARS_FROM_DOT_ENV": "false"},
    )

    assert (project.secrets, project.secrets_from) == ({}, ())


def test_commands_that_run_no_worker_read_no_secrets(tmp_path: Path) -> None:
    toml(tmp_path, "")
    (tmp_path / ".dev.vars").mkdir()

    assert loaded(tmp_path, to_run=False).secrets == {}


def test_a_switch_is_true_or_false(tmp_path: Path) -> None:
    toml(tmp_path, "")

    error = refused(tmp_path, process_env={"CLOUDFLARE_INCLUDE_PROCESS_ENV": "yes"})

    assert 'to be "true" or "false", but got "yes"' in error.message


def test_dev_vars_that_cannot_be_read_is_named_as_seen_from_the_command(tmp_path: Path) -> None:
    toml(tmp_path, "")
    (tmp_path / ".dev.vars").mkdir()
    (tmp_path / "src").mkdir()

    assert 'file "../.dev.vars":' in refused(tmp_path / "src").message
