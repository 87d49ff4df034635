"""The document's entry points, and the loop in which a model says what comes next."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from tests.edgestate.world import Effects, plan_of

from edgestate import (
    Agent,
    Answer,
    Backoff,
    ChatReply,
    D1StateStore,
    KVStateStore,
    ModelFailed,
    ScriptedModel,
    SessionNotFound,
    StateStore,
    StepFailed,
    TaskBusy,
    Tool,
    ToolCall,
    ToolFailed,
    ToolRequest,
    open_session,
    resolve_step,
    run_agent,
    run_agent_with_lock,
    run_agent_with_state,
)

pytestmark = pytest.mark.anyio

AT_ONCE = Backoff(first_s=0, cap_s=0)


class Died(BaseException):
    """The worker is gone."""


class Env:
    """`env` with the database as `DB`."""

    def __init__(self, db: Any) -> None:
        self.DB = db


def wish(number: int, name: str = "look", **arguments: Any) -> ChatReply:
    return ChatReply("let me see", (ToolRequest(f"call-{number}", name, arguments),))


def chatting(replies: list[Any], outside: Effects, **options: Any) -> Agent:
    tools = {
        "look": outside.tool("look", "read"),
        "charge": outside.tool("charge", "non_idempotent"),
    }
    return Agent(tools=tools, model=ScriptedModel(replies), model_backoff=AT_ONCE, **options)


# --- run_agent ---


async def test_a_question_is_answered_with_the_models_text(effects: Effects) -> None:
    agent = chatting([wish(1, q="LIS"), ChatReply("two flights")], effects)

    answer = await run_agent("flights?", None, agent=agent)

    assert answer == "two flights"
    assert answer.outcome == "answered"
    assert effects.log == ["look 1"]


async def test_ten_turns_without_an_answer_end_in_a_named_outcome(effects: Effects) -> None:
    agent = chatting([wish(1)], effects)

    answer = await run_agent("flights?", None, agent=agent)

    assert isinstance(answer, Answer)
    assert (str(answer), answer.outcome) == ("let me see", "iteration_limit")
    assert len(effects.log) == 9


@pytest.mark.parametrize(("may_retry", "calls"), [(True, 3), (False, 1)])
async def test_a_model_that_fails_gives_a_degraded_answer(
    effects: Effects, may_retry: bool, calls: int
) -> None:
    asked = []

    class Broken:
        async def complete(self, messages: Any, tools: Any) -> ChatReply:
            asked.append(messages)
            raise ModelFailed("out of order", may_retry=may_retry)

    agent = Agent(
        tools={},
        model=Broken(),
        model_backoff=AT_ONCE,
        degrade=lambda failure: f"sorry: {failure}, {failure.may_retry}",
    )

    answer = await run_agent("flights?", None, agent=agent)

    assert (str(answer), answer.outcome) == (f"sorry: out of order, {may_retry}", "degraded")
    assert len(asked) == calls


async def test_a_tools_failure_is_told_to_the_model(effects: Effects) -> None:
    async def fail(call: ToolCall) -> None:
        raise ToolFailed("no such airport")

    replies = [wish(1, "fail"), wish(2, "unheard"), ChatReply("I cannot")]
    agent = Agent(tools={"fail": Tool("fail", fail, "read")}, model=ScriptedModel(replies))

    answer = await run_agent("flights?", None, agent=agent)

    assert (str(answer), answer.outcome) == ("I cannot", "answered")


def test_an_agent_has_a_plan_or_a_model() -> None:
    with pytest.raises(ValueError, match="a plan or a model"):
        Agent(tools={})


# --- the conversation is state ---


async def test_the_transcript_is_journalled_in_the_documents_form(
    d1: D1StateStore, effects: Effects
) -> None:
    agent = chatting([wish(1, q="LIS"), ChatReply("two")], effects, system="be brief")

    task = await run_agent_with_state("flights?", "s", d1, agent=agent)

    stored = await d1.get_task(task.task_id)
    assert stored is not None
    assert stored.transcript == [
        {"role": "system", "content": "be brief"},
        {"role": "user", "content": "flights?"},
        {
            "role": "assistant",
            "content": "let me see",
            "toolCalls": [{"id": "call-1", "name": "look", "arguments": {"q": "LIS"}}],
        },
        {"role": "tool", "toolCallId": "call-1", "content": '{"done": 1}'},
        {"role": "assistant", "content": "two", "toolCalls": []},
    ]
    assert (stored.iteration, stored.outcome, stored.result) == (2, "answered", "two")


async def test_a_conversation_goes_on_where_its_worker_died(
    d1: D1StateStore, effects: Effects
) -> None:
    seen: list[int] = []

    class Mortal(ScriptedModel):
        async def complete(self, messages: Any, tools: Any) -> ChatReply:
            seen.append(len(messages))
            if len(seen) == 2:
                raise Died
            return await super().complete(messages, tools)

    agent = Agent(
        tools={"look": effects.tool("look", "read")},
        model=Mortal([wish(1), wish(2), ChatReply("done")]),
    )
    with pytest.raises(Died):
        await run_agent_with_state("flights?", "s", d1, agent=agent)

    task = await run_agent_with_state("flights?", "s", d1, agent=agent)

    assert task.result == "done"
    assert seen == [1, 3, 3, 5]
    assert effects.log == ["look 1", "look 3"]


async def test_tools_that_the_model_wants_together_run_together(d1: D1StateStore) -> None:
    both = asyncio.Barrier(2)

    async def meet(call: ToolCall) -> int:
        async with asyncio.timeout(10):
            await both.wait()
        return call.step_index

    wishes = (ToolRequest("a", "meet", {}), ToolRequest("b", "meet", {}))
    agent = Agent(
        tools={"meet": Tool("meet", meet, "read")},
        model=ScriptedModel([ChatReply("", wishes), ChatReply("met")]),
    )

    task = await run_agent_with_state("meet", "s", d1, agent=agent)

    stored = await d1.get_task(task.task_id)
    assert stored is not None
    assert [step.output for step in stored.steps[1:3]] == [1, 2]
    assert stored.result == "met"


async def test_a_decision_about_a_wished_tool_reaches_the_model(d1: D1StateStore) -> None:
    async def charge(call: ToolCall) -> None:
        raise ConnectionError("lost")

    agent = Agent(
        tools={"charge": Tool("charge", charge)},
        model=ScriptedModel([wish(1, "charge"), ChatReply("paid")]),
    )
    asked = await run_agent_with_state("pay", "s", d1, agent=agent)
    assert asked.status == "waiting_tool"

    await resolve_step(d1, asked, 1, "done", {"paid": 5})
    task = await run_agent_with_state("pay", "s", d1, agent=agent)

    assert task.result == "paid"
    assert task.transcript[2]["content"] == '{"paid": 5}'


# --- run_agent_with_state ---


async def test_a_planned_task_runs_to_its_end_on_every_store(
    store: StateStore, effects: Effects
) -> None:
    await open_session("s", "u", store)
    tools = {
        "look": effects.tool("look", "read"),
        "charge": effects.tool("charge", "non_idempotent"),
    }
    agent = Agent(tools=tools, plan=plan_of("look", "charge", "look"))

    task = await run_agent_with_state("go", "s", store, agent=agent)

    stored = await store.get_task(task.task_id)
    assert stored is not None
    assert (stored.status, stored.outcome, stored.current_step) == ("completed", "done", 3)
    assert effects.log == ["look 0", "charge 1", "look 2"]


async def test_on_kv_a_task_goes_on_for_its_one_writer(kv: Any, effects: Effects) -> None:
    store = KVStateStore(kv)
    await open_session("s", "u", store)
    deaths = [Died()]

    async def mortal(call: ToolCall) -> int:
        effects.log.append(f"mortal {call.step_index}")
        if call.step_index == 1 and deaths:
            raise deaths.pop()
        return call.step_index

    agent = Agent(tools={"m": Tool("m", mortal, "idempotent")}, plan=plan_of("m", "m", "m"))
    with pytest.raises(Died):
        await run_agent_with_state("go", "s", store, agent=agent)

    task = await run_agent_with_state("go", "s", store, agent=agent)

    assert task.status == "completed"
    assert effects.log == ["mortal 0", "mortal 1", "mortal 1", "mortal 2"]


async def test_a_task_without_steps_is_completed(versioned_store: StateStore) -> None:
    agent = Agent(tools={}, plan=plan_of())

    task = await run_agent_with_state("nothing", "s", versioned_store, agent=agent)

    assert task.status == "completed"


async def test_a_plan_with_an_unknown_tool_fails_and_says_which(
    versioned_store: StateStore,
) -> None:
    agent = Agent(tools={}, plan=plan_of("fly"))

    with pytest.raises(StepFailed, match="there is no tool 'fly'"):
        await run_agent_with_state("go", "s", versioned_store, agent=agent)


async def test_a_session_that_is_not_there_starts_nothing(
    versioned_store: StateStore, effects: Effects
) -> None:
    agent = Agent(tools={"look": effects.tool("look", "read")}, plan=plan_of("look"))

    with pytest.raises(SessionNotFound):
        await run_agent_with_state("go", "nobody", versioned_store, agent=agent)


async def test_equal_questions_that_come_at_once_make_one_task(
    versioned_store: StateStore, effects: Effects
) -> None:
    agent = Agent(tools={"look": effects.tool("look", "read")}, plan=plan_of("look"))

    await asyncio.gather(
        *(
            run_agent_with_state("go", "s", versioned_store, agent=agent, wait_s=10)
            for _ in range(5)
        )
    )

    assert len(await versioned_store.get_tasks_by_session("s")) == 1


# --- run_agent_with_lock ---


async def test_a_locked_run_answers_in_the_documents_form(
    db: Any, d1: D1StateStore, effects: Effects
) -> None:
    agent = Agent(tools={"look": effects.tool("look", "read")}, plan=plan_of("look"))

    result = await run_agent_with_lock("go", "s", Env(db), agent=agent)

    assert result == {"status": "completed", "result": {"done": 0}}


async def test_who_comes_second_is_told_so_in_the_documents_words(
    db: Any, d1: D1StateStore
) -> None:
    begun, go = asyncio.Event(), asyncio.Event()

    async def slow(call: ToolCall) -> str:
        begun.set()
        async with asyncio.timeout(10):
            await go.wait()
        return "done"

    agent = Agent(tools={"slow": Tool("slow", slow, "read")}, plan=plan_of("slow"))
    first = asyncio.ensure_future(run_agent_with_lock("go", "s", Env(db), agent=agent))
    async with asyncio.timeout(10):
        await begun.wait()

    second = await run_agent_with_lock("go", "s", Env(db), agent=agent)
    with pytest.raises(TaskBusy):
        await run_agent_with_state("go", "s", d1, agent=agent)
    go.set()

    assert second == {"status": "conflict", "message": "任务正在执行中，请稍后再试"}
    assert await first == {"status": "completed", "result": "done"}


async def test_a_waiting_task_says_so(db: Any, d1: D1StateStore) -> None:
    async def charge(call: ToolCall) -> None:
        raise ConnectionError

    agent = Agent(tools={"charge": Tool("charge", charge)}, plan=plan_of("charge"))

    result = await run_agent_with_lock("go", "s", Env(db), agent=agent)

    assert result["status"] == "waiting_tool"


async def test_the_lock_is_free_after_the_run_however_it_ended(db: Any, d1: D1StateStore) -> None:
    async def fail(call: ToolCall) -> None:
        raise ToolFailed("no")

    agent = Agent(tools={"fail": Tool("fail", fail, "read")}, plan=plan_of("fail"))
    with pytest.raises(StepFailed):
        await run_agent_with_lock("go", "s", Env(db), agent=agent)

    (task,) = await d1.get_failed_tasks("s")
    assert await d1.acquire_lease(task.task_id, "next", ttl_s=60) is not None
