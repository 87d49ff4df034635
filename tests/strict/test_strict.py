"""`strict`: what the edge enforces and a laptop does not, each with a key of its own."""

from __future__ import annotations

import shutil
from pathlib import Path
from typing import Any

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
async def started(tmp_path_factory: pytest.TempPathFactory) -> Any:
    """A server with --strict, and what was in its log when its first answer came."""
    folder = tmp_path_factory.mktemp("strict")
    write_project(folder, ASKED, config=BINDINGS)
    async with edge(folder, "--strict") as server:
        await server.get("/inline")
        yield server, [*server.log]


@pytest.fixture(scope="module")
def strict(started: tuple[Edge, list[str]]) -> Edge:
    """A server with --strict; nothing of it is in the project's table."""
    return started[0]


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


DRAWS = {
    "random": ("random.random()", "Cannot use random.random() outside of request context"),
    "timer": ("setTimeout(print, 0)", "Disallowed operation called within"),
    "crypto": ("crypto.randomUUID()", "Disallowed operation called within"),
    "subtle": (
        "subtle.SUBTLE['generateKey'].function({'name': 'HMAC', 'hash': 'SHA-256'}, 1, ['sign'])"
        ".send(None)",
        "Disallowed operation called within",
    ),
}


async def all_failures(server: Edge) -> dict[str, Any] | None:
    """Why each worker was not loaded, once none was."""
    workers = (await server.get("/cdn-cgi/localedge/status")).json()["workers"]
    found = {worker["name"]: worker["failure"] for worker in workers}
    return found if all(found.values()) else None


@pytest.mark.processes
async def test_workers_that_draw_at_import_do_not_load(tmp_path: Path) -> None:
    top = "import random\nfrom js import crypto, setTimeout\nfrom localedge.sdk.web import subtle\n"
    for name, (statement, _) in DRAWS.items():
        source = f"{top}{statement}\n{ASKED}"
        write_project(tmp_path / name, source, config=BINDINGS, local="import_guard = true")
        config = tmp_path / name / "wrangler_like.toml"
        config.write_text(config.read_text("utf-8").replace("tested", name), "utf-8")
    configs = [word for name in DRAWS for word in ("-c", f"../{name}/wrangler_like.toml")]

    async with edge(tmp_path / "random", *configs) as server:
        first = await server.get("/kv")
        failures = await wait_until(lambda: all_failures(server))

    assert first.status_code == 500
    assert {name: DRAWS[name][1] in str(failures[name]) for name in DRAWS} == dict.fromkeys(
        DRAWS, True
    )


@pytest.mark.processes
async def test_each_limit_has_a_key_of_its_own(tmp_path: Path) -> None:
    write_project(tmp_path, ASKED, config=BINDINGS, local="kv_call_limit = true")

    async with edge(tmp_path) as server:
        kv, d1 = await asked(server, "kv"), await asked(server, "d1")

    assert kv["text"] == TOO_MANY
    assert d1 == {"answer": None}


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
async def test_dev_says_in_one_line_what_the_check_found(strict: Edge) -> None:
    line = await strict.wait_log("The check found ")

    assert line.startswith("The check found 3 errors and ")
    assert line.endswith("See: localedge check")


@pytest.mark.processes
async def test_the_check_does_not_come_before_the_first_response(
    started: tuple[Edge, list[str]],
) -> None:
    _, said = started

    assert [line for line in said if line.startswith("The check found")] == []
