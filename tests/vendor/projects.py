"""A project of somebody who has never heard of edgestate."""

from __future__ import annotations

from pathlib import Path

CONFIG = """\
name = "mine"
main = "src/entry.py"
compatibility_date = "2026-11-01"
compatibility_flags = ["python_workers"]

[[d1_databases]]
binding = "DB"
database_name = "mine"
database_id = "mine"
"""
ENTRY = """\
import edgestate
from edgestate import Agent, D1StateStore, PlannedStep, open_session, run_agent_with_state, tool
from workers import Response, WorkerEntrypoint


@tool(effect="idempotent")
async def greet(call):
    return {"greeting": f"hello {call.input}", "key": call.idempotency_key}


async def plan(goal):
    return [PlannedStep("greet", name) for name in goal.split()]


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        store = D1StateStore(self.env.DB)
        await open_session("s", "ada", store)
        agent = Agent(tools={"greet": greet}, plan=plan)
        task = await run_agent_with_state("ada bob", "s", store, agent=agent, request_id="r")
        stored = await store.get_task(task.task_id)
        outputs = [step.output["greeting"] for step in stored.steps]
        library = edgestate.__file__
        return Response.json({"status": stored.status, "outputs": outputs, "library": library})
"""


def make_project(root: Path, *, entry: str = ENTRY, migrations: tuple[str, ...] = ()) -> Path:
    """The project in `root`, with this worker and its own migrations of these names."""
    (root / "src").mkdir(parents=True)
    (root / "wrangler.toml").write_text(CONFIG)
    (root / "src" / "entry.py").write_text(entry)
    for name in migrations:
        path = root / "migrations" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(f"CREATE TABLE {path.stem[5:]} (id TEXT);\n")
    return root
