"""`strict`: what the edge enforces and a laptop does not, each with a key of its own."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

import httpx
import pytest
from tests.project.projects import loaded, toml
from tests.runtime.edge import Edge, edge, write_project
from tests.waiting import wait_until

from localedge.d1.migrations import apply_migrations
from localedge.isolate.call_limits import TOO_MANY
from localedge.project.local import STRICT, strictly

ROOT = Path(__file__).parents[2]
BINDINGS = """
[[kv_namespaces]]
binding = "KV"
id = "kv"
[[d1_databases]]
binding = "DB"
database_name = "db"
database_id = "db"
"""
ASKED = """\
import asyncio
import threading

from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        path = request.url.rpartition("/")[2]
        try:
            return Response.json({"answer": await getattr(self, path)()})
        except Exception as error:
            cause = getattr(error, "cause", None)
            return Response.json(
                {
                    "type": type(error).__name__,
                    "text": getattr(error, "message", str(error)),
                    "cause": cause and cause.message,
                    "after": getattr(self, "after", None),
                }
            )

    async def kv(self):
        for self.after in range(1100):
            await self.env.KV.get("a")

    async def bulk(self):
        for self.after in range(600):
            await self.env.KV.get([str(n) for n in range(3)])
        return self.after

    async def d1(self):
        for self.after in range(1100):
            await self.env.DB.prepare("SELECT 1").first()

    async def batches(self):
        one = self.env.DB.prepare("SELECT 1")
        for self.after in range(600):
            await self.env.DB.batch([one, one])
        return self.after

    async def writes(self):
        for self.after in range(3):
            await self.env.KV.put("a", str(self.after))

    async def thread(self):
        threading.Thread(target=print).start()

    async def pool(self):
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor() as pool:
            return pool.submit(len, "four").result()

    async def inline(self):
        here = threading.get_ident()
        return here == await asyncio.to_thread(threading.get_ident)
"""


@pytest.fixture(scope="module")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="module")
async def strict(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server with --strict; nothing of it is in the project's table."""
    folder = tmp_path_factory.mktemp("strict")
    write_project(folder, ASKED, config=BINDINGS)
    async with edge(folder, "--strict") as server:
        yield server


async def asked(server: Edge, path: str) -> dict[str, Any]:
    answer: dict[str, Any] = (await server.get(f"/{path}")).json()
    return answer


pytestmark = pytest.mark.anyio


def test_strict_turns_on_every_key_but_those_of_the_table(tmp_path: Path) -> None:
    toml(tmp_path, "[localedge]\nstrict = true\nthread_guard = false\n")

    local = loaded(tmp_path).local.model_dump()

    assert {key: local[key] for key in STRICT} == {**STRICT, "thread_guard": False}


def test_the_flag_turns_on_every_key_but_those_of_the_table(tmp_path: Path) -> None:
    toml(tmp_path, '[localedge]\nwrite_rate = "warn"\nisolates = 1\n')

    local = strictly(loaded(tmp_path)).local.model_dump()

    assert {key: local[key] for key in STRICT} == {**STRICT, "write_rate": "warn"}
    assert (local["strict"], local["isolates"]) == (True, 1)


def test_nothing_of_it_is_on_by_itself(tmp_path: Path) -> None:
    toml(tmp_path, "")

    local = loaded(tmp_path).local.model_dump()

    assert not [key for key, value in STRICT.items() if local[key] == value]


@pytest.mark.processes
async def test_the_1001st_operation_of_kv_is_refused(strict: Edge) -> None:
    assert await asked(strict, "kv") == {
        "type": "JsException",
        "text": TOO_MANY,
        "cause": None,
        "after": 1000,
    }


@pytest.mark.processes
async def test_the_1001st_query_of_d1_is_refused(strict: Edge) -> None:
    assert await asked(strict, "d1") == {
        "type": "JsException",
        "text": f"D1_ERROR: {TOO_MANY}",
        "cause": TOO_MANY,
        "after": 1000,
    }


@pytest.mark.processes
@pytest.mark.parametrize("path", ["bulk", "batches"])
async def test_a_bulk_read_and_a_batch_are_one_call_each(strict: Edge, path: str) -> None:
    assert await asked(strict, path) == {"answer": 599}


