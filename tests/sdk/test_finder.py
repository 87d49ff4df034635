"""The platform's modules are found in isolates only, and no bundle can hide them or us."""

from __future__ import annotations

import importlib
import sys
import traceback
from pathlib import Path

import pytest
from tests.sdk.conftest import LoadWorker

from localedge.errors import OperatorError
from localedge.sdk import finder
from localedge.sdk.dispatch import load_worker, worker_frames

HELLO = """
    from workers import Response, WorkerEntrypoint

    class Default(WorkerEntrypoint):
        async def fetch(self, request):
            return Response("hi")
"""


@pytest.mark.parametrize("name", ["workers", "js", "asgi", "pyodide"])
def test_the_platforms_modules_are_not_found_without_the_finder(name: str) -> None:
    with pytest.raises(ModuleNotFoundError):
        importlib.import_module(name)


@pytest.mark.parametrize(
    "name",
    ["workers", "workers.asgi", "workers.wsgi", "workers.rpc", "workers.workflows", "asgi", "js",
     "pyodide.ffi", "pyodide.http", "pyodide.code"],
)  # fmt: skip
def test_the_platforms_modules_are_found_with_the_finder(name: str, platform: None) -> None:
    assert importlib.import_module(name).__name__ == name


def test_installing_twice_installs_one_finder(platform: None) -> None:
    finder.install()

    assert sum(type(f).__module__ == finder.__name__ for f in sys.meta_path) == 1


def test_the_finder_comes_before_all_others(platform: None) -> None:
    assert type(sys.meta_path[0]).__module__ == finder.__name__


def test_a_workers_package_on_the_path_does_not_hide_ours(
    platform: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "workers.py").write_text("raise ImportError('No module named js')", "utf-8")
    monkeypatch.syspath_prepend(str(tmp_path))

    module = importlib.import_module("workers")

    assert hasattr(module, "WorkerEntrypoint")


def test_a_bundle_with_a_folder_called_localedge_is_refused(
    load: LoadWorker, tmp_path: Path
) -> None:
    (tmp_path / "bundle" / "localedge").mkdir(parents=True)

    with pytest.raises(OperatorError, match="worker/reserved-folder"):
        load(HELLO)


def test_a_main_module_called_like_a_platform_module_is_refused(
    platform: None, tmp_path: Path
) -> None:
    main = tmp_path / "js.py"
    main.write_text("", "utf-8")

    with pytest.raises(OperatorError, match="worker/reserved-name"):
        load_worker(main)


def test_a_main_module_that_is_not_python_is_refused(platform: None, tmp_path: Path) -> None:
    main = tmp_path / "entry.mjs"
    main.write_text("", "utf-8")

    with pytest.raises(OperatorError, match="worker/not-python"):
        load_worker(main)


def test_a_module_beside_the_main_module_can_be_imported(load: LoadWorker) -> None:
    worker = load(
        "from sibling import NAME\n" + HELLO.replace("\n    ", "\n"), sibling="NAME = 'x'"
    )

    assert worker.module.NAME == "x"


def test_an_error_in_the_main_module_keeps_the_workers_own_traceback(load: LoadWorker) -> None:
    with pytest.raises(ZeroDivisionError) as raised:
        load("def broken():\n    return 1 / 0\n\nbroken()\n")

    frames = traceback.extract_tb(worker_frames(raised.value.__traceback__))
    assert [(Path(f.filename).name, f.name) for f in frames] == [
        ("entry.py", "<module>"),
        ("entry.py", "broken"),
    ]


def test_a_syntax_error_in_the_main_module_names_its_line(load: LoadWorker) -> None:
    with pytest.raises(SyntaxError) as raised:
        load("x = 1\nclass :\n")

    assert Path(raised.value.filename or "").name == "entry.py"
    assert raised.value.lineno == 2
    assert worker_frames(raised.value.__traceback__) is None


def test_a_main_module_that_failed_is_not_kept(load: LoadWorker) -> None:
    with pytest.raises(ZeroDivisionError):
        load("1 / 0")

    assert "entry" not in sys.modules


def test_loading_the_same_file_again_runs_it_again(load: LoadWorker) -> None:
    first = load("STATE = object()" + HELLO.replace("\n    ", "\n"))

    second = load("STATE = object()" + HELLO.replace("\n    ", "\n"))

    assert first.module.STATE is not second.module.STATE


def test_importing_env_without_a_host_says_so(platform: None) -> None:
    with pytest.raises(RuntimeError, match="no host is set"):
        importlib.import_module("workers").env  # noqa: B018


@pytest.mark.parametrize("name", sorted(finder.MISSING))
def test_a_module_that_is_only_on_the_platform_says_so(name: str, platform: None) -> None:
    with pytest.raises(ModuleNotFoundError, match=f"{name} exists on the platform") as raised:
        importlib.import_module(name)

    assert raised.value.name == name
