"""Whatever call the worker dies at, the task ends right; and a broken library is noticed."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from tests.explore.scenarios import tasks

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
)
from edgestate.statuses import Effect
from localedge.explore import happen
from localedge.explore.choices import DEATHS, Do
from localedge.explore.crashes import Crashes, Share
from localedge.explore.fixture import Explore
from localedge.explore.lab import opened

ROOT = Path(__file__).parents[2]
EFFECTS: list[Effect] = ["read", "idempotent", "non_idempotent"]
ONCE = (*DEATHS, Do.LATE)

pytestmark = pytest.mark.slow


@pytest.mark.parametrize("effect", EFFECTS)
def test_no_death_at_any_two_points_loses_or_repeats_anything(
    effect: Effect, explore: Explore
) -> None:
    report = explore(tasks.scenario(2, effect), crash=True, depth=2)

    assert report.rows[0].runs + report.rows[0].merged > 140


@pytest.mark.parametrize("effect", EFFECTS)
@pytest.mark.parametrize("policy", [CheckpointPolicy.every_n(2), CheckpointPolicy.at_end()])
def test_no_policy_loses_or_repeats_anything_that_matters(
    effect: Effect, policy: CheckpointPolicy, explore: Explore
) -> None:
    explore(tasks.scenario(3, effect, policy), crash=True, modes=ONCE)


def conversation() -> Agent:
    """A model that wants two tools at once, then a charge, then answers."""

    async def look(call: ToolCall) -> dict[str, int]:
        happen(f"step {call.step_index}", key=call.idempotency_key)
        return {"step": call.step_index}

    async def charge(call: ToolCall) -> dict[str, int]:
        happen(f"step {call.step_index}")
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


def test_a_conversation_survives_every_death_and_late_write(explore: Explore) -> None:
    talk = tasks.asking(tasks.going(conversation()), "a conversation")

    explore(talk, crash=True, modes=ONCE)


def test_only_a_death_around_the_effect_asks_a_person(explore: Explore) -> None:
    with opened(tasks.scenario(2, "non_idempotent"), explore.folder) as lab:
        verdicts = list(Crashes(lab, modes=DEATHS).runs(Share()))

    asked = {str(verdict.choices[0]) for verdict in verdicts if verdict.asked}
    # Points: start, intent, effect, result with the next intent, effect, result; the state before
    # a call is that after the one before it.
    wanted = {"2 after", "3 after", "3 error-after", "4 after", "5 after", "5 error-after"}
    assert asked == wanted


def test_a_flush_that_stores_nothing_is_caught(
    explore: Explore, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def flush(self: StateCheckpoint, *, release: bool = False) -> None:
        self._flushed = self._revision

    monkeypatch.setattr(StateCheckpoint, "flush", flush)

    report = explore.report(tasks.scenario(2, "idempotent"), crash=True, modes=ONCE)

    assert not report.is_clean


@pytest.mark.long
def test_the_crash_table_is_clean() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "tests.explore.crash_table"],
        capture_output=True,
        text=True,
        timeout=300,
        cwd=ROOT,
    )

    assert done.returncode == 0, done.stdout + done.stderr
    assert "everything held" in done.stdout
