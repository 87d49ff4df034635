"""The document team on `localedge dev`: what it answers, to good requests and to bad ones."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.demo_team.server import TeamServer, apply_migrations, team_server
from tests.waiting import wait_until

pytestmark = [pytest.mark.anyio, pytest.mark.processes]

TEXT = "Rain falls. It falls on roofs. A lantern burns. The lantern is green, says a keeper."


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[TeamServer]:
    folder = tmp_path_factory.mktemp("team")
    await apply_migrations(folder / "state")
    async with team_server(folder) as running:
        yield running


async def post(server: TeamServer, body: Any) -> tuple[int, Any]:
    """The status and the answer to a posted goal, asked again while the team is too busy."""

    async def answered() -> tuple[int, Any] | None:
        answer = await server.http.post(f"{server.url}/goals", json=body)
        return (answer.status_code, answer.json()) if answer.status_code != 503 else None

    found: tuple[int, Any] | None = await wait_until(answered)
    assert found is not None
    return found


async def test_a_goal_is_reached_and_its_trace_and_metrics_can_be_read(server: TeamServer) -> None:
    status, begun = await post(server, {"goalId": "whole", "documents": {"a.md": TEXT}})
    await server.wake()

    async def report() -> Any:
        return (await server.http.get(f"{server.url}/goals/whole")).json().get("report")

    (entry,) = await wait_until(report, within_s=30)
    events = (await server.http.get(f"{server.url}/traces/{begun['traceId']}")).json()["events"]
    texts = {(await server.http.get(f"{server.url}/metrics")).text for _ in range(6)}
    four = (
        "team_message_latency_seconds_count",
        "team_transition_seconds_count",
        "team_conflict_ratio",
        "team_rollback_ratio",
    )

    assert status == 201
    assert (entry["document"], entry["attempts"]) == ("a.md", 2)
    assert {event["agent_id"] for event in events} >= {"planner", "critic"}
    assert all(f"\n{name}" in text for name in four for text in texts)


async def test_the_same_goal_with_other_documents_is_refused(server: TeamServer) -> None:
    await post(server, {"goalId": "twice", "documents": {"a.md": TEXT}})

    again, _ = await post(server, {"goalId": "twice", "documents": {"a.md": TEXT}})
    other, refused = await post(server, {"goalId": "twice", "documents": {"b.md": TEXT}})
    changed, _ = await post(server, {"goalId": "twice", "documents": {"a.md": TEXT + " More."}})

    assert (again, other, changed) == (201, 422, 422)
    assert refused["error"]["code"] == "request_mismatch"


@pytest.mark.parametrize(
    "body",
    [
        None,
        [],
        {},
        {"documents": {"a.md": TEXT}},
        {"goalId": ":", "documents": {"a.md": TEXT}},
        {"goalId": 7, "documents": {"a.md": TEXT}},
        {"goalId": "g" * 513, "documents": {"a.md": TEXT}},
        {"goalId": "bad", "documents": {}},
        {"goalId": "bad", "documents": {"a.md": ""}},
        {"goalId": "bad", "documents": {"a.md": 7}},
        {"goalId": "bad", "documents": {"": TEXT}},
        {"goalId": "bad", "documents": {str(n): "x y z." for n in range(201)}},
    ],
)
async def test_a_bad_goal_is_refused_and_begins_nothing(server: TeamServer, body: Any) -> None:
    status, answer = await post(server, body)
    unknown = await server.http.get(f"{server.url}/goals/bad")

    assert status == 400
    assert answer["error"]["code"] in ("bad_request", "invalid_id")
    assert unknown.status_code == 404


async def test_a_client_cannot_say_which_agent_it_is(server: TeamServer) -> None:
    body = {"goalId": "claimed", "documents": {"a.md": TEXT}, "agent": "critic", "role": "critic"}
    headers = {"x-agent-id": "critic", "x-role": "critic"}

    answer = await server.http.post(f"{server.url}/goals", json=body, headers=headers)
    trace = (await server.http.get(f"{server.url}/traces/claimed")).json()["events"]

    assert answer.status_code == 201
    assert {event["agent_id"] for event in trace if event["kind"] == "decision"} == {"planner"}
