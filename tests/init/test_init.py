"""`localedge init`: a project that runs, and passes its own tests and the check."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest
from tests.runtime.edge import edge

from localedge.cli.agent import library_folder
from localedge.cli.check import examine
from localedge.cli.main import main
from localedge.port.scaffold import Library, create, project_name
from localedge.project import load
from localedge.project.options import load_arguments

LIBRARY = Library(library_folder(), "1.0")


def run(*arguments: str) -> int:
    with pytest.raises(SystemExit) as caught:
        main(["init", *arguments])
    assert isinstance(caught.value.code, int)
    return caught.value.code


def test_it_makes_the_layout_of_the_official_template(tmp_path: Path) -> None:
    made = create(tmp_path / "My Notes")

    assert made.name == "my-notes"
    assert {"src/entry.py", "wrangler.jsonc", "pyproject.toml", "package.json"} < set(made.files)
    document = tomllib.loads((tmp_path / "My Notes/pyproject.toml").read_text("utf-8"))
    assert document["project"]["requires-python"] == ">=3.12"
    assert document["project"]["dependencies"] == []
    assert document["dependency-groups"]["dev"] == ["workers-py", "workers-runtime-sdk"]


def test_the_check_finds_nothing_in_it(tmp_path: Path) -> None:
    create(tmp_path / "notes")

    (arguments,) = load_arguments(cwd=tmp_path / "notes", process_env={})
    assert examine(arguments)[1] == []
    assert load(**arguments).warnings == ()


def test_what_was_made_is_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert run("notes") == 0
    assert capsys.readouterr().out == (
        "Created notes with 9 files.\nNext: cd notes && localedge d1 migrations apply DB "
        "&& localedge dev\n"
    )


def test_json_names_the_files(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert run("--json") == 0
    told = json.loads(capsys.readouterr().out)
    assert told["folder"] == str(tmp_path)
    assert all((tmp_path / name).is_file() for name in told["files"])


def test_with_edgestate_it_has_what_vendor_would_make(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert run("--with", "edgestate") == 0
    capsys.readouterr()
    with pytest.raises(SystemExit):
        main(["agent", "vendor"])

    assert capsys.readouterr().out.startswith("Nothing to do: src/edgestate and its ")
    document = tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))
    assert document["project"]["dependencies"] == ["pydantic"]


def test_the_check_finds_no_error_in_an_agent(tmp_path: Path) -> None:
    create(tmp_path / "agent", library=LIBRARY)

    (arguments,) = load_arguments(cwd=tmp_path / "agent", process_env={})
    rules = {finding.rule.id for finding in examine(arguments)[1]}
    # Which pydantic is installed here is this machine's own.
    assert rules <= {"package-version"}
    assert load(**arguments).warnings == ()


def test_a_folder_with_a_space_in_its_name_is_quoted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert run("my notes") == 0
    assert "Next: cd 'my notes' && localedge" in capsys.readouterr().out


def test_an_empty_name_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert run("") == 2
    assert "init/no-folder: the folder's name is empty." in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []


def test_another_library_is_refused(tmp_path: Path) -> None:
    assert run(str(tmp_path), "--with", "langgraph") == 2
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("there", ["pyproject.toml", "wrangler.toml", "src/entry.py"])
def test_nothing_is_overwritten(
    tmp_path: Path, there: str, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / there).parent.mkdir(exist_ok=True)
    (tmp_path / there).write_text("mine", "utf-8")

    assert run(str(tmp_path)) == 1
    assert there in capsys.readouterr().err
    assert [p for p in tmp_path.rglob("*") if p.is_file()] == [tmp_path / there]
    assert (tmp_path / there).read_text("utf-8") == "mine"


def test_a_folder_with_other_things_in_it_is_fine(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("mine", "utf-8")

    assert run(str(tmp_path)) == 0


def test_a_folder_that_is_a_file_is_refused_and_nothing_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "migrations").write_text("mine", "utf-8")

    assert run(str(tmp_path)) == 1
    assert "init/cannot-write" in capsys.readouterr().err
    assert [entry.name for entry in tmp_path.rglob("*")] == ["migrations"]


@pytest.mark.parametrize(
    ("folder", "name"),
    [
        ("shop", "shop"),
        ("Shop 2!", "shop-2"),
        ("__", "worker"),
        ("x" * 70, "x" * 54),
    ],
)
def test_the_folder_gives_the_name(tmp_path: Path, folder: str, name: str) -> None:
    assert project_name(tmp_path / folder) == name


@pytest.mark.processes
@pytest.mark.anyio
async def test_dev_runs_it(tmp_path: Path) -> None:
    create(tmp_path)

    async with edge(tmp_path) as server:
        answer = await server.get("/")

    assert (answer.status_code, answer.text) == (200, "Hello, World!")


@pytest.mark.processes
@pytest.mark.slow
@pytest.mark.anyio
@pytest.mark.parametrize(("library", "passed"), [(None, b"3 passed"), (LIBRARY, b"2 passed")])
async def test_its_own_tests_pass(tmp_path: Path, library: Library | None, passed: bytes) -> None:
    create(tmp_path, library=library)

    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "pytest", "-q", "-p", "anyio", "-p", "localedge.testing.plugin"),
        cwd=tmp_path,
        # Other plugins of this environment take a second to import.
        env={**os.environ, "PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    async with asyncio.timeout(60):
        said, _ = await process.communicate()

    assert process.returncode == 0, said.decode()
    assert passed in said
