"""What holds for each command: examples, JSON, help that fits a screen, errors with what to do."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.migrations.command_line import run_command
from typer.core import TyperGroup

from localedge.cli import nouns
from localedge.cli.help_text import examples
from localedge.cli.overview import SUMMARIES

ROOT = Path(__file__).parents[2]
SOURCES = (ROOT / "runtime", ROOT / "bindings")
WITHOUT_JSON = {("dev",)}
"""It prints nothing on standard output."""
WORDS_OF_OTHERS = {"kv/refused", "kv/input", "d1/flags", "d1/binary-file", "d1/cannot-read"}
WORDS_OF_OTHERS |= {"kv/no-namespaces", "kv/no-such-id", "config/not-found", "d1/refused"}
WORDS_OF_OTHERS |= {"d1/migrations-pattern", "d1/migration-name", "d1/several-transactions"}
"""The platform's or wrangler's own sentences, which say what to do themselves."""
OF_THE_API = {"kv/limit", "d1/limit", "kv/value", "kv/no-key", "kv/corrupt", "kv/cursor"}
"""What the page's API refuses of a program; the sentence names what is allowed."""
OF_A_TEST = {"explore/real-run-died"}
"""A defect of ours, which its reader can only report."""


def _walk(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    """All commands that can be run, with the words that run them."""
    if not isinstance(command, TyperGroup):
        yield path, command
        return
    context = typer.Context(command)
    for name in command.list_commands(context):
        yield from _walk(command.get_command(context, name), (*path, name))
    if command.invoke_without_command:
        yield path, command


COMMANDS = dict(_walk(typer.main.get_command(nouns.app), ()))


def _named(path: tuple[str, ...]) -> str:
    return " ".join(path)


def _options(command: Any) -> set[str]:
    return {option for parameter in command.params for option in parameter.opts}


def test_the_walk_finds_commands_of_all_depths() -> None:
    assert {("dev",), ("kv", "key", "put"), ("d1", "time-travel", "restore"), ("doctor",)} <= {
        *COMMANDS
    }


@pytest.mark.parametrize("path", COMMANDS, ids=_named)
def test_a_command_has_examples_that_can_be_parsed(path: tuple[str, ...]) -> None:
    found = examples(COMMANDS[path].help)

    assert found
    for line in found:
        words = re.findall(r"\"[^\"]*\"|'[^']*'|\S+", line.partition(" > ")[0])
        assert words[0] == "localedge"
        assert words[1 : 1 + len(path)] == [*path], line
        unknown = {word.partition("=")[0] for word in words if word.startswith("-")} - {
            option
            for parameter in COMMANDS[path].params
            for option in (*parameter.opts, *parameter.secondary_opts)
        }
        assert not unknown, line


@pytest.mark.parametrize("path", sorted(COMMANDS.keys() - WITHOUT_JSON), ids=_named)
def test_a_command_that_prints_prints_json_too(path: tuple[str, ...]) -> None:
    assert "--json" in _options(COMMANDS[path])


@pytest.mark.parametrize("path", COMMANDS, ids=_named)
def test_every_option_and_argument_says_what_it_is(path: tuple[str, ...]) -> None:
    silent = [p.name for p in COMMANDS[path].params if not getattr(p, "help", "x")]

    assert silent == []


def test_brackets_in_help_are_shown_and_no_markup() -> None:
    shown = run_command(["check", "--help"], ROOT, {"COLUMNS": "120"}).stdout

    assert "# localedge: ignore[rule] and the reason" in shown
    helps = [p.help for command in COMMANDS.values() for p in command.params if hasattr(p, "help")]
    assert [text for text in helps if text and "[" in text] == []


def test_help_fits_a_screen_of_80_by_24() -> None:
    for arguments in ([], ["--help"]):
        lines = run_command(arguments, ROOT, {"COLUMNS": "80"}).stdout.splitlines()

        # The line with the prompt is on the screen too.
        assert 10 < len(lines) < 24
        assert max(map(len, lines)) <= 80


def test_help_has_a_line_for_each_noun() -> None:
    lines = run_command(["--help"], ROOT).stdout.splitlines()

    assert SUMMARIES.keys() == nouns.NOUNS.keys()
    shown = [line.split()[0] for line in lines if line.startswith("  ")]
    assert shown == [*SUMMARIES]


def test_help_imports_no_noun() -> None:
    code = (
        "import sys; from localedge.cli import nouns\n"
        "try: nouns.run(['--help'])\n"
        "finally: print([m for m in nouns.NOUNS.values() if m in sys.modules], file=sys.stderr)"
    )

    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=60, check=False
    )

    assert done.stderr.strip() == "[]"


