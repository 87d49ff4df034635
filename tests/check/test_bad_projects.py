"""Projects that are wrong in ways that people have: what `localedge dev` says and does."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.check.faults import CONFIG, build, handler, worker
from tests.runtime.edge import Edge, edge
from tests.waiting import wait_until

from localedge.sdk import finder
from localedge.sdk.host import Host, set_host
from localedge.sdk.lacking import hint, hinting

pytestmark = pytest.mark.anyio
BROKEN = "import js  # the Emscripten half of the SDK\nraise ImportError('no native half')\n"


@pytest.mark.parametrize(
    ("name", "said"),
    [
        (
            "workers.workflow",
            "localedge has no workers.workflow. The nearest is workers.workf",
        ),
        (
            "cloudflare",
            "localedge has no cloudflare. Bindings are in self.env; the module",
        ),
        ("pyodide.console", "localedge has no pyodide.console. Use pyodide.code.eval_code."),
        ("src.prices", "Imports begin in the folder src, here and on the edge: write"),
        ("torch", "No package in the environment that runs localedge has the module torch"),
        ("wsgi.inner", "localedge has no wsgi.inner. wsgi has no submodules."),
    ],
)
def test_a_module_that_is_not_there_is_named_with_the_nearest(
    name: str, said: str, tmp_path: Path
) -> None:
    error = ModuleNotFoundError(f"No module named '{name}'", name=name)

    assert hint(error, tmp_path / "src").startswith(said)


def test_a_relative_import_at_the_top_is_told_where_imports_begin(tmp_path: Path) -> None:
    error = ImportError("attempted relative import with no known parent package")

    assert "leave the dot out" in hint(error, tmp_path / "src")


@pytest.mark.parametrize(("edge_python", "has_note"), [((3, 99), True), ((3, 8), False)])
def test_syntax_that_only_the_edge_may_know_is_told(
    edge_python: tuple[int, int], has_note: bool, tmp_path: Path
) -> None:
    set_host(Host(python=edge_python))

    with pytest.raises(SyntaxError) as caught, hinting(tmp_path):
        compile("type X = = int", "entry.py", "exec")
    set_host(None)

    notes = getattr(caught.value, "__notes__", [])
    assert any("the edge has 3.99, which may know more" in note for note in notes) == has_note


def test_an_error_of_the_workers_own_gets_no_hint(tmp_path: Path) -> None:
    assert hint(ImportError("not today"), tmp_path) == ""


BROKEN_WORKERS = {
    "good": handler("return Response(Response.__module__)"),
    "lacking": worker("from workers import Responze\n"),
    "twice": {
        "src/entry.py": handler("pass")["src/entry.py"] + "\n\nasync def on_fetch(r):\n    pass\n",
        "wrangler.jsonc": CONFIG.replace("2026-10-01", "2025-08-13"),
    },
}


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edge]:
    """A project with an SDK that cannot be imported here, and two that cannot be loaded."""
    folder = tmp_path_factory.mktemp("bad")
    for name, files in BROKEN_WORKERS.items():
        config = files.get("wrangler.jsonc", CONFIG).replace('"shop"', f'"{name}"', 1)
        build(folder / name, {**files, "wrangler.jsonc": config})
    for version in ("python3.11", "python3.12", "python3.13", "python3.14"):
        packages = folder / "good" / ".venv-workers" / "lib" / version / "site-packages"
        for name in sorted(finder.OFFERED):
            (packages / name).mkdir(parents=True)
            (packages / name / "__init__.py").write_text(BROKEN, "utf-8")
    (folder / "good" / "src" / "workers.py").write_text(BROKEN, "utf-8")
    configs = [word for name in BROKEN_WORKERS for word in ("-c", f"../{name}/wrangler.jsonc")]
    async with edge(folder / "good", *configs) as running:
        yield running


async def failure(server: Edge, name: str) -> str:
    """Why the worker `name` was not loaded."""

    async def known() -> str | None:
        workers = (await server.get("/cdn-cgi/localedge/status")).json()["workers"]
        found: str | None = next(w["failure"] for w in workers if w["name"] == name)
        return found

    return str(await wait_until(known))


@pytest.mark.processes
async def test_a_name_that_we_lack_is_told_with_the_nearest_one(server: Edge) -> None:
    line = await server.wait_log("localedge has no")

    assert line == "localedge has no workers.Responze. The nearest is Response."
    assert "Responze" in await failure(server, "lacking")


@pytest.mark.processes
async def test_two_entrypoints_are_told(server: Edge) -> None:
    assert "Cannot define multiple default entrypoints" in await failure(server, "twice")


@pytest.mark.processes
async def test_a_broken_venv_workers_is_never_imported(server: Edge) -> None:
    answer = await server.get("/")

    assert (answer.status_code, answer.text) == (200, "workers.response")
