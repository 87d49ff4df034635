"""What the tests of the SDK use: the platform's modules, found while one test runs."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from textwrap import dedent
from typing import Any

import httpx
import pytest

from localedge.binding import EnvWrapper
from localedge.probe import Probe
from localedge.sdk import finder, stack_switch, web
from localedge.sdk.context import ExecutionContext
from localedge.sdk.dispatch import Worker, load_worker
from localedge.sdk.host import Host, set_host


@pytest.fixture
def platform(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """`workers`, `js`, `pyodide`, `asgi` can be imported in this test and are forgotten after."""
    monkeypatch.setattr(sys, "path", list(sys.path))
    before = set(sys.modules)
    finder.install()
    yield
    stack_switch.forget()
    finder.remove()
    for name in set(sys.modules) - before:
        if getattr(sys.modules[name], "__file__", None) is None:
            continue
        if "pytest-of-" in (sys.modules[name].__file__ or ""):
            del sys.modules[name]


class Bench:
    """A host whose env and network a test can set."""

    def __init__(self) -> None:
        self.probe = Probe()
        self.env = EnvWrapper({}, self.probe)

    def use(
        self, values: dict[str, Any] | None = None, network: httpx.AsyncBaseTransport | None = None
    ) -> EnvWrapper:
        """The process has this env and this network; the env is returned."""
        self.env = EnvWrapper(values or {}, self.probe)
        set_host(Host(self.probe, self.env, transport=network))
        return self.env


@pytest.fixture
def bench(platform: None) -> Iterator[Bench]:
    """A host for the test, without bindings and without a network at first."""
    made = Bench()
    made.use(network=httpx.MockTransport(lambda request: httpx.Response(404)))
    yield made
    set_host(None)


LoadWorker = Callable[..., Worker]


@pytest.fixture
def load(bench: Bench, tmp_path: Path) -> LoadWorker:
    """`load(code, **files)` is the worker whose main module is `code`."""

    def write_and_load(
        code: str,
        *,
        is_legacy: bool = False,
        allows_global_handlers: bool = True,
        **files: str,
    ) -> Worker:
        folder = tmp_path / "bundle"
        folder.mkdir(exist_ok=True)
        for name, text in files.items():
            (folder / f"{name}.py").write_text(dedent(text), "utf-8")
        main = folder / "entry.py"
        main.write_text(dedent(code), "utf-8")
        return load_worker(main, is_legacy=is_legacy, allows_global_handlers=allows_global_handlers)

    return write_and_load


class Client:
    """Sends requests to a worker as the runtime does."""

    def __init__(self, bench: Bench) -> None:
        self._bench = bench
        self.context = ExecutionContext()

    async def send(
        self,
        worker: Worker,
        path: str = "/",
        *,
        method: str = "GET",
        headers: list[tuple[str, str]] | None = None,
        body: Any = None,
    ) -> Answer:
        """The worker's whole answer; what it left to `waitUntil` is done."""
        self.context = ExecutionContext()
        request = web.Request(method, f"https://edge.test{path}", headers or [], body)
        response = await worker.fetch(request, self._bench.env, self.context)
        content = await response.read()
        await self.context.drain(5)
        return Answer(response.status, response.headers, content)


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client got."""

    status: int
    headers: web.Headers
    content: bytes

    @property
    def text(self) -> str:
        """The body as text."""
        return self.content.decode()

    @property
    def json(self) -> Any:
        """The body as JSON."""
        return json.loads(self.content)


@pytest.fixture
def client(bench: Bench) -> Client:
    return Client(bench)