def test_examples_in_help_have_a_line_each() -> None:
    text = run_command(["d1", "export", "--help"], ROOT, {"COLUMNS": "80"}).stdout

    lines = [line.strip() for line in text.splitlines()]
    at = lines.index("Examples:")
    assert lines[at + 1] == "localedge d1 export DB --output backup.sql"
    assert lines[at + 2].startswith("localedge d1 export DB --output users.sql")


def _raised() -> Iterator[tuple[str, int, str]]:
    """Where an OperatorError without a hint is made, and its code."""
    for file in sorted(one for root in SOURCES for one in root.rglob("*.py")):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or getattr(node.func, "id", "") != "OperatorError":
                continue
            has_hint = len(node.args) > 2 and ast.unparse(node.args[2]) not in ("''", '""')
            if not has_hint and isinstance(node.args[0], ast.Constant):
                yield file.name, node.lineno, str(node.args[0].value)


def test_errors_say_what_to_do() -> None:
    silent = [one for one in _raised() if one[2] not in WORDS_OF_OTHERS | OF_THE_API | OF_A_TEST]

    assert silent == []


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_prints_a_script_for_each_shell(shell: str) -> None:
    output = run_command(["completion", "show", shell], ROOT)

    assert output.exit == 0
    assert "_LOCALEDGE_COMPLETE=complete_" + shell in output.stdout


def test_completion_goes_by_the_shell_of_the_environment() -> None:
    output = run_command(["completion", "show"], ROOT, {"SHELL": "/usr/bin/fish"})

    assert output.stdout.startswith("complete --command localedge")


def test_a_shell_without_completion_is_told() -> None:
    output = run_command(["completion", "show"], ROOT, {"SHELL": "/bin/tcsh"})

    assert output.exit == 2
    assert 'no completion for the shell "tcsh"' in output.stderr


def test_completion_is_installed_where_bash_looks(tmp_path: Path) -> None:
    home = {"HOME": str(tmp_path)}

    output = run_command(["completion", "install", "bash", "--json"], ROOT, home)

    assert output.exit == 0, output.text
    script = tmp_path / ".bash_completions" / "localedge.sh"
    assert "complete -o default -F _localedge_completion localedge" in script.read_text("utf-8")
    assert str(script) in (tmp_path / ".bashrc").read_text("utf-8")


@pytest.mark.parametrize(
    ("words", "found"),
    [
        ("localedge d", {"dev", "d1", "doctor"}),
        ("localedge d1 time-travel ", {"info", "restore"}),
        ("localedge d1 export --no-", {"--no-data", "--no-schema", "--no-local", "--no-remote"}),
    ],
)
def test_a_shell_completes_nouns_verbs_and_options(words: str, found: set[str]) -> None:
    environment = {
        **os.environ,
        "_LOCALEDGE_COMPLETE": "complete_bash",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split(" ")) - 1),
    }
    script = Path(sys.executable).with_name("localedge")

    done = subprocess.run(
        [script], env=environment, capture_output=True, text=True, timeout=60, check=False
    )

    assert found <= {*done.stdout.split()}


def test_a_real_bash_completes_with_the_script() -> None:
    program = """
eval "$(localedge completion show bash)"
COMP_WORDS=(localedge d1 time)
COMP_CWORD=2
_localedge_completion localedge
echo "${COMPREPLY[@]}"
"""
    folder = str(Path(sys.executable).parent)
    environment = {**os.environ, "PATH": f"{folder}{os.pathsep}{os.environ['PATH']}"}

    done = subprocess.run(
        ["bash", "-c", program],
        env=environment,
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )

    assert done.stdout == "time-travel\n", done.stderr


@pytest.mark.parametrize(
    ("word", "meant"), [("dve", 'Did you mean "dev"?'), ("xyzzy", "localedge --help lists them.")]
)
def test_an_unknown_command_is_told_with_the_one_that_is_meant(word: str, meant: str) -> None:
    output = run_command([word], ROOT)

    assert output.exit == 2
    assert output.stderr.startswith(f'usage/command: there is no command "{word}".')
    assert meant in output.stderr
