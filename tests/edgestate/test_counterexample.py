"""The document's own code fails where the ⚠ rows say, and the harness is what notices."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest
from tests.edgestate import counterexample
from tests.explore.scenarios import document

from localedge.errors import JsException
from localedge.explore import Outcome, Scenario
from localedge.explore.choices import DEATHS
from localedge.explore.crashes import Crashes, Share
from localedge.explore.exploring import replayed
from localedge.explore.lab import opened
from localedge.explore.outcome import Verdict

HERE = Path(__file__).parent


def _undisturbed(scenario: Scenario) -> Verdict:
    with opened(scenario, HERE) as lab:
        return replayed(lab, ())[0]


def _deaths(scenario: Scenario) -> list[Verdict]:
    with opened(scenario, HERE) as lab:
        return [v for v in Crashes(lab, modes=DEATHS[:2]).runs(Share()) if v.choices]


@pytest.mark.parametrize("steps", [1, 4, 7, 10])
def test_the_completion_is_never_stored_when_the_last_step_flushed(steps: int) -> None:
    assert _undisturbed(document.completing(steps)).outcome is Outcome.LOST


@pytest.mark.parametrize("steps", [2, 3, 5, 6])
def test_the_completion_is_stored_otherwise(steps: int) -> None:
    assert _undisturbed(document.completing(steps)).is_clean


def test_most_deaths_repeat_effects() -> None:
    verdicts = _deaths(document.acting(6))

    twice = [v for v in verdicts if v.outcome is Outcome.DUPLICATE]
    assert len(twice) > len(verdicts) * 2 / 3
    assert max(v.findings[0].text.count("happened 2 times") for v in twice) >= 4


def test_finished_steps_run_again_because_the_pointer_never_moves() -> None:
    last = _deaths(document.acting(6))[-1]

    assert last.findings[0].text.startswith("step 0 happened 2 times, step 1 happened 2 times")


def test_a_task_that_dies_before_its_first_step_ended_was_never_stored() -> None:
    with opened(document.acting(3), HERE) as lab:
        trace = Crashes(lab).play(lab.start, (), is_recording=True).trace

    first_effect = next(
        info for _, info in sorted(trace.points.items()) if info.call.kind == "tool"
    )
    assert first_effect.state.namespaces[0].entries == {}


# --- races, by hand: two workers whose calls take turns ---


@pytest.mark.anyio
async def test_the_document_lock_is_given_to_everybody(kv: Any) -> None:
    first = await counterexample.acquire_task_lock(kv, "t", "a", 60)
    second = await counterexample.acquire_task_lock(kv, "t", "b", 60)

    assert (first, second) == (True, True)


@pytest.mark.anyio
async def test_the_document_lock_throws_with_its_own_default(kv: Any) -> None:
    with pytest.raises(JsException, match="at least 60"):
        await counterexample.acquire_task_lock(kv, "t", "a")


@pytest.mark.anyio
async def test_both_writers_of_one_version_succeed_and_one_is_lost(kv: Any) -> None:
    task = {"taskId": "t", "version": 1}
    await kv.put("agent:task:t", json.dumps(task))

    results = await asyncio.gather(
        counterexample.save_task_with_version(kv, {**task, "by": "a"}),
        counterexample.save_task_with_version(kv, {**task, "by": "b"}),
    )

    assert [result["success"] for result in results] == [True, True]


@pytest.mark.anyio
async def test_a_task_that_expired_is_resurrected_by_any_version(kv: Any) -> None:
    result = await counterexample.save_task_with_version(kv, {"taskId": "t", "version": 99})

    assert result["success"]


@pytest.mark.anyio
async def test_tasks_saved_at_once_drop_out_of_the_index(kv: Any) -> None:
    store = counterexample.KVStateStore(kv)
    tasks = [{**counterexample.create_new_task("s", "go", 1), "taskId": f"t{n}"} for n in range(5)]

    await asyncio.gather(*(store.save_task(task) for task in tasks))

    assert len(await store.get_tasks_by_session("s")) < 5


@pytest.mark.anyio
async def test_a_session_named_like_an_index_is_the_index(kv: Any) -> None:
    assert counterexample.session_key("x:tasks") == counterexample.session_tasks_key("x")
