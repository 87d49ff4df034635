"""`localedge agent list|show|resolve`: what is stored of agents, and a decision taken once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any

import pytest
from tests.edgestate.world import Effects, d1_binding, plan_of
from tests.migrations.command_line import Output, run_command
from tests.migrations.projects import database_of, make_project

from edgestate import Agent, D1StateStore, open_session, run_agent_with_state


class _Death(BaseException):
    """The end of a worker in the middle of a call."""


def _agent(run: Callable[[Any], Coroutine[Any, Any, Any]] | None = None) -> Agent:
    effects = Effects()
    charge = effects.tool("charge", "non_idempotent")
    if run is not None:
        charge = type(charge)("charge", run, "non_idempotent")
    tools = {"search": effects.tool("search", "read"), "charge": charge}
    return Agent(tools=tools, plan=plan_of("search", "charge"))


async def _left(root: Path, *, is_asked: bool) -> str:
    """A task whose worker died while it charged; with `is_asked` the next one has noticed."""

    async def dies(_call: Any) -> Any:
        raise _Death

    async with d1_binding(database_of(root)) as binding:
        store = D1StateStore(binding)
        await open_session("s-1", "ada", store)
        for agent in (_agent(dies), _agent())[: 2 if is_asked else 1]:
            try:
                await run_agent_with_state("a trip", "s-1", store, agent=agent, request_id="r")
            except _Death:
                continue
        (task,) = await store.get_tasks_by_session("s-1")
    return task.task_id


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A project whose database is to keep agents' state."""
    make_project(tmp_path, {})
    database_of(tmp_path).parent.mkdir(parents=True)
    return tmp_path


@pytest.fixture
def task(project: Path) -> str:
    """A task that waits for a decision about its step 1."""
    return asyncio.run(_left(project, is_asked=True))


def _run(root: Path, *arguments: str) -> Output:
    return run_command(["agent", *arguments], root)


def _json(output: Output) -> Any:
    assert output.exit == 0, output.text
    return json.loads(output.stdout)


def test_list_shows_each_task_with_where_it_is(project: Path, task: str) -> None:
    output = _run(project, "list")

    assert f"│ {task} │ waiting_tool │ 1 of 2 │ a trip │" in output.stdout
    assert output.stdout.endswith("Listed 1 task.\n")


@pytest.mark.parametrize(
    ("flags", "count"),
    [
        (("--waiting",), 1),
        (("--status", "waiting_tool", "--status", "failed"), 1),
        (("--status", "completed"), 0),
        (("--session", "s-1"), 1),
        (("--session", "s-2"), 0),
        (("--search", "trip"), 1),
        (("--search", "boat"), 0),
    ],
)
def test_flags_choose_which_tasks_are_listed(
    project: Path, task: str, flags: tuple[str, ...], count: int
) -> None:
    found = _json(_run(project, "list", "--json", *flags))

    assert [one["task_id"] for one in found["tasks"]] == [task] * count


def test_show_tells_what_is_asked_and_how_to_answer(project: Path, task: str) -> None:
    output = _run(project, "show", task)

    assert "Step 1 (charge) may have happened: nobody knows. Decide with one of:" in output.stdout
    assert f"localedge agent resolve {task} 1 retry" in output.stdout


def test_what_agents_wrote_cannot_move_the_cursor(project: Path, task: str) -> None:
    forged = "UPDATE agent_tasks SET goal = 'a' || char(27) || '[2Jtrip' || char(7)"
    run_command(["d1", "execute", "DB", "--command", forged], project)

    for arguments in (["list"], ["show", task]):
        printed = _run(project, *arguments).stdout

        assert r"a\x1b[2Jtrip\x07" in printed
        assert not {"\x1b", "\x07"} & {*printed}


def test_show_prints_the_whole_task_as_json(project: Path, task: str) -> None:
    found = _json(_run(project, "show", task, "--json"))

    assert [step["action"] for step in found["steps"]] == ["search", "charge"]
    assert found["questions"][0]["why"] == "uncertain"


def test_resolve_stores_the_decision_with_its_output(project: Path, task: str) -> None:
    output = _run(project, "resolve", task, "1", "done", "--output", '{"paid": true}')

    assert output.stdout == f"Resolved step 1 of {task} as done: the task is running.\n"
    step = _json(_run(project, "show", task, "--json"))["steps"][1]
    assert (step["status"], step["output"]) == ("success", {"paid": True})


def test_the_same_decision_twice_is_one(project: Path, task: str) -> None:
    _run(project, "resolve", task, "1", "skip")

    output = _run(project, "resolve", task, "1", "skip", "--json")

    assert _json(output)["decision"] == "skip"


def test_another_decision_afterwards_is_refused(project: Path, task: str) -> None:
    _run(project, "resolve", task, "1", "skip")

    output = _run(project, "resolve", task, "1", "retry")

    assert output.exit == 1
    assert output.stderr.startswith("agent/decision-conflict: ")


@pytest.mark.parametrize(
    ("arguments", "code", "says"),
    [
        (("show", "none"), 1, "localedge trace ID those of a team"),
        (("resolve", "none", "0", "retry"), 1, "localedge agent list shows the tasks"),
        (("resolve", "TASK", "9", "retry"), 1, "shows its steps"),
        (("resolve", "TASK", "0", "retry"), 1, "shows what it asks"),
        (("resolve", "TASK", "-1", "retry"), 2, ""),
        (("resolve", "TASK", "1", "maybe"), 2, "There are retry, skip, done."),
        (("resolve", "TASK", "1", "done", "--output", "{"), 2, "is no JSON"),
        (("resolve", "TASK", "1", "skip", "--output", "1"), 2, "no meaning with skip"),
        (("resolve", "TASK", "1", "retry", "--attempt", "7"), 1, "agent/decision-conflict"),
        (("list", "--status", "lost"), 2, 'no status "lost"'),
        (("list", "--limit", "0"), 2, ""),
        (("list", "--db", "NOPE"), 1, "It has DB."),
        (("resume", "TASK"), 4, "Start one with: localedge dev."),
    ],
)
def test_what_cannot_be_done_is_told_with_what_to_do(
    project: Path, task: str, arguments: tuple[str, ...], code: int, says: str
) -> None:
    output = _run(project, *(task if one == "TASK" else one for one in arguments))

    assert output.exit == code, output.text
    assert says in output.text


@pytest.mark.parametrize("verb", ["list", "show TASK", "resolve TASK 0 retry"])
def test_a_database_without_the_tables_is_told(tmp_path: Path, verb: str) -> None:
    make_project(tmp_path, {})
    run_command(["d1", "execute", "DB", "--command", "SELECT 1"], tmp_path)

    output = _run(tmp_path, *verb.split())

    assert output.exit == 1
    assert output.stderr.startswith("agent/no-tables: ")
    assert "localedge d1 migrations apply" in output.text


def test_a_database_that_was_never_used_is_told(tmp_path: Path) -> None:
    output = _run(make_project(tmp_path, {}), "list")

    assert output.exit == 4
    assert "never been used" in output.text


def test_without_tasks_it_says_so(project: Path, task: str) -> None:
    assert _run(project, "list", "--search", "boat").stdout == "There are no such tasks.\n"
