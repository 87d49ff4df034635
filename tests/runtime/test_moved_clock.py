"""The clock of a running server moves: isolates, KV expiry, SQL time and crons with it."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from tests.runtime.edge import LOCALEDGE, Edge, edge, ended, kill, worker, write_project
from tests.waiting import wait_until

pytestmark = [pytest.mark.processes, pytest.mark.anyio]

BINDINGS = """
[[kv_namespaces]]
binding = "KV"
id = "n"
[[d1_databases]]
binding = "DB"
database_name = "db"
database_id = "db"
"""
TELLING = (
    worker("""
    if request.method == "PUT":
        await self.env.KV.put("key", "value", expirationTtl=60)
    row = await self.env.DB.prepare("SELECT unixepoch() AS now").first()
    return Response.json({
        "python": time.time(), "sql": row["now"], "kv": await self.env.KV.get("key"),
        "pid": os.getpid(),
    })
""")
    + """
    async def scheduled(self, controller, env, ctx):
        if controller.cron == "once":
            controller.noRetry()
        print("fired", controller.cron, controller.scheduledTime, int(time.time()))
"""
)
DAY_S = 86400


async def command(server: Edge, *words: str) -> tuple[int, str]:
    """The exit code and stderr of `localedge`, run in the server's project."""

    process = await asyncio.create_subprocess_exec(
        LOCALEDGE,
        *words,
        cwd=server.folder,
        stderr=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.DEVNULL,
    )
    return await ended(process)


async def test_an_advanced_clock_moves_python_sql_and_kv_in_every_isolate(tmp_path: Path) -> None:
    write_project(tmp_path, TELLING, config=BINDINGS)

    async with edge(tmp_path) as server:
        before = (await server.http.put("/")).json()
        code, _ = await command(server, "clock", "advance", "1d")
        after = [(await server.get("/")).json() for _ in range(2)]

    assert code == 0
    assert before["kv"] == "value"
    for answer in after:
        assert answer["kv"] is None
        assert DAY_S <= answer["python"] - before["python"] < DAY_S + 60
        assert abs(answer["sql"] - answer["python"]) < 2


async def test_an_isolate_that_starts_later_has_the_moved_clock_too(tmp_path: Path) -> None:
    write_project(tmp_path, TELLING, config=BINDINGS)

    async with edge(tmp_path) as server:
        before = (await server.get("/")).json()
        await server.order("clock", advance=DAY_S)
        for pid in await server.wait_full():
            kill(pid)
        await wait_until(lambda: _serves(server))
        after = (await server.get("/")).json()

    assert after["python"] - before["python"] >= DAY_S


async def test_a_set_clock_runs_on_and_a_reset_one_is_the_machines(tmp_path: Path) -> None:
    write_project(tmp_path, TELLING, config=BINDINGS)

    async with edge(tmp_path) as server:
        real = (await server.get("/")).json()["python"]
        await command(server, "clock", "set", "2030-01-01T00:00:00Z")
        moved = (await server.get("/")).json()
        await command(server, "clock", "reset")
        reset = (await server.get("/")).json()

    assert 1893456000 <= moved["python"] < 1893456060
    assert abs(moved["sql"] - moved["python"]) < 2
    assert abs(reset["python"] - real) < 60
    assert abs(reset["sql"] - reset["python"]) < 2


async def test_a_cron_follows_the_clock_and_what_is_jumped_over_does_not_fire(
    tmp_path: Path,
) -> None:
    crons = '[triggers]\ncrons = ["0 12 * * *", "not a cron"]\n'
    write_project(tmp_path, TELLING, config=crons + BINDINGS)

    async with edge(tmp_path) as server:
        await server.order("clock", set=1893499199.0)
        fired = await server.wait_log("fired")
        await server.order("clock", advance=3 * DAY_S)
        await server.order("clock", set=1893499199.0 + 10 * DAY_S)
        await wait_until(lambda: server.logged().count("fired 0 12") == 2)
        log = server.logged()

    assert "fired 0 12 * * * 1893499200000 1893499200" in fired
    assert "a cron never fires" in log


async def test_the_handler_endpoint_calls_scheduled_with_its_cron_and_time(tmp_path: Path) -> None:
    write_project(tmp_path, TELLING, config=BINDINGS)

    async with edge(tmp_path) as server:
        answer = await server.get(
            "/cdn-cgi/handler/scheduled", params={"cron": "*/5 * * * *", "time": "1000"}
        )
        line = await server.wait_log("fired")

    assert (answer.status_code, answer.text) == (200, "ok")
    assert "fired */5 * * * * 1000 " in line


async def test_the_handler_endpoint_tells_of_no_retry_in_json(tmp_path: Path) -> None:
    write_project(tmp_path, TELLING, config=BINDINGS)

    async with edge(tmp_path) as server:
        answer = await server.get("/cdn-cgi/handler/scheduled?cron=once&format=json")

    assert answer.json() == {"outcome": "ok", "noRetry": True}


async def test_the_handler_endpoint_says_when_there_is_no_handler(tmp_path: Path) -> None:
    write_project(tmp_path, worker('return Response("x")'))

    async with edge(tmp_path) as server:
        answer = await server.get("/cdn-cgi/handler/scheduled?cron=*&format=json")
        log = server.logged()

    assert answer.status_code == 500
    assert answer.json()["outcome"] == "exception"
    assert "Handler does not export a scheduled() function." in log


async def _serves(server: Edge) -> bool:
    return (await server.get("/")).status_code == 200


async def test_commands_go_by_the_clock_of_the_running_server(tmp_path: Path) -> None:
    write_project(tmp_path, TELLING, config=BINDINGS)

    async with edge(tmp_path) as server:
        await command(server, "clock", "advance", "1d")
        put, _ = await command(server, "kv", "key", "put", "key", "v", "--ttl=60", "--binding=KV")
        alive, _ = await command(server, "kv", "key", "get", "key", "--binding=KV")
        seen = (await server.get("/")).json()
        keep = "CREATE TABLE kept AS SELECT unixepoch() AS at"
        await command(server, "d1", "execute", "DB", "--command", keep)
        await command(server, "clock", "advance", "61")
        expired, _ = await command(server, "kv", "key", "get", "key", "--binding=KV")

    with closing(sqlite3.connect(tmp_path / ".localedge" / "d1" / "db.sqlite")) as file:
        (kept,) = file.execute("SELECT at FROM kept").fetchone()
    assert (put, alive, expired) == (0, 0, 1)
    assert seen["kv"] == "v"
    assert 0 <= kept - int(seen["python"]) < 60
