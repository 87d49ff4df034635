"""Commands that ask a running server, or change what it works on."""

from __future__ import annotations

import asyncio
import json
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from tests.migrations.command_line import run_command
from tests.runtime.edge import LOCALEDGE, Edge, edge, worker, write_project
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.processes,
    pytest.mark.xdist_group("cli-server"),
]

CONFIG = """\
[triggers]
crons = ["0 0 1 1 *"]
[[d1_databases]]
binding = "DB"
database_id = "d"
"""
SOURCE = (
    "import logging\n"
    "from edgestate import Agent, D1StateStore, PlannedStep, open_session, tool\n"
    "from edgestate import resume_abandoned_tasks, run_agent_with_state\n"
    + worker("""
    from urllib.parse import urlsplit
    path = urlsplit(request.url).path
    if path == "/log":
        print("said", request.headers.get("x-said"))
        logging.getLogger("shop").error("a fault")
    if path == "/raise":
        raise ValueError("a reason")
    if path == "/later":
        self.ctx.waitUntil(later())
    if path == "/put":
        await self.env.DB.prepare("INSERT INTO t VALUES (?)").bind(request.headers["x-value"]).run()
    if path == "/get":
        rows = await self.env.DB.prepare("SELECT x FROM t ORDER BY x").all()
        return Response.json([row["x"] for row in rows.results])
    if path == "/task":
        store = D1StateStore(self.env.DB)
        await open_session("s-1", "ada", store)
        await run_agent_with_state("a trip", "s-1", store, agent=AGENT, request_id="r")
    return Response("ok")
""")
    + """
    async def scheduled(self, controller, env, ctx):
        await resume_abandoned_tasks(D1StateStore(self.env.DB), agent=AGENT)

async def later():
    await asyncio.sleep(0.2)
    print("later")

DIED = os.path.join(os.path.dirname(__file__), "died")

@tool(effect="read")
async def search(call):
    if not os.path.exists(DIED):
        open(DIED, "w").close()
        os.kill(os.getpid(), 9)
    return "found"

async def plan(goal):
    return [PlannedStep("search", goal)]

AGENT = Agent(tools={"search": search}, plan=plan, lease_ttl_s=600.0)
"""
)


@pytest.fixture(scope="module")
async def running(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edge]:
    """A server whose database has a table, and the tables of edgestate."""
    folder = tmp_path_factory.mktemp("running")
    write_project(folder, SOURCE, config=CONFIG)
    async with edge(folder) as found:
        await _command(found, "agent", "vendor", "DB")
        await _command(found, "d1", "migrations", "apply", "DB")
        await _command(found, "d1", "execute", "DB", "--command", "CREATE TABLE t (x)")
        await found.wait_full()
        yield found


async def _command(running: Edge, *arguments: str, code: int = 0) -> str:
    """What `localedge` with these arguments prints, or says against it."""
    output = await asyncio.to_thread(run_command, list(arguments), running.folder)
    assert output.exit == code, output.text
    return output.stdout if code == 0 else output.stderr


