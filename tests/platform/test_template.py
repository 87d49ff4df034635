"""A project in the official template's layout runs in its folder with no change."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.platform.projects import template, write
from tests.runtime.edge import edge

from localedge.isolate.packages import add_packages, unused_packages

HERE = f"{sys.version_info[0]}.{sys.version_info[1]}"
OTHER = f"{sys.version_info[0]}.{sys.version_info[1] + 1}"
BROKEN = "raise ImportError('no native workers')\n"

ENTRY = """
from pathlib import Path

import annotated_types
import only_in_the_project
from submodule import get_hello_message
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        owner = "theirs" if hasattr(annotated_types, "IS_THEIRS") else "ours"
        return Response(f"{get_hello_message()} {only_in_the_project.NAME} {owner}")
"""


def environment(folder: Path, name: str, python: str, files: dict[str, str | bytes]) -> None:
    """A virtual environment of that Python with these packages, as tools leave one behind."""
    packages = f"{name}/lib/python{python}/site-packages"
    write(folder, {f"{name}/pyvenv.cfg": f"home = /nowhere\nversion_info = {python}.1\n"})
    write(folder, {f"{packages}/{file}": text for file, text in files.items()})


@pytest.fixture
def path(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """`sys.path`, which is what it was after the test."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    return sys.path


@pytest.mark.processes
@pytest.mark.anyio
async def test_an_existing_project_runs_in_its_folder_with_no_change(tmp_path: Path) -> None:
    template(tmp_path, ENTRY)
    write(
        tmp_path,
        {
            "src/submodule.py": "def get_hello_message():\n    return 'hello'\n",
            "package.json": "{}",
            "uv.lock": "",
            "python_modules/workers/__init__.py": BROKEN,
        },
    )
    environment(
        tmp_path,
        ".venv",
        HERE,
        {
            "only_in_the_project.py": "NAME = 'found'\n",
            "annotated_types.py": "IS_THEIRS = True\n",
            "workers/__init__.py": BROKEN,
            "pyodide/__init__.py": BROKEN,
        },
    )
    environment(tmp_path, ".venv-workers", HERE, {"workers/__init__.py": BROKEN})

    async with edge(tmp_path) as server:
        answer = await server.get("/")

    assert answer.text == "hello found ours"


def test_a_venv_of_another_python_is_named_and_not_used(tmp_path: Path, path: list[str]) -> None:
    environment(tmp_path, ".venv", OTHER, {"some.py": ""})
    before = list(path)

    add_packages(tmp_path)

    assert path == before
    assert f"the project's .venv is of Python {OTHER}" in (unused_packages(tmp_path) or "")


def test_a_venv_of_the_same_python_needs_no_warning(tmp_path: Path) -> None:
    environment(tmp_path, ".venv", HERE, {"some.py": ""})

    assert unused_packages(tmp_path) is None


def test_the_environment_that_runs_localedge_is_not_added_again(
    tmp_path: Path, path: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    environment(tmp_path, ".venv", HERE, {"some.pth": "/somewhere\nimport nowhere\n"})
    monkeypatch.setattr(sys, "prefix", str(tmp_path / ".venv"))
    before = list(path)

    add_packages(tmp_path)

    assert path == before


def test_packages_for_emscripten_never_get_on_the_path(tmp_path: Path, path: list[str]) -> None:
    theirs = tmp_path / ".venv-workers" / "lib" / f"python{HERE}" / "site-packages"
    wheels = tmp_path / "python_modules"
    for folder in (theirs, wheels):
        folder.mkdir(parents=True)
    environment(tmp_path, ".venv", HERE, {"all.pth": f"{theirs}\n{wheels}\n"})
    path.append(str(theirs))

    add_packages(tmp_path)

    assert str(tmp_path / ".venv" / "lib" / f"python{HERE}" / "site-packages") in path
    assert str(theirs) not in path
    assert str(wheels) not in path


@pytest.mark.processes
def test_what_the_environment_of_localedge_has_comes_first(tmp_path: Path) -> None:
    environment(tmp_path, ".venv", HERE, {"pydantic.py": "raise ImportError\n", "extra.py": ""})
    program = (
        "from pathlib import Path; from localedge.isolate.packages import add_packages;"
        f"add_packages(Path({str(tmp_path)!r})); import extra, pydantic; print(pydantic.VERSION)"
    )

    shown = subprocess.run(
        [sys.executable, "-c", program], check=True, capture_output=True, text=True, timeout=30
    ).stdout

    assert shown.strip()


@pytest.mark.processes
@pytest.mark.anyio
async def test_a_config_with_a_byte_order_mark_runs(tmp_path: Path) -> None:
    template(
        tmp_path,
        """
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                return Response("read")
        """,
    )
    config = tmp_path / "wrangler.jsonc"
    config.write_bytes(b"\xef\xbb\xbf" + config.read_bytes())

    async with edge(tmp_path) as server:
        answer = await server.get("/")

    assert answer.text == "read"


CLIENTS = """
import json
from urllib.request import urlopen

import httpx
from workers import Response, WorkerEntrypoint, fetch

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        url = self.env.UPSTREAM
        with urlopen(url) as answer:
            found = [answer.read().decode()]
        with httpx.Client(trust_env=False) as client:
            found.append(client.get(url).text)
        async with httpx.AsyncClient(trust_env=False) as client:
            found.append((await client.get(url)).text)
        found.append(await (await fetch(url)).text())
        return Response.json(found)
"""
UPSTREAM = """
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response("upstream")
"""


@pytest.mark.processes
@pytest.mark.anyio
async def test_http_clients_work_in_handlers_synchronous_ones_too(tmp_path: Path) -> None:
    template(tmp_path / "upstream", UPSTREAM)

    async with edge(tmp_path / "upstream") as upstream:
        template(tmp_path / "mine", CLIENTS, vars={"UPSTREAM": upstream.run.url})
        async with edge(tmp_path / "mine") as server:
            answer = await server.get("/")

    assert answer.json() == ["upstream"] * 4
