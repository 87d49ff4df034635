"""Whatever call the worker dies at, the task ends right; and a broken library is noticed."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from edgestate import (
    Agent,
    Backoff,
    ChatReply,
    CheckpointPolicy,
    ScriptedModel,
    StateCheckpoint,
    Tool,
    ToolCall,
    ToolRequest,
    run,
    sql,
)
from edgestate.statuses import Effect
from localedge.explore.crash import Ending, Explorer
from localedge.explore.crash_table import simulated
from localedge.explore.death import Mode
from localedge.explore.real import Case, play
from localedge.explore.reference import Happen, ReferenceTask
from localedge.explore.world import World
from localedge.probe import Call

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

EFFECTS: list[Effect] = ["read", "idempotent", "non_idempotent"]


@pytest.mark.parametrize("effect", EFFECTS)
async def test_no_death_at_any_two_points_loses_or_repeats_anything(effect: Effect) -> None:
    once, twice, late = await simulated(ReferenceTask(2, effect))

    assert [line.failures for line in (once, twice, late)] == [[], [], []]
    assert (once.runs, twice.runs, late.runs) >= (16, 110, 15)


@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("policy", [CheckpointPolicy.every_n(2), CheckpointPolicy.at_end()])
async def test_no_policy_loses_or_repeats_anything_that_matters(
    effect: Effect, policy: CheckpointPolicy
) -> None:
    assert await _failures(ReferenceTask(3, effect, policy=policy)) == []


class Conversation(ReferenceTask):
    """A model that wants two tools at once, then a charge, then answers."""

    def agent(self, happen: Happen) -> Agent:
        async def look(call: ToolCall) -> dict[str, int]:
            happen(f"step {call.step_index}", call.idempotency_key)
            return {"step": call.step_index}

        async def charge(call: ToolCall) -> dict[str, int]:
            happen(f"step {call.step_index}", None)
            return {"step": call.step_index}

        wishes = (ToolRequest("a", "look", {}), ToolRequest("b", "look", {}))
        replies = [
            ChatReply("", wishes),
            ChatReply("", (ToolRequest("c", "charge", {}),)),
            ChatReply("paid"),
        ]
        at_once = Backoff(first_s=0, cap_s=0)
        tools = {
            "look": Tool("look", look, "idempotent", backoff=at_once),
            "charge": Tool("charge", charge),
        }
        return Agent(tools=tools, model=ScriptedModel(replies), model_backoff=at_once)

    def step_of(self, call: Call) -> int:
        return -1


async def test_a_conversation_survives_every_death_and_late_write() -> None:
    assert await _failures(Conversation(6, "non_idempotent")) == []


async def test_only_a_death_around_the_effect_asks_a_person() -> None:
    asked = {
        ending.label
        for ending in await _singles(ReferenceTask(2, "non_idempotent"))
        if ending.asked
    }

    # Points: start, intent, effect, result with the next intent, effect, result.
    wanted = {"2 after", "3 before", "3 after", "3 error-after", "4 before"}
    wanted |= {"4 after", "5 before", "5 after", "5 error-after", "6 before"}
    assert asked == wanted


async def _singles(task: ReferenceTask) -> list[Ending]:
    with World() as world:
        explorer = Explorer(task, world)
        start = await explorer.begin()
        return [ending async for ending, _, _, _ in explorer.singles(start)]


async def _failures(task: ReferenceTask) -> list[Ending]:
    """The runs that did not end well, with one death or with a write that lands late."""
    with World() as world:
        explorer = Explorer(task, world)
        start = await explorer.begin()
        endings = [ending async for ending, _, _, _ in explorer.singles(start)]
        endings += [ending async for ending in explorer.late(start)]
    return [ending for ending in endings if not ending.is_clean]


# --- the harness has teeth: each of these protections, taken away, is missed ---


def _no_guard(patch: pytest.MonkeyPatch) -> None:
    patch.setattr(sql, "GUARD_COMMIT", "SELECT ?1, ?2")


def _no_intent(patch: pytest.MonkeyPatch) -> None:
    whole = run.Run._flush

    async def flush(self: run.Run, **how: Any) -> None:
        task = self._checkpoint.get_task()
        if any(step.is_uncertain for step in task.steps) and task.status == "running":
            return
        await whole(self, **how)

    patch.setattr(run.Run, "_flush", flush)


def _forgets_the_result(patch: pytest.MonkeyPatch) -> None:
    """A flush that says that it stored what it did not."""

    async def flush(self: StateCheckpoint, *, release: bool = False) -> None:
        self._flushed = self._revision

    patch.setattr(StateCheckpoint, "flush", flush)


def _insert_or_ignore_results(patch: pytest.MonkeyPatch) -> None:
    head = sql.PUT_STEP.partition("ON CONFLICT")[0]
    patch.setattr(sql, "PUT_STEP", f"{head} ON CONFLICT (task_id, step_index) DO NOTHING")


MUTANTS: list[tuple[Callable[[pytest.MonkeyPatch], None], Effect]] = [
    (_no_intent, "non_idempotent"),
    (_no_guard, "idempotent"),
    (_forgets_the_result, "idempotent"),
    (_insert_or_ignore_results, "non_idempotent"),
]


@pytest.mark.parametrize(("break_it", "effect"), MUTANTS, ids=lambda v: getattr(v, "__name__", v))
async def test_a_library_without_one_protection_is_caught(
    break_it: Callable[[pytest.MonkeyPatch], None],
    effect: Effect,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    break_it(monkeypatch)

    assert await _failures(ReferenceTask(2, effect))


# --- real processes ---


@pytest.mark.parametrize(
    ("effect", "point", "mode"),
    [
        ("non_idempotent", 4, Mode.AFTER),
        ("non_idempotent", 5, Mode.AFTER),
        ("idempotent", 1, Mode.AFTER),
        ("idempotent", 9, Mode.BEFORE),
    ],
)
@pytest.mark.processes
def test_a_process_that_is_killed_leaves_a_task_that_ends_right(
    tmp_path: Path, effect: Effect, point: int, mode: Mode
) -> None:
    # A process of its own plays it: this one has threads, which a fork does not copy.
    program = (
        "import sys; from pathlib import Path; from localedge.explore.real import *\n"
        "ending = play(Case(4, sys.argv[1], int(sys.argv[2]), Mode(sys.argv[3])),"
        " Path(sys.argv[4]))\n"
        "print(ending); sys.exit(not ending.is_clean)"
    )

    done = subprocess.run(
        [sys.executable, "-c", program, effect, str(point), mode, str(tmp_path / "case")],
        capture_output=True,
        text=True,
        timeout=60,
    )

    assert done.returncode == 0, done.stdout + done.stderr


def test_the_cases_with_real_processes_are_at_least_thirty() -> None:
    from localedge.explore.crash_table import real_cases

    assert len(real_cases()) >= 30
    assert callable(play)
    assert Case(4, "read", 1, Mode.BEFORE).label