@asynccontextmanager
async def _following(running: Edge, *arguments: str) -> AsyncIterator[list[dict[str, Any]]]:
    """The objects that a command prints, one a line, while the block runs."""
    process = await asyncio.create_subprocess_exec(
        LOCALEDGE,
        *arguments,
        cwd=running.folder,
        stdin=asyncio.subprocess.DEVNULL,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stdout is not None
    assert process.stderr is not None
    found: list[dict[str, Any]] = []

    async def read(stream: asyncio.StreamReader) -> None:
        async for line in stream:
            found.append(json.loads(line))

    reading = asyncio.ensure_future(read(process.stdout))
    async with asyncio.timeout(60):
        assert b"Connected to" in await process.stderr.readline()
        try:
            yield found
        finally:
            process.send_signal(signal.SIGINT)
            assert await process.wait() == 0
            await reading


def _paths(events: list[dict[str, Any]]) -> list[str]:
    return [event["event"]["request"]["url"].rpartition("/")[2] for event in events]


async def test_tail_shows_requests_with_their_lines_and_exceptions(running: Edge) -> None:
    async with _following(running, "tail", "--json") as events:
        await running.get("/log", headers={"x-said": "hello"})
        await running.get("/raise")
        await running.get("/later")
        await wait_until(lambda: len(events) == 3)

    assert {event["scriptName"] for event in events} == {"tested"}
    by_path = dict(zip(_paths(events), events, strict=True))
    assert by_path["log"]["logs"][0]["message"] == ["said hello"]
    assert by_path["raise"]["exceptions"][0]["message"] == "a reason"
    assert by_path["raise"]["event"]["response"]["status"] == 500
    assert [log["message"] for log in by_path["later"]["logs"]] == [["later"]]


async def test_tail_shows_only_what_its_filters_let_through(running: Edge) -> None:
    filters = ("--status", "error", "--method", "POST", "--header", "x-a:b")
    async with _following(running, "tail", "--json", *filters) as some:
        await running.get("/raise", headers={"x-a": "b"})
        await running.http.post("/log", headers={"x-a": "b"})
        await running.http.post("/raise", headers={"x-a": "c"})
        await running.http.post("/raise", headers={"x-a": "abc"})
        await wait_until(lambda: len(some) == 1)

    assert some[0]["event"]["request"]["headers"]["x-a"] == "abc"


async def test_tail_of_a_worker_that_does_not_run_names_those_that_do(running: Edge) -> None:
    said = await _command(running, "tail", "other", code=2)

    assert 'runs no worker "other".  It runs tested.' in said


async def test_logs_prints_what_was_printed_and_raised_before(running: Edge) -> None:
    await running.get("/log", headers={"x-said": "something rare"})
    await running.get("/raise")

    everything = await _command(running, "logs")
    found = json.loads(await _command(running, "logs", "--search", "something rare", "--json"))
    errors = await _command(running, "logs", "--level", "error")

    assert found["text"] == "said something rare"
    assert f"[{found['ray'][:8]}] said something rare" in everything
    assert "ValueError: a reason" in errors
    assert "something rare" not in errors


async def test_logs_goes_on_with_what_is_printed_later(running: Edge) -> None:
    async with _following(running, "logs", "--follow", "--search", "anew", "--json") as lines:
        await running.get("/log", headers={"x-said": "anew"})
        await wait_until(lambda: lines)

    assert lines[0]["text"] == "said anew"


async def test_logs_of_one_request_are_found_by_the_beginning_of_its_ray(running: Edge) -> None:
    await running.get("/log", headers={"x-said": "by ray"})
    found = json.loads(await _command(running, "logs", "--search", "by ray", "--json"))

    lines = await _command(running, "logs", "--ray", found["ray"][:8])

    assert {line.split("[")[1][:8] for line in lines.splitlines()} == {found["ray"][:8]}


async def test_without_a_server_tail_and_logs_say_how_to_start_one(
    running: Edge, tmp_path: Path
) -> None:
    for command in ("tail", "logs"):
        said = await _command(running, command, "--persist-to", str(tmp_path), code=4)

        assert "Start one with: localedge dev." in said


async def _values(running: Edge) -> list[str]:
    values: list[str] = (await running.get("/get")).json()
    return values


async def test_who_kills_what_is_not_there_is_told_where_isolates_are_listed(
    running: Edge,
) -> None:
    said = await _command(running, "kill", "1", code=1)

    status = f"{running.run.url}/cdn-cgi/localedge/status"
    told = "server/refused: there is no such isolate.  What runs is listed by: curl"
    assert said == f"{told} {status}\n"


async def test_a_database_travels_in_time_while_its_server_runs(running: Edge) -> None:
    await running.get("/put", headers={"x-value": "before"})
    kept = json.loads(await _command(running, "d1", "time-travel", "info", "DB", "--json"))
    await running.get("/put", headers={"x-value": "since"})

    restore = ("d1", "time-travel", "restore", "DB", "--json")
    told = json.loads(await _command(running, *restore, f"--bookmark={kept['bookmark']}"))
    back = await _values(running)
    await running.get("/put", headers={"x-value": "after"})
    after = await _values(running)
    await _command(running, *restore, f"--bookmark={told['previous_bookmark']}")

    assert (back, after) == (["before"], ["after", "before"])
    assert await _values(running) == ["before", "since"]


async def test_a_running_server_keeps_a_copy_of_each_minute_with_a_change(running: Edge) -> None:
    await running.get("/put", headers={"x-value": "in time"})

    minute = 1_900_000_020
    folder = running.folder / ".localedge" / "d1" / "d.sqlite-copies"

    async def kept() -> bool:
        # Just before the minute, again if a busy machine has slept over it.
        await running.order("clock", set=minute - 0.02)
        return any(folder.glob(f"*.{minute}000.minute.sqlite"))

    assert await wait_until(kept)
    await running.order("clock", advance=60)
    moment = ("--timestamp", "2030-03-17T17:47:00Z")
    info = ("d1", "time-travel", "info", "DB", "--json")
    found = json.loads(await _command(running, *info, *moment))
    await running.order("clock", reset="")
    assert (found["cause"], found["timestamp"]) == ("minute", "2030-03-17T17:47:00.000Z")


async def test_resume_has_the_worker_take_up_what_a_dead_one_left(running: Edge) -> None:
    assert (await running.get("/task")).status_code == 500
    listed = json.loads(await _command(running, "agent", "list", "--json"))
    task = listed["tasks"][0]["task_id"]
    held = await _command(running, "agent", "resume", task, code=1)

    said = await _command(running, "agent", "resume", task, "--take")

    assert "end its lease with --take" in held
    assert said == f"Resumed {task}: it is completed.\n"
    over = await _command(running, "agent", "resume", task, code=1)
    assert "is completed: nothing is left" in over
