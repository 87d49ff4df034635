"""What careless or hostile callers try: each has one defined answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import Any

import pytest
from pydantic import JsonValue
from tests.team.world import SlowDatabase, Team, claimed

from edgestate.errors import StateError, StoreRejected, StoreUnavailable, TaskNotFound
from edgestate.team import (
    AccessDenied,
    ContextConflictError,
    Cycle,
    Done,
    Identity,
    RequestInProgress,
    SagaDefinition,
    Sagas,
    SagaStep,
    SecretInSetting,
    StepCall,
    TeamMember,
    UnknownContext,
    Write,
)
from edgestate.team.requests import RequestClaim

pytestmark = pytest.mark.anyio


# --- effects are checked as if they were written alone ---


async def effect_under_an_old_context(team: Team) -> tuple[TeamMember, Write]:
    """A message that is sent under a context which is no longer the newest."""
    cycle = await team.goal("a")
    planner, worker = await team.planner(), await team.worker()
    await planner.contexts.freeze_context("goal", 2, context="newer")
    return worker, worker.messages.sending("planner", "note", "old", cycle=cycle)


async def test_an_effect_of_a_message_is_refused_under_an_old_context(team: Team) -> None:
    worker, effect = await effect_under_an_old_context(team)
    (zero,) = await worker.messages.poll()

    with pytest.raises(ContextConflictError):
        await worker.messages.consume(zero, effect)

    assert [message.seq for message in await worker.messages.poll()] == [zero.seq]


async def test_an_effect_of_a_request_is_refused_under_an_old_context(team: Team) -> None:
    worker, effect = await effect_under_an_old_context(team)
    claim = await worker.requests.claim("r", "sum", 1)
    assert isinstance(claim, RequestClaim)

    with pytest.raises(ContextConflictError) as refused:
        await worker.requests.finish(claim, 1, effect)

    assert (refused.value.expected, refused.value.actual) == (1, 2)
    with pytest.raises(RequestInProgress):
        await worker.requests.claim("r", "sum", 1)


async def test_an_effect_of_a_completion_is_refused_under_the_old_context_of_another_goal(
    team: Team,
) -> None:
    worker, effect = await effect_under_an_old_context(team)
    await team.goal("b", task_id="other")
    held = await claimed(worker, root_id="other")

    with pytest.raises(ContextConflictError):
        await worker.board.complete(held, 1, summary="one", effects=[effect])

    assert (await worker.board.task("b")).status == "running"


async def test_an_effect_of_a_saga_step_is_refused_under_an_old_context(team: Team) -> None:
    worker, effect = await effect_under_an_old_context(team)

    async def act(_call: StepCall) -> Done:
        return Done(1, (effect,))

    sagas = Sagas(worker.desk, [SagaDefinition("s", (SagaStep("one", act),))])
    saga_id = await sagas.start("s", None)

    with pytest.raises(ContextConflictError):
        await sagas.run(saga_id)

    assert (await sagas.get(saga_id)).steps[0].status == "running"


async def test_an_effect_that_only_the_planner_may_have_is_no_workers_effect(team: Team) -> None:
    await team.goal("a")
    worker = await team.worker()
    note = worker.messages.sending("planner", "note", 1)
    claim = await worker.requests.claim("r", "sum", 1)
    assert isinstance(claim, RequestClaim)
    (zero,) = await worker.messages.poll()
    forbidden = Write(note.operation, note.what, note.body, note.statements, roles=("planner",))

    with pytest.raises(AccessDenied):
        await worker.messages.consume(zero, forbidden)
    with pytest.raises(AccessDenied):
        await worker.requests.finish(claim, 1, forbidden)

    assert len(await team.rows("SELECT * FROM access_denials")) == 2


# --- contexts that are not there ---


@pytest.mark.parametrize("version", [0, -1])
async def test_a_context_before_the_first_cannot_be_read(team: Team, version: int) -> None:
    await team.goal("a")
    worker = await team.worker()

    with pytest.raises(ContextConflictError):
        await worker.contexts.read_context("goal", version, pinned=True)


async def test_contexts_are_those_of_goals(team: Team) -> None:
    await team.goal("a")
    planner = await team.planner()

    with pytest.raises(TaskNotFound):
        await planner.contexts.read_context("a", 1)
    with pytest.raises(TaskNotFound):
        await planner.contexts.freeze_context("a", 2, context="mine")
    with pytest.raises(TaskNotFound):
        await planner.contexts.freeze_context("nothing", 1, context="mine")


async def test_what_was_not_drafted_cannot_be_frozen(team: Team) -> None:
    await team.goal("a")
    planner = await team.planner()

    with pytest.raises(UnknownContext):
        await planner.contexts.freeze_context("goal", 2)

    assert await planner.contexts.current_version("goal") == 1


async def test_a_write_under_a_context_that_never_was_is_refused(team: Team) -> None:
    await team.goal("a")
    worker = await team.worker()

    with pytest.raises(ContextConflictError):
        await worker.decisions.record("a", "mine", "because", cycle=Cycle("goal", 9, "made up"))


# --- secrets, and who reads from the cache ---


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("apiKey", "x"),
        ("model", {"apiKey": "x"}),
        ("model", [{"headers": {"Authorization": "x"}}]),
        ("model", "Bearer abc"),
        ("model", {"url": ["sk-live-4f"]}),
        ("cert", "-----BEGIN PRIVATE KEY-----"),
        ("api_key", {"secret": "sk-live-4f"}),
        ("api_key", {"secret": {"token": "x"}}),
    ],
)
async def test_what_looks_like_a_secret_is_no_setting(
    team: Team, name: str, value: JsonValue
) -> None:
    planner = await team.planner()

    with pytest.raises(SecretInSetting):
        await planner.settings.set(name, value)

    assert await team.rows("SELECT * FROM team_settings") == []


async def test_who_is_not_in_the_team_reads_nothing_from_the_cache(
    cached_team: tuple[Team, SlowDatabase],
) -> None:
    team, database = cached_team
    planner = await team.planner()
    await planner.knowledge.create("norm", "be brief", kind="norm", visibility="public")
    await planner.knowledge.get("norm")
    stranger = TeamMember(team.record, Identity("stranger", "worker", "x"), kv=team.kv)

    with pytest.raises(AccessDenied):
        await stranger.knowledge.get("norm", min_version=1)
    database.is_down = True
    with pytest.raises(StoreUnavailable):
        await stranger.knowledge.get("norm", min_version=1)


async def test_who_says_another_role_than_its_own_reads_nothing(team: Team) -> None:
    await team.worker()
    liar = TeamMember(team.record, Identity("worker-1", "planner", "x"))

    with pytest.raises(AccessDenied, match="as planner"):
        await liar.messages.correlated("everything")

    (denial,) = await team.rows("SELECT agent_id, object FROM access_denials")
    assert denial == {"agent_id": "worker-1", "object": "as planner"}


# --- values that no database keeps ---


def nested(depth: int) -> JsonValue:
    value: JsonValue = 1
    for _ in range(depth):
        value = [value]
    return value


@pytest.mark.parametrize(
    "value", ["half \ud800", {"half \udfff": 1}, nested(100_000), float("inf"), {1}, b"bytes"]
)
async def test_what_cannot_be_stored_as_it_is_is_refused_everywhere(team: Team, value: Any) -> None:
    await team.goal("a")
    planner, worker = await team.planner(), await team.worker()
    held = await claimed(worker)
    tries: list[Callable[[], Awaitable[object]]] = [
        lambda: planner.messages.send("worker-1", "note", value),
        lambda: worker.board.complete(held, value, summary="one"),
        lambda: planner.knowledge.create("k", value, kind="norm", visibility="public"),
        lambda: planner.settings.set("model", value),
        lambda: planner.contexts.freeze_context("goal", 2, context=value),
        lambda: worker.requests.claim("r", "sum", value),
        lambda: Sagas(worker.desk, [SagaDefinition("s", ())]).start("s", value),
    ]

    for attempt in tries:
        with pytest.raises(StoreRejected):
            await attempt()

    assert (await worker.board.task("a")).status == "running"


@pytest.mark.parametrize("text", ["half \ud800"])
async def test_half_a_character_is_refused_in_texts_too(team: Team, text: str) -> None:
    await team.goal("a")
    planner, worker = await team.planner(), await team.worker()
    held = await claimed(worker)
    tries: list[Callable[[], Awaitable[object]]] = [
        lambda: planner.messages.send(text, "note", 1),
        lambda: planner.messages.send("worker-1", "note", 1, correlation_id=text),
        lambda: worker.board.complete(held, 1, summary=text),
        lambda: worker.board.fail(held, text),
        lambda: worker.board.release(held, reason=text),
        lambda: worker.decisions.record("a", text, text),
        lambda: planner.knowledge.create("k", 1, kind="norm", visibility="public", acl=[text]),
    ]

    for attempt in tries:
        with pytest.raises(StateError):
            await attempt()

    assert (await worker.board.task("a")).status == "running"


@pytest.mark.parametrize("ttl_s", [0, -1, float("nan"), float("inf"), 1e300])
async def test_a_claim_lasts_a_time_that_ends(team: Team, ttl_s: float) -> None:
    await team.goal("a")
    worker = await team.worker()

    with pytest.raises(ValueError, match="more than 0 s"):
        await worker.board.claim(ttl_s=ttl_s)
    with pytest.raises(ValueError, match="more than 0 s"):
        await worker.requests.claim("r", "sum", 1, ttl_s=ttl_s)

    assert (await worker.board.task("a")).status == "pending"
