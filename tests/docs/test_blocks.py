"""Every block of code on every page: Python runs, files parse, commands are ones that exist.

The pages of rules have their blocks tested by tests/check; what is to be followed step by step is
carried out by test_followed.py.
"""

from __future__ import annotations

import ast
import json
import re
import shlex
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
import typer
from tests.docs.pages import DOCS, ROOT, Block, blocks, pages

from localedge.cli.nouns import NOUNS, app
from localedge.d1.sqlite import complete_statement
from localedge.project.jsonc import parse
from localedge.sdk import finder

PAGES = [page for page in pages() if DOCS / "check" not in page.parents]
BLOCKS = [block for page in PAGES for block in blocks(page) if block.text]
KINDS = {"python", "toml", "json", "jsonc", "sh", "", "sql", "yaml"}
TARGETS = set(re.findall(r"^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE))


def of(*languages: str) -> list[Block]:
    return [block for block in BLOCKS if block.language in languages]


def test_every_block_is_of_a_kind_that_is_tested() -> None:
    assert {block.language for block in BLOCKS} <= KINDS


@pytest.fixture(scope="module")
def platform() -> Iterator[None]:
    """`workers` and the rest can be imported, as in an isolate, and are forgotten after."""
    before = set(sys.modules)
    finder.install()
    yield
    finder.remove()
    for name in set(sys.modules) - before:
        del sys.modules[name]


@pytest.mark.parametrize("block", of("python"), ids=str)
def test_a_block_of_python_runs(block: Block, platform: None) -> None:
    tree = ast.parse(block.text, str(block))
    is_part = any(isinstance(node, ast.Await) for node in ast.walk(ast.Module(tree.body, [])))
    names: dict[str, Any] = {"__name__": "block"}

    if block.mark == "part":
        return
    exec(compile(tree, str(block), "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT * is_part), names)

    assert len(names) > 2


@pytest.mark.parametrize("block", of("toml"), ids=str)
def test_a_block_of_toml_parses(block: Block) -> None:
    assert tomllib.loads(block.text)


@pytest.mark.parametrize("block", of("json", "jsonc"), ids=str)
def test_a_block_of_json_parses(block: Block) -> None:
    assert json.loads(block.text) if block.language == "json" else parse(block.text)


def test_every_block_of_sql_is_whole() -> None:
    assert [str(block) for block in of("sql") if not complete_statement(block.text)] == []


def _commands(block: Block) -> Iterator[list[str]]:
    for line in block.text.replace("\\\n", " ").splitlines():
        try:
            words = shlex.split(line, comments=True)
        except ValueError:
            continue
        if words:
            yield words


@pytest.mark.parametrize("block", of("sh", ""), ids=str)
def test_a_command_on_a_page_is_one_that_exists(block: Block) -> None:
    for words in _commands(block):
        name = words[0].rpartition("/")[2]
        if name == "make":
            assert words[1] in TARGETS, words
        elif name == "localedge" and (block.language == "sh" or words[1] in NOUNS):
            _must_parse(words[1:])
        elif name.startswith("python") and words[1] == "-m":
            module = words[2].replace(".", "/")
            folder = ROOT / module
            assert folder.is_dir() or folder.with_suffix(".py").is_file(), words


def _must_parse(words: list[str]) -> None:
    """The command line is one that the command takes, up to where it would do something."""
    command: Any = typer.main.get_command(app)
    context = command.make_context("localedge", [], resilient_parsing=True)
    while hasattr(command, "get_command"):
        inner = command.get_command(context, words[0])
        assert inner is not None, words
        command, words = inner, words[1:]
        if not words or words[0].startswith("-"):
            break
        if hasattr(command, "get_command"):
            context = command.make_context(command.name, [], resilient_parsing=True)
    if "--help" not in words:
        known = {
            option for param in command.params for option in [*param.opts, *param.secondary_opts]
        }
        used = {word.partition("=")[0] for word in words if word.startswith("-") and word != "-"}
        assert {one for one in used if not one[1:].isdigit()} <= known, words


def test_shell_is_what_a_shell_reads(tmp_path: Path) -> None:
    script = tmp_path / "all.sh"
    script.write_text("".join(block.text for block in of("sh")), "utf-8")

    done = subprocess.run(["bash", "-n", script], capture_output=True, text=True, check=False)

    assert done.returncode == 0, done.stderr
