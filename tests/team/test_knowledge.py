"""Who may see and change what, in the repository and in the SQL; every refusal written down."""

from __future__ import annotations

from typing import Any

import pytest
from tests.team.world import Team

from edgestate.errors import VersionConflict
from edgestate.team import AccessDenied, Desk, Identity, RoleTaken, TeamMember, take_seat
from edgestate.team.sql import knowledge as sql

pytestmark = pytest.mark.anyio

WHO = ["planner", "worker-1", "worker-2", "critic"]


@pytest.fixture
async def members(team: Team) -> dict[str, TeamMember]:
    """One of each, and a fact of each visibility."""
    found = {
        "planner": await team.planner(),
        "worker-1": await team.worker(1),
        "worker-2": await team.worker(2),
        "critic": await team.critic(),
    }
    planner = found["planner"].knowledge
    await planner.create("norm", "be brief", kind="norm", visibility="public", acl=["worker-2"])
    await planner.create("split", "by file", kind="decision", visibility="restricted")
    await found["worker-1"].knowledge.create(
        "habit", "read twice", kind="preference", visibility="private", acl=["critic"]
    )
    return found


READERS = {"norm": set(WHO), "split": set(WHO), "habit": {"worker-1", "critic"}}
WRITERS = {"norm": {"planner", "worker-2"}, "split": {"planner"}, "habit": {"worker-1", "critic"}}


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("key", READERS)
async def test_a_fact_is_read_by_those_who_may_and_nobody_else(
    team: Team, members: dict[str, TeamMember], who: str, key: str
) -> None:
    if who in READERS[key]:
        fact = await members[who].knowledge.get(key)
        assert fact is not None
        assert fact.key == key
        return

    with pytest.raises(AccessDenied):
        await members[who].knowledge.get(key)

    (denial,) = await team.rows("SELECT agent_id, operation, object FROM access_denials")
    assert denial == {"agent_id": who, "operation": "read", "object": f"knowledge project/{key}"}


@pytest.mark.parametrize("who", WHO)
@pytest.mark.parametrize("key", WRITERS)
async def test_a_fact_is_changed_by_those_who_may_and_nobody_else(
    team: Team, members: dict[str, TeamMember], who: str, key: str
) -> None:
    owner = "worker-1" if key == "habit" else "planner"
    fact = await members[owner].knowledge.get(key)
    assert fact is not None

    if who in WRITERS[key]:
        assert await members[who].knowledge.update(fact, "changed") == 2
        return
    with pytest.raises(AccessDenied):
        await members[who].knowledge.update(fact, "changed")

    unchanged = await members[owner].knowledge.get(key)
    assert unchanged == fact
    assert len(await team.rows("SELECT * FROM access_denials")) == 1


async def test_lists_leave_out_what_an_agent_may_not_see(members: dict[str, TeamMember]) -> None:
    seen = {who: {f.key for f in await m.knowledge.all()} for who, m in members.items()}
    begun = await members["worker-2"].bootstrap("worker-2")

    assert seen == {
        "planner": {"norm", "split"},
        "worker-1": {"norm", "split", "habit"},
        "worker-2": {"norm", "split"},
        "critic": {"norm", "split", "habit"},
    }
    assert {fact.key for fact in begun.knowledge} == {"norm", "split"}


@pytest.mark.parametrize("visibility", ["public", "restricted"])
async def test_only_the_planner_begins_what_all_can_see(team: Team, visibility: Any) -> None:
    worker = await team.worker()

    with pytest.raises(AccessDenied):
        await worker.knowledge.create("x", 1, kind="lesson", visibility=visibility)

    assert await team.rows("SELECT * FROM shared_knowledge") == []


async def test_the_second_of_two_who_read_the_same_version_is_refused(
    members: dict[str, TeamMember],
) -> None:
    planner, worker = members["planner"].knowledge, members["worker-2"].knowledge
    seen_by_both = await planner.get("norm")
    assert seen_by_both is not None

    await planner.update(seen_by_both, "first")
    with pytest.raises(VersionConflict) as conflict:
        await worker.update(seen_by_both, "second")

    assert (conflict.value.expected, conflict.value.actual) == (1, 2)


async def test_a_fact_that_exists_is_not_created_again(members: dict[str, TeamMember]) -> None:
    with pytest.raises(VersionConflict):
        await members["planner"].knowledge.create("norm", 1, kind="norm", visibility="public")


async def test_the_memory_of_a_task_is_kept_apart_from_the_projects(team: Team) -> None:
    await team.goal("a")
    worker = await team.worker()

    await worker.memory.create("draft", "…", kind="note", visibility="private", scope="a")

    assert await worker.knowledge.get("draft") is None
    fact = await worker.memory.get("draft", scope="a")
    assert fact is not None
    assert fact.value == "…"


async def test_an_agent_that_lies_about_its_role_keeps_the_one_it_has(team: Team) -> None:
    planner, worker = await team.planner(), await team.worker()
    await planner.knowledge.create("split", "by file", kind="decision", visibility="restricted")
    fact = await worker.knowledge.get("split")
    assert fact is not None
    liar = TeamMember(team.record, Identity("worker-1", "planner", "lying"))

    with pytest.raises(RoleTaken):
        await team.member("worker-1", "planner")
    with pytest.raises(AccessDenied):
        await liar.knowledge.update(fact, "by chance")
    with pytest.raises(AccessDenied):
        await liar.contexts.begin("mine", "goal", None)

    assert (await take_seat(team.record, "worker-1")).role == "worker"
    assert len(await team.rows("SELECT * FROM access_denials")) == 3


async def test_a_second_planner_is_refused(team: Team) -> None:
    await team.planner()

    with pytest.raises(RoleTaken):
        await team.member("usurper", "planner")


async def test_who_is_not_enrolled_sees_and_does_nothing(
    team: Team, members: dict[str, TeamMember]
) -> None:
    stranger = TeamMember(team.record, Identity("stranger", "planner", "x"))

    with pytest.raises(AccessDenied):
        await take_seat(team.record, "stranger")
    with pytest.raises(AccessDenied):
        await stranger.knowledge.get("norm")
    with pytest.raises(AccessDenied):
        await stranger.messages.send("planner", "note", 1)

    for attempt in (
        stranger.knowledge.all(),
        stranger.board.claim(),
        stranger.board.tasks("goal"),
        stranger.messages.poll(),
        stranger.task_view("goal", min_version=1),
    ):
        with pytest.raises(AccessDenied):
            await attempt


async def test_the_sql_alone_hides_what_is_private(
    team: Team, members: dict[str, TeamMember]
) -> None:
    desk: Desk = members["worker-2"].desk

    rows = await team.rows(sql.LONG_TERM.get, desk.me, "project", "habit")

    assert rows == []
    assert sql.READABLE in sql.LONG_TERM.get
    assert sql.READABLE in sql.SHORT_TERM.all
    assert sql.WRITABLE in sql.SHORT_TERM.update


async def test_a_forgotten_filter_would_show_private_facts(
    team: Team, members: dict[str, TeamMember]
) -> None:
    unfiltered = sql.LONG_TERM.get.replace(f"AND {sql.READABLE}", "AND ?1 = ?1")

    assert await team.rows(unfiltered, "worker-2", "project", "habit") != []
