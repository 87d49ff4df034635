"""What is different in a new project whose worker is an agent with durable state."""

from __future__ import annotations

from typing import Final

from localedge.port import template

_ENTRY: Final = """\
from urllib.parse import urlsplit

from edgestate import (
    D1StateStore,
    TaskBusy,
    open_session,
    resume_abandoned_tasks,
    run_agent_with_state,
    sweep_sessions,
)
from greeter import AGENT
from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        if urlsplit(request.url).path != "/tasks" or request.method != "POST":
            return Response("POST /tasks with session, request and goal.", status=404)
        asked = await request.json()
        store = D1StateStore(self.env.DB)
        await open_session(asked["session"], "me", store)
        try:
            task = await run_agent_with_state(
                asked["goal"], asked["session"], store, agent=AGENT, request_id=asked["request"]
            )
        except TaskBusy:
            return Response("Another worker has this task; ask again.", status=409)
        return Response.json({"status": task.status, "outputs": [s.output for s in task.steps]})

    async def scheduled(self, controller, env, ctx):
        store = D1StateStore(self.env.DB)
        await resume_abandoned_tasks(store, agent=AGENT)
        await sweep_sessions(store)
"""
_GREETER: Final = '''\
"""The agent: what it can do, and in which order it does it for a goal."""

from edgestate import Agent, PlannedStep, tool


@tool(effect="read")
async def look_up(call):
    return {"name": call.input["goal"].strip() or "World"}


@tool(effect="idempotent")
async def greet(call):
    # A step that was interrupted is made again with the same key: give it to who is called here.
    return {"said": f"Hello, {call.results[0]['name']}!", "key": call.idempotency_key}


async def plan(goal):
    return [PlannedStep("look_up", {"goal": goal}), PlannedStep("greet")]


AGENT = Agent(tools={"look_up": look_up, "greet": greet}, plan=plan)
'''
_TEST: Final = '''\
"""Run with `pytest`: every test has empty stores of its own, migrations applied."""

import json

import pytest

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


def asking(request):
    return json.dumps({"session": "s-1", "request": request, "goal": "Ada"})


async def test_a_task_comes_to_its_end(edge):
    answer = await edge.fetch("/tasks", method="POST", body=asking("r-1"))

    task = answer.json()
    assert task["status"] == "completed"
    assert task["outputs"][1]["said"] == "Hello, Ada!"


async def test_the_same_request_is_the_same_task_after_a_kill(edge):
    first = await edge.fetch("/tasks", method="POST", body=asking("r-1"))
    await edge.kill()

    again = await edge.fetch("/tasks", method="POST", body=asking("r-1"))
    other = await edge.fetch("/tasks", method="POST", body=asking("r-2"))

    assert again.json() == first.json()
    assert other.json()["outputs"][1]["key"] != first.json()["outputs"][1]["key"]
'''
_CRONS: Final = '  "triggers": { "crons": ["* * * * *"] },\n  "observability"'
_NEEDS: Final = ("dependencies = []", 'dependencies = ["pydantic"]')
_NOTES: Final = ("src/greeting.py", "migrations/0001_create_notes.sql")


def files(name: str, date: str) -> dict[str, str]:
    """The text of each file of an agent's project; the library and its migrations come apart."""
    made = {path: text for path, text in template.files(name, date).items() if path not in _NOTES}
    made["src/entry.py"] = _ENTRY
    made["src/greeter.py"] = _GREETER
    made["tests/test_entry.py"] = _TEST
    config = made["wrangler.jsonc"]
    without_kv = "".join(line for line in config.splitlines(True) if '"kv_namespaces"' not in line)
    made["wrangler.jsonc"] = without_kv.replace('  "observability"', _CRONS)
    made["pyproject.toml"] = made["pyproject.toml"].replace(*_NEEDS, 1)
    return made
