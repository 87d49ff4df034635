"""Workers and scenarios that the explorer cannot take at their word."""

from __future__ import annotations

import asyncio
import itertools
import random
import time
import uuid
from pathlib import Path
from typing import Any

import pytest

from localedge.errors import Exit, OperatorError
from localedge.explore import (
    Client,
    Holds,
    Invariant,
    Outcome,
    Scenario,
    Setting,
    View,
    act,
)
from localedge.explore.exploring import Options, replayed
from localedge.explore.exploring import explore as explored
from localedge.explore.fixture import Explore
from localedge.explore.lab import opened
from localedge.explore.loading import scenarios_of

KV = Setting(kv=("KV",))
_numbers = itertools.count()


def scenario_of(client: Any, **options: Any) -> Scenario:
    return Scenario(client, setting=KV, **options)


async def counts(env: Any) -> None:
    await env.KV.put(f"key {next(_numbers)}", "")


def test_a_worker_that_differs_from_run_to_run_is_refused_at_the_call(explore: Explore) -> None:
    async def client(client: Client) -> None:
        await client.run(counts)

    with pytest.raises(OperatorError) as refused:
        explore(scenario_of(client), crash=True)

    assert refused.value.code == "explore/not-deterministic"
    assert "at point 1" in refused.value.message
    assert "key 0" in refused.value.message
    assert "counter" in refused.value.hint
    assert "results would mean nothing" in refused.value.hint
    assert refused.value.exit == Exit.USAGE


async def random_work(env: Any) -> str:
    text = f"{uuid.uuid4()} {random.random()} {time.time()} {uuid.uuid1()}"
    await env.KV.put("key", text)
    return text


def test_random_ids_and_the_time_are_the_same_in_every_run(explore: Explore) -> None:
    async def client(client: Client) -> None:
        await client.run(random_work)

    explore(scenario_of(client), crash=True)


def test_another_seed_gives_other_ids(explore: Explore) -> None:
    async def client(client: Client) -> None:
        await client.run(random_work)

    answers = []
    for seed in (1, 2, 1):
        with opened(scenario_of(client), explore.folder, seed=seed) as lab:
            _, story = replayed(lab, ())
            answers.append(story[-1].text)

    assert answers[0] == answers[2] != answers[1]


async def never(env: Any) -> None:
    await env.KV.get("key")


def test_a_client_that_never_ends_is_stuck(explore: Explore) -> None:
    async def client(client: Client) -> None:
        while True:
            await client.run(never)

    report = explore.report(scenario_of(client, max_requests=20), crash=True)

    (told,) = report.told
    assert told.verdict.outcome is Outcome.STUCK
    assert told.verdict.points == 20


def test_a_client_that_only_sleeps_is_stuck_after_so_many_days(explore: Explore) -> None:
    async def client(client: Client) -> None:
        while True:
            await client.sleep(3600)

    report = explore.report(scenario_of(client, max_days=2), crash=True)

    assert report.told[0].verdict.outcome is Outcome.STUCK
    assert "2 days have passed and the run is not over" in text_of(report)


async def waits(env: Any) -> None:
    await env.KV.get("key")
    await asyncio.Event().wait()


def test_a_worker_that_waits_for_nothing_is_stuck_and_the_point_is_named(explore: Explore) -> None:
    async def client(client: Client) -> None:
        await client.run(waits)

    report = explore.report(scenario_of(client), crash=True)

    assert "nothing will ever happen: worker 1 (waits()) waits after point 1" in text_of(report)


async def computes(env: Any) -> None:
    await env.KV.get("key")
    while True:
        pass


def test_a_worker_that_computes_without_end_is_stuck(explore: Explore) -> None:
    async def client(client: Client) -> None:
        await client.run(computes)

    with opened(scenario_of(client, patience_s=0.2), explore.folder) as lab:
        verdict, _ = replayed(lab, ())

    assert verdict.outcome is Outcome.STUCK
    assert "has computed for 0.2 s without end, at test_bad_input.py" in verdict.findings[0].text


async def fails(env: Any) -> None:
    raise ValueError("of the worker")


def test_a_worker_that_always_fails_is_stuck_with_its_own_error(explore: Explore) -> None:
    async def client(client: Client) -> None:
        await client.run(fails)

    report = explore.report(scenario_of(client), crash=True)

    assert report.told[0].verdict.outcome is Outcome.STUCK
    assert "ValueError: of the worker" in text_of(report)


def test_a_mistake_in_the_scenario_is_told_from_one_in_the_worker(explore: Explore) -> None:
    async def client(client: Client) -> None:
        answer = await client.run(random_work)
        answer["no such key"]

    report = explore.report(scenario_of(client), crash=True)

    assert report.told[0].verdict.outcome is Outcome.SCENARIO
    assert "the scenario's own code failed, not the worker: test_bad_input.py" in text_of(report)


class Mistaken(Invariant):
    async def ended(self, memory: Any, view: View) -> None:
        raise KeyError("no such table")


def test_a_mistake_in_an_invariant_is_the_scenarios(explore: Explore) -> None:
    async def client(client: Client) -> None:
        await client.run(never)

    report = explore.report(scenario_of(client, must=[Mistaken()]), crash=True)

    assert report.told[0].verdict.outcome is Outcome.SCENARIO
    assert "KeyError: 'no such table'" in text_of(report)


def test_an_assertion_in_an_invariant_is_a_finding_with_its_line(explore: Explore) -> None:
    async def small(_view: View) -> None:
        assert 1 > 2

    async def client(client: Client) -> None:
        await client.run(never)

    report = explore.report(scenario_of(client, must=[Holds(small)]), crash=True)

    assert report.told[0].verdict.outcome is Outcome.DIVERGED


def test_a_mistake_in_the_setup_is_the_scenarios(explore: Explore) -> None:
    async def client(client: Client) -> None:
        await client.run(never)

    async def setup(env: Any, _outside: Any) -> None:
        await env.NO_SUCH_BINDING.put("key", "")

    with pytest.raises(OperatorError) as refused:
        explore(scenario_of(client, setup=setup), crash=True)

    assert refused.value.code == "explore/bad-setup"
    assert "NO_SUCH_BINDING" in refused.value.message


def test_an_expectation_of_the_client_is_a_finding(explore: Explore) -> None:
    async def client(client: Client) -> None:
        await client.run(act_once)
        assert await client.happened("mail") == 1, "one mail"

    report = explore.report(scenario_of(client), crash=True)

    assert {verdict.outcome for verdict in report.rows[0].failures} == {Outcome.DIVERGED}


async def act_once(env: Any) -> None:
    await act("mail")


def text_of(report: Any) -> str:
    return "\n".join(f.text for told in report.told for f in told.verdict.findings)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("x = 1", "explore/no-scenario"),
        ("import no_such_module", "explore/bad-scenario"),
        ("def :", "explore/bad-scenario"),
    ],
)
def test_a_file_without_a_usable_scenario_is_refused(tmp_path: Path, text: str, code: str) -> None:
    file = tmp_path / "broken.py"
    file.write_text(text)

    with pytest.raises(OperatorError) as refused:
        scenarios_of(file)

    assert refused.value.code == code


@pytest.mark.anyio
async def test_an_exploration_inside_a_running_loop_is_refused(tmp_path: Path) -> None:
    async def client(_client: Client) -> None:
        return None

    with pytest.raises(OperatorError) as refused:
        explored(scenario_of(client), tmp_path, Options(crash=True))

    assert refused.value.code == "explore/running-loop"