@pytest.mark.processes
async def test_two_writes_of_a_key_within_a_second_are_refused(strict: Edge) -> None:
    answer = await asked(strict, "writes")

    assert (answer["text"], answer["after"]) == ("KV PUT failed: 429 Too Many Requests", 1)


@pytest.mark.processes
@pytest.mark.parametrize("path", ["thread", "pool"])
async def test_a_thread_is_refused(strict: Edge, path: str) -> None:
    answer = await asked(strict, path)

    assert (answer["type"], answer["text"]) == ("RuntimeError", "can't start new thread")


@pytest.mark.processes
async def test_to_thread_runs_inline(strict: Edge) -> None:
    assert await asked(strict, "inline") == {"answer": True}


@pytest.mark.processes
@pytest.mark.parametrize(
    ("top", "text"),
    [
        ("import random\nrandom.random()", "Cannot use random.random() outside of request context"),
        ("from js import setTimeout\nsetTimeout(print, 0)", "Disallowed operation called within"),
        ("from js import crypto\ncrypto.randomUUID()", "Disallowed operation called within"),
    ],
)
async def test_a_worker_that_draws_at_import_does_not_load(
    tmp_path: Path, top: str, text: str
) -> None:
    write_project(tmp_path, f"{top}\n{ASKED}", config=BINDINGS, local="import_guard = true")

    async with edge(tmp_path) as server:
        answer = await server.get("/kv")

    assert answer.status_code == 500
    assert text in answer.text


@pytest.mark.processes
async def test_a_call_of_a_binding_that_module_scope_began_is_refused(tmp_path: Path) -> None:
    source = ASKED.replace(
        "class Default",
        "from workers import env\nEARLY = env.KV.get('a')\n\n\nclass Default",
        1,
    ).replace("async def kv(self):", "async def kv(self):\n        return await EARLY")
    write_project(tmp_path, source, config=BINDINGS, local="import_guard = true\nisolates = 1")

    async with edge(tmp_path) as server:
        answer = await asked(server, "kv")

    assert answer["text"].startswith("Disallowed operation called within global scope. ")


@pytest.mark.processes
async def test_without_its_key_nothing_is_refused(tmp_path: Path) -> None:
    write_project(tmp_path, f"import random\nrandom.random()\n{ASKED}", config=BINDINGS)

    async with edge(tmp_path) as server:
        assert await asked(server, "pool") == {"answer": 4}
        assert await asked(server, "writes") == {"answer": None}
        assert await asked(server, "kv") == {"answer": None}


@pytest.mark.processes
async def test_the_reference_worker_runs_under_strict(tmp_path: Path) -> None:
    for part in ("worker", "migrations"):
        shutil.copytree(ROOT / part, tmp_path / part)
    shutil.copy(ROOT / "wrangler_like.toml", tmp_path)
    project = loaded(tmp_path)
    await apply_migrations(project, project.d1_databases[0])

    async with edge(tmp_path, "--strict") as server:
        made = await server.http.post("/sessions", json={"userId": "u1"})
        found = await server.get(f"/sessions/{made.json().get('sessionId')}")

    assert (made.status_code, found.status_code) == (201, 200)
    assert found.json()["userId"] == "u1"


# --- the check in brief ---


@pytest.mark.processes
async def test_dev_says_in_one_line_what_the_check_found(tmp_path: Path) -> None:
    write_project(tmp_path, ASKED, config=BINDINGS)

    async with edge(tmp_path) as server:
        line = await server.wait_log("The check found ")

    assert line.startswith("The check found 3 errors and ")
    assert line.endswith("See: localedge check")


@pytest.mark.processes
async def test_the_check_does_not_come_before_the_first_response(tmp_path: Path) -> None:
    write_project(tmp_path, ASKED, config=BINDINGS)

    async with edge(tmp_path) as server:
        answer = await server.get("/inline")
        said = [line for line in server.log if line.startswith("The check found")]

    assert isinstance(answer, httpx.Response)
    assert said == []
    assert await wait_until(lambda: server.process.returncode == 0)
