"""Pages that are to be followed do what they say: their files and commands are carried out."""

from __future__ import annotations

import asyncio
import itertools
import json
import shlex
from collections.abc import AsyncIterator
from contextlib import AsyncExitStack
from pathlib import Path

import httpx
import pytest
from tests.demo.processes import process
from tests.demo.server import LOCALEDGE, free_port
from tests.docs.pages import DOCS, Block, blocks
from tests.waiting import wait_until

pytestmark = [pytest.mark.anyio, pytest.mark.processes]


class Reader:
    """Somebody who does what the page says, in a folder, with one server and one browser."""

    def __init__(self, folder: Path, stack: AsyncExitStack, http: httpx.AsyncClient) -> None:
        self._folder = folder
        self._stack = stack
        self._http = http
        self._url = f"http://127.0.0.1:{(port := free_port())}"
        self._port = str(port)
        self._log = folder / "dev.log"
        self.said: list[str] = []
        self.waiting: asyncio.Task[httpx.Response] | None = None

    async def do(self, block: Block) -> None:
        """What the mark of a block asks for."""
        if block.mark == "file":
            (self._folder / block.name).write_text(block.text, "utf-8")
        elif block.mark == "run":
            for line in block.text.splitlines():
                self.said.append(await self._run(shlex.split(line)))
        elif block.mark == "serve":
            await self._serve(shlex.split(block.text))
        elif block.mark == "background":
            self.waiting = asyncio.ensure_future(self._curl(shlex.split(block.text)))
            await wait_until(self._is_busy, within_s=10)
        elif block.mark == "prints":
            assert json.loads(self.said[-1]) == json.loads(block.text), block

    async def _run(self, words: list[str]) -> str:
        if words[0] == "cd":
            self._folder /= words[1]
            return ""
        if words[0] == "curl":
            return (await self._curl(words)).text
        assert words[0] == "localedge"
        child = await asyncio.create_subprocess_exec(
            LOCALEDGE,
            *words[1:],
            stdin=asyncio.subprocess.DEVNULL,
            stdout=asyncio.subprocess.PIPE,
            stderr=asyncio.subprocess.STDOUT,
            cwd=self._folder,
        )
        async with asyncio.timeout(60):
            output, _ = await child.communicate()
        assert child.returncode == 0, output.decode()
        return output.decode()

    async def _curl(self, words: list[str]) -> httpx.Response:
        given = dict(itertools.pairwise(words))
        headers = dict([given["-H"].split(": ")]) if "-H" in given else {}
        method = given.get("-X", "POST" if "-d" in given else "GET")
        url = words[1].replace("localhost:8787", self._url.removeprefix("http://"))
        content = given.get("-d")
        return await self._http.request(method, f"http://{url}", headers=headers, content=content)

    async def _serve(self, words: list[str]) -> None:
        (config,) = self._folder.glob("wrangler*")
        command = [LOCALEDGE, *words[1:], "-c", str(config), "--port", self._port]
        await self._stack.enter_async_context(process(command, log=self._log))
        await wait_until(self._answers, within_s=30)

    async def _answers(self) -> bool:
        try:
            return (await self._http.get(f"{self._url}/cdn-cgi/localedge/status")).is_success
        except httpx.TransportError:
            return False

    async def _is_busy(self) -> bool:
        # A seat is being held, the second one.
        return self._log.read_text("utf-8", errors="replace").count("hold a seat") == 2


@pytest.fixture
async def reader(tmp_path: Path) -> AsyncIterator[Reader]:
    async with (
        httpx.AsyncClient(trust_env=False, timeout=30) as http,
        AsyncExitStack() as stack,
    ):
        yield Reader(tmp_path, stack, http)


async def test_who_follows_the_tutorial_sees_a_killed_worker_resume(reader: Reader) -> None:
    for block in blocks(DOCS / "tutorial.md"):
        await reader.do(block)

    assert reader.waiting is not None
    killed = await reader.waiting
    assert killed.status_code == 500
    assert killed.headers["x-localedge-outcome"] == "internalError"
    log = reader.said[-1]
    assert log.count("search a flight to Porto") == 1
    assert log.count("confirm seat") == 2
    keys = [
        line.split("with key ")[1].split()[0] for line in log.splitlines() if "with key" in line
    ]
    assert len(keys) == 3
    assert len(set(keys)) == 2


async def test_who_follows_the_page_on_consistency_sees_an_old_value_for_a_minute(
    reader: Reader,
) -> None:
    for block in blocks(DOCS / "how-to" / "eventual-consistency.md"):
        await reader.do(block)

    before, _, still, _, after = reader.said
    assert (before, still, after) == ("none", "none", "dark")
