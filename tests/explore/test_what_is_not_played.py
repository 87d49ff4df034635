"""Runs that need not be played, because one that was played comes to the same."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest
from tests.explore.scenarios import tasks

from localedge.errors import OperatorError
from localedge.explore import Client, Outcome, Scenario, Setting
from localedge.explore.choices import CRASH_MODES, Choice, Do
from localedge.explore.crashes import Crashes, Share
from localedge.explore.exploring import replayed
from localedge.explore.fixture import Explore
from localedge.explore.lab import opened
from localedge.explore.polls import repeated

HERE = Path(__file__).parent
KV = Setting(kv=("KV",))


def test_a_late_write_that_would_change_nothing_is_a_death_before_it() -> None:
    with opened(tasks.non_idempotent, HERE) as lab:
        crashes = Crashes(lab)
        reference = crashes.play(lab.start, (), is_recording=True)
        info = next(i for p, i in reference.trace.points.items() if p > 3 and i.may_write)
        late = Choice(info.point, Do.LATE)
        last = crashes.play(lab.start, (late,), is_recording=True, is_trying=True)
        before, _ = replayed(lab, (Choice(info.point, Do.BEFORE),))
        quiet = sorted({*range(info.point + 1, before.points + 1)} - last.trace.landings)
        landed = [replayed(lab, (Choice(info.point, Do.LATE, at),))[0] for at in quiet]

    assert len(quiet) > 5
    assert {(v.outcome, v.findings, v.points) for v in landed} == {
        (before.outcome, before.findings, before.points)
    }


async def waits(env: Any) -> str | None:
    for _ in range(40):
        if (found := await env.KV.get("key")) is not None:
            return str(found)
        await asyncio.sleep(1)
    return None


async def puts(env: Any) -> None:
    await asyncio.sleep(30.5)
    await env.KV.put("key", "value")


async def one_waits_for_the_other(client: Client) -> None:
    await client.at_once(client.call(waits), client.call(puts))


poll = Scenario(one_waits_for_the_other, setting=KV, name="poll")


def test_a_poll_is_disturbed_at_its_first_and_its_last_call() -> None:
    with opened(poll, HERE) as lab:
        crashes = Crashes(lab)
        verdicts = list(crashes.runs(Share()))
        reference = crashes.play(lab.start, (), is_recording=True)

    polls = repeated(reference.trace)
    disturbed = {choice.point for verdict in verdicts for choice in verdict.choices}
    assert polls == set(range(2, 31))
    assert disturbed == {1, 31, 32, 33}
    assert crashes.merged >= len(polls) * len(CRASH_MODES)


def test_reads_of_different_keys_are_no_poll() -> None:
    async def reads(env: Any) -> None:
        for number in range(5):
            await env.KV.get(f"key {number}")

    async def client(client: Client) -> None:
        await client.run(reads)

    with opened(Scenario(client, setting=KV), HERE) as lab:
        trace = Crashes(lab).play(lab.start, (), is_recording=True).trace

    assert repeated(trace) == set()


def test_every_mode_follows_every_mode_and_its_choices_make_it_again() -> None:
    with opened(tasks.scenario(1, "idempotent"), HERE) as lab:
        verdicts = list(Crashes(lab, 2, pairs=CRASH_MODES).runs(Share()))
        some = verdicts[::30]
        live = [replayed(lab, verdict.choices)[0] for verdict in some]

    pairs = {tuple(c.do for c in v.choices) for v in verdicts if len(v.choices) == 2}
    assert all(verdict.is_clean for verdict in verdicts)
    assert {one for one, _ in pairs} == {other for _, other in pairs} == {*CRASH_MODES}
    assert {(Do.LATE, Do.DUP), (Do.DUP, Do.LATE), (Do.DUP, Do.DUP), (Do.LATE, Do.LATE)} <= pairs
    assert live == some


def test_modes_by_name_are_those_of_pairs_too(explore: Explore) -> None:
    scenario = tasks.scenario(1, "idempotent")

    report = explore(scenario, crash=True, depth=2, modes="dup,expire")

    with opened(scenario, HERE) as lab:
        modes = (Do.DUP, Do.EXPIRE)
        verdicts = list(Crashes(lab, 2, modes, modes).runs(Share()))
    assert report.rows[0].runs == len(verdicts)
    with pytest.raises(OperatorError, match="there is no mode 'sideways'"):
        explore(scenario, crash=True, modes="sideways")


async def reads_for_ever(env: Any) -> None:
    while True:
        await env.KV.get("key")


def test_a_worker_whose_calls_never_wait_is_stuck_after_so_many(explore: Explore) -> None:
    async def client(client: Client) -> None:
        await client.run(reads_for_ever)

    with opened(Scenario(client, setting=KV, max_points=50), HERE) as lab:
        verdict, _ = replayed(lab, ())

    assert verdict.outcome is Outcome.STUCK
    assert verdict.findings[0].text.startswith("50 calls were made and the run is not over")
