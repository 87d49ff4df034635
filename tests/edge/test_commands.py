"""`localedge verify` and `localedge dev --record` as people run them."""

from __future__ import annotations

import asyncio
import json
import shutil
import signal
import sys
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.edge.conftest import MakeProject
from tests.waiting import wait_until

from localedge.supervisor.state import read_run

pytestmark = [pytest.mark.edge, pytest.mark.anyio]

_ITEMS = """
import uuid
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        path = request.url.partition("//")[2].partition("/")[2]
        if request.method == "POST":
            item = {"id": str(uuid.uuid4()), **(await request.json())}
            await self.env.KV.put(item["id"], item["name"], expirationTtl=600)
            made = {"location": f"{request.url}/{item['id']}"}
            return Response.json(item, status=201, headers=made)
        name = await self.env.KV.get(path.removeprefix("items/") or "none")
        return Response.json({"name": name}, status=200 if name else 404)
"""
_API = {
    "openapi": "3.1.0",
    "paths": {
        "/items": {
            "post": {"requestBody": {"content": {"application/json": {"example": {"name": "hat"}}}}}
        },
        "/items/{id}": {
            "get": {"parameters": [{"name": "id", "in": "path", "example": "not there"}]}
        },
    },
}


async def localedge(*arguments: str | Path) -> tuple[int, str, str]:
    """The exit code and output of a command."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "localedge.cli", *map(str, arguments)),
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    said, errors = await process.communicate()
    return process.returncode or 0, said.decode(), errors.decode()


@asynccontextmanager
async def dev(root: Path, state: Path, *options: str | Path) -> AsyncIterator[str]:
    """The address of a server that runs until the end."""
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "localedge.cli", "dev", "--port", "0"),
        *("--config", str(root / "wrangler.toml"), "--persist-to", str(state), *map(str, options)),
        stderr=asyncio.subprocess.DEVNULL,
    )
    try:
        run = await wait_until(lambda: read_run(state), within_s=30)
        assert run is not None
        yield run.url
    finally:
        process.send_signal(signal.SIGINT)
        await process.wait()


async def clicked(url: str) -> None:
    """A client has made an item and looked at it."""
    async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
        made = (await client.post("/items", json={"name": "hat"})).json()
        (await client.get(f"/items/{made['id']}")).raise_for_status()


def steps(said: str) -> list[tuple[str, int]]:
    report: dict[str, Any] = json.loads(said)
    return [(step["the real parts"], len(step["differences"])) for step in report["steps"]]


async def test_a_recorded_session_is_replayed_with_each_sides_own_ids(
    project: MakeProject, tmp_path: Path
) -> None:
    root, session = project(_ITEMS).root, tmp_path / "session.jsonl"
    async with dev(root, tmp_path / "state", "--record", session) as url:
        await clicked(url)

    code, said, errors = await localedge("verify", session, "-c", root / "wrangler.toml", "--json")

    assert (code, errors) == (0, "")
    assert steps(said) == [("201", 0), ("200", 0)]
    assert json.loads(said)["state"] == []


async def test_an_openapi_document_is_tried_on_both_sides(
    project: MakeProject, tmp_path: Path
) -> None:
    root, file = project(_ITEMS).root, tmp_path / "api.json"
    file.write_text(json.dumps(_API))

    code, said, errors = await localedge("verify", file, "-c", root / "wrangler.toml", "--json")

    assert (code, errors) == (0, "")
    assert steps(said) == [("201", 0), ("404", 0)]


async def test_a_worker_at_a_url_is_asked_the_same(project: MakeProject, tmp_path: Path) -> None:
    root, session = project(_ITEMS).root, tmp_path / "session.jsonl"
    async with dev(root, tmp_path / "state", "--record", session) as url:
        await clicked(url)
        config = root / "wrangler.toml"
        code, said, errors = await localedge("verify", session, "-c", config, "--url", url)

    assert (code, errors) == (0, "")
    assert f"Compared 2 steps on localedge and {url}: answers are the same." in said


async def test_another_worker_at_the_url_is_a_difference(
    project: MakeProject, tmp_path: Path
) -> None:
    root = project(_ITEMS).root
    other = tmp_path / "other"
    shutil.copytree(root, other)
    (other / "src" / "entry.py").write_text(_ITEMS.replace("404", "410"))
    async with dev(other, tmp_path / "state") as url:
        code, said, _ = await localedge("verify", "-c", root / "wrangler.toml", "--url", url)

    assert code == 1
    assert "GET /  404 / 410" in said
    assert said.endswith("1 difference.\n")


@pytest.mark.parametrize(
    ("options", "code", "says"),
    [
        (("--url", "http://127.0.0.1:9"), 4, "verify/unreachable"),
        (("--url", "trips.example"), 2, "verify/bad-url"),
        (("--url", "https://x.example/?a=1"), 2, "verify/bad-url"),
        (("--match", "no-regex"), 2, "verify/bad-option"),
        (("--match", "x=("), 2, "verify/bad-pattern"),
        (("gone.toml",), 2, "verify/cannot-read"),
        (("--package", "uvloop"), 1, "verify/no-edge-build"),
        (("-c", "nothing.toml"), 3, "nothing.toml"),
    ],
)
async def test_what_cannot_be_compared_is_refused(
    project: MakeProject, options: tuple[str, ...], code: int, says: str
) -> None:
    config = () if "-c" in options else ("-c", project(_ITEMS).root / "wrangler.toml")

    found, _, errors = await localedge("verify", *config, *options)

    assert says in errors
    assert found == code
