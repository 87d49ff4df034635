"""A worker with a store of each kind and a durable agent, on a real server, for the data views."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from tests.edgestate.world import d1_binding
from tests.inspector.shop import API, get
from tests.runtime.edge import Edge, edge, write_project
from tests.team.world import PATIENT, Team, claimed
from tests.waiting import wait_until

from edgestate.team import D1Record, Done, SagaDefinition, Sagas, SagaStep, SagaStepFailed, StepCall
from localedge.d1.files import database_file

ROOT = Path(__file__).parents[2]
MARKUP = "<img src=x onerror=document.title='taken'><b>bold</b>"
CONFIG = """
[triggers]
crons = ["0 0 1 1 *"]
[[kv_namespaces]]
binding = "CACHE"
id = "cache"
[[d1_databases]]
binding = "DB"
database_name = "crew"
database_id = "crew"
migrations_dir = "migrations"
"""
SOURCE = """
import asyncio
from urllib.parse import parse_qs, urlparse

from edgestate import (
    Agent, D1StateStore, PlannedStep, open_session, resume_abandoned_tasks, run_agent_with_state,
    tool,
)
from workers import Response, WorkerEntrypoint


@tool(effect="read", timeout_s=2)
async def search(call):
    return {"flight": "LE 204", "note": "<b>bold</b>"}


@tool(effect="idempotent", timeout_s=2)
async def hold(call):
    if call.input == "slow" and not await SLOW.get("held"):
        await SLOW.put("held", "once")
        await asyncio.sleep(60)
    return {"seat": "4A"}


@tool(effect="non_idempotent", timeout_s=2)
async def charge(call):
    if call.input == "stuck":
        await asyncio.sleep(60)
    return {"paid": True}


async def plan(goal):
    kind = goal.split()[0]
    return [PlannedStep("search", goal), PlannedStep("hold", kind), PlannedStep("charge", kind)]


AGENT = Agent(tools={"search": search, "hold": hold, "charge": charge}, plan=plan, lease_ttl_s=8)
SLOW = None


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        global SLOW
        SLOW = self.env.CACHE
        url = urlparse(request.url)
        asked = {name: values[0] for name, values in parse_qs(url.query).items()}
        if url.path == "/read":
            return Response(await self.env.CACHE.get(asked["key"]) or "nothing")
        store = D1StateStore(self.env.DB)
        await open_session("s-1", "ada", store)
        task = await run_agent_with_state(
            asked["goal"], "s-1", store, agent=AGENT, request_id=asked["goal"]
        )
        return Response(task.status)

    async def scheduled(self, controller, env, ctx):
        global SLOW
        SLOW = self.env.CACHE
        await resume_abandoned_tasks(D1StateStore(self.env.DB), agent=AGENT)
"""


@asynccontextmanager
async def crew(folder: Path) -> AsyncIterator[Edge]:
    """The crew's server is ready, its migrations are applied, and somebody looks at it."""
    write_project(folder, SOURCE, config=CONFIG, local='isolates = 2\nconsistency = "eventual"')
    shutil.copytree(
        ROOT / "worker" / "edgestate",
        folder / "src" / "edgestate",
        ignore=shutil.ignore_patterns("__pycache__"),
    )
    shutil.copytree(ROOT / "migrations", folder / "migrations")
    async with edge(folder) as server:
        await server.wait_full(3)
        await migrated(server)
        await get(server, "agents/databases")
        yield server


def sent(server: Edge, goal: str) -> asyncio.Task[Any]:
    """The request for that goal, under way."""
    return asyncio.create_task(server.http.get("/", params={"goal": goal}, timeout=30))


async def task_of(server: Edge, goal: str) -> dict[str, Any] | None:
    """The task of that goal, whole; None while there is none."""
    page = await get(server, f"agents/tasks?database=crew&text={goal.replace(' ', '%20')}")
    if not page["tasks"]:
        return None
    found: dict[str, Any] = await get(
        server, f"agents/task?database=crew&task={page['tasks'][0]['task_id']}"
    )
    return found


async def lost_in(server: Edge, goal: str, action: str) -> int:
    """The isolate that ran the goal's task was killed while it did `action`: its pid."""
    request = sent(server, goal)

    async def pid() -> int | None:
        for story in (await get(server, "requests"))["requests"]:
            if goal.split()[-1] in story["url"] and story["state"] == "open":
                whole = await get(server, f"requests/{story['ray']}")
                for one in whole["happened"]:
                    if one["kind"] == "call.began" and one.get("operation") == action:
                        return int(one["pid"])
        return None

    found = await wait_until(pid, within_s=15)
    assert found is not None
    await server.order("kill", pid=found)
    assert (await request).status_code == 500
    await server.wait_full(3)
    return found


async def later(server: Edge, seconds: float) -> None:
    """It is that much later for the workers."""
    assert (await server.order("clock", advance=seconds)).status_code == 200


async def change(server: Edge, method: str, path: str, body: Any = None) -> Any:
    """What the API answers to a change, with its token."""
    return await server.http.request(
        method,
        f"{API}/{path}",
        json=body,
        headers={"authorization": f"Bearer {server.run.token}"},
    )


async def form_team(server: Edge) -> None:
    """The database has a team, a goal with a given-up task, and a saga that was undone."""
    file = database_file(server.folder / ".localedge", "crew")
    async with d1_binding(file, is_migrated=True) as db:
        team = Team(db, D1Record(db, deadlines=PATIENT))
        await team.goal("draft", "edit")
        worker, critic = await team.worker(), await team.critic()
        await worker.messages.send("critic", "ready", {"what": MARKUP}, correlation_id="goal")
        for message in await critic.messages.poll():
            await critic.messages.consume(message)
        for _ in range(2):
            held = await claimed(worker)
            await worker.board.complete(held, "thin", summary="thin")
            for done in await critic.reviews.open():
                await critic.reviews.reject(done, reason="too thin", max_attempts=1)

        async def book(_call: StepCall) -> Done:
            return Done({"seat": "4A"})

        async def refuse(_call: StepCall) -> Done:
            raise SagaStepFailed("declined", "the card was declined")

        planner = await team.planner()
        steps = (SagaStep("book", book, "cancel", book), SagaStep("pay", refuse))
        sagas = Sagas(planner.desk, [SagaDefinition("trip", steps)])
        await sagas.run(await sagas.start("trip", {"to": "LIS"}, saga_id="saga-1"))


async def migrated(server: Edge) -> None:
    """The tables are there."""
    answer = await change(server, "POST", "d1/migrations/apply?database=crew")
    assert answer.status_code == 200, answer.text
