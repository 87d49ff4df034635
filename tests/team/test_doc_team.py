"""The example's tools and judgement, and what its API makes of bad input."""

from __future__ import annotations

import json
from typing import Any

import pytest
from tests.team.world import Team

from doc_team import goals
from doc_team.judge import ModelJudge, ScriptedJudge, judge_of
from doc_team.tools import index_text, missing, summarise
from doc_team.working import review, work
from edgestate import OpenAIModel
from edgestate.errors import TaskNotFound

pytestmark = pytest.mark.anyio

TEXT = """# Lighthouses

A lighthouse stands on a rock. Its keeper lights the lamp at dusk.

```
code lamp lamp lamp
```

| a | table |

The lantern turns twice a minute. Ships count the flashes of the lantern. A lantern is of glass.
"""


def test_terms_come_in_the_order_of_their_weight() -> None:
    assert list(index_text(TEXT))[:2] == ["lantern", "count"]
    assert index_text("") == {}


def test_a_summary_is_prose_and_mentions_what_it_must() -> None:
    assert summarise(TEXT) == "A lighthouse stands on a rock. Its keeper lights the lamp at dusk."
    assert summarise(TEXT, must_mention=["lantern"]).endswith("The lantern turns twice a minute.")
    assert missing([summarise(TEXT)], ["lamp", "lantern"]) == ["lantern"]


async def test_the_scripted_judge_takes_its_own_advice() -> None:
    judge = ScriptedJudge()

    first = await judge.verdict(await judge.summary(TEXT, advice=""), ["lamp", "lantern"])
    second = await judge.verdict(
        await judge.summary(TEXT, advice=first.reason), ["lamp", "lantern"]
    )

    assert (first.is_accepted, second.is_accepted) == (False, True)
    assert first.reason == "the summary does not mention: lantern"


class Answer:
    status = 200

    def __init__(self, text: str) -> None:
        self._text = text
        self.headers: dict[str, str] = {}

    async def text(self) -> str:
        return json.dumps({"choices": [{"message": {"content": self._text}}]})


async def test_a_model_judges_when_one_is_set() -> None:
    asked: list[dict[str, Any]] = []

    async def fetch(resource: str, *, method: str, headers: dict[str, str], body: str) -> Answer:
        asked.append(json.loads(body))
        return Answer("REJECT: it is about something else")

    class Env:
        MODEL_URL, MODEL_KEY, MODEL_NAME = "http://model", "k", "small"

    judge = ModelJudge(OpenAIModel("http://model", "k", "small", fetch=fetch))

    verdict = await judge.verdict("A summary.", ["lamp"])

    assert (verdict.is_accepted, verdict.reason) == (False, "it is about something else")
    assert "lamp" in asked[0]["messages"][0]["content"]
    assert isinstance(judge_of(Env()), ModelJudge)
    assert isinstance(judge_of(object()), ScriptedJudge)


async def test_the_team_reads_documents_to_the_end(team: Team) -> None:
    planner, worker, critic = await team.planner(), await team.worker(), await team.critic()
    judge = ScriptedJudge()
    await goals.begin(planner, "g", {"a.md": TEXT, "b.md": "Nothing but rain. It rains."})

    for _ in range(20):
        done = [await work(worker, judge), await review(critic, judge), await goals.tend(planner)]
        if not any(done):
            break

    progress = await goals.progress(planner, "g")
    attempts = {entry["document"]: entry["attempts"] for entry in progress["report"]}
    assert progress["status"] == "completed"
    assert attempts == {"a.md": 2, "b.md": 1}
    assert "lantern" in progress["report"][0]["summarise"]


async def test_beginning_a_goal_again_goes_on_where_it_stopped(team: Team) -> None:
    planner = await team.planner()
    documents = {"a.md": TEXT}

    for _ in range(3):
        await goals.begin(planner, "g", documents)

    assert len(await planner.board.tasks("g")) == 3


async def test_a_goal_belongs_to_the_trace_that_its_client_is_in(team: Team) -> None:
    planner = await team.planner()
    trace = "0af7651916cd43dd8448eb211c80319c"

    await goals.begin(planner, "g", {"a.md": TEXT}, trace=trace)
    await goals.begin(planner, "h", {"a.md": TEXT})

    assert (await goals.progress(planner, "g"))["traceId"] == trace
    assert (await goals.progress(planner, "h"))["traceId"] == "trace-h"


async def test_a_new_context_makes_workers_ask_and_the_planner_rebase(team: Team) -> None:
    planner, worker, critic = await team.planner(), await team.worker(), await team.critic()
    judge = ScriptedJudge()
    await goals.begin(planner, "g", {"a.md": TEXT})
    held = await worker.board.claim()
    await planner.contexts.freeze_context("g", 2, context={"documents": ["a.md"], "norm": "new"})
    assert held is not None
    await worker.board.release(held, reason="begun too early")

    nothing = await work(worker, judge)
    await worker.messages.send("planner", "resync_requested", {"task_id": "g/index/0"})
    for _ in range(20):
        await goals.tend(planner)
        await work(worker, judge)
        await review(critic, judge)

    assert not nothing
    assert (await goals.progress(planner, "g"))["status"] == "completed"


async def test_an_unknown_goal_is_said_to_be_one(team: Team) -> None:
    with pytest.raises(TaskNotFound):
        await goals.progress(await team.planner(), "nothing")
