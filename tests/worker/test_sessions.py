"""Sessions over HTTP: created, read, and over after 24 hours."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.conftest import Freeze
from tests.worker.edge import Edge
from tests.worker.orders import TRIP
from tests.worker.schema import rows

pytestmark = pytest.mark.anyio

HOUR_S = 3600
NOON = "2026-12-01T12:00:00Z"


async def listed(edge: Edge) -> list[str]:
    """The names of the namespace's keys."""
    found = await edge.env.SESSIONS.list()
    return [key["name"] for key in found["keys"]]


async def test_a_new_session_has_a_key_in_kv_and_a_row_in_d1(edge: Edge, database: Path) -> None:
    created = await edge.post("/sessions", {"userId": "ada"})

    session_id = created.body["sessionId"]
    assert created.status == 201
    assert await edge.env.SESSIONS.get(f"agent:session:{session_id}", "json") == created.body
    assert rows(database, "SELECT id, user_id FROM agent_sessions") == [(session_id, "ada")]


async def test_a_session_reads_back_as_it_was_created(edge: Edge) -> None:
    created = await edge.post("/sessions", {"userId": "ada"})

    read = await edge.get(f"/sessions/{created.body['sessionId']}")

    assert (read.status, read.body) == (200, created.body)


async def test_a_sessions_key_is_there_at_23_h_59_min(edge: Edge, frozen: Freeze) -> None:
    clock = frozen(NOON)
    session_id = await edge.session()

    clock.tick(24 * HOUR_S - 60)

    key = f"agent:session:{session_id}"
    assert await edge.env.SESSIONS.get(key) is not None
    assert await listed(edge) == [key]
    assert (await edge.get(f"/sessions/{session_id}")).status == 200


async def test_a_sessions_key_is_gone_at_24_h(edge: Edge, frozen: Freeze) -> None:
    clock = frozen(NOON)
    session_id = await edge.session()

    clock.tick(24 * HOUR_S)

    assert await edge.env.SESSIONS.get(f"agent:session:{session_id}") is None
    assert await listed(edge) == []
    answer = await edge.get(f"/sessions/{session_id}")
    assert (answer.status, answer.code) == (410, "SESSION_EXPIRED")


async def test_a_task_keeps_its_session_for_another_24_h(edge: Edge, frozen: Freeze) -> None:
    clock = frozen(NOON)
    session_id = await edge.session()
    clock.tick(HOUR_S)
    await edge.post(f"/sessions/{session_id}/tasks", TRIP)

    clock.tick(24 * HOUR_S - 60)
    at_the_end = await edge.get(f"/sessions/{session_id}")
    clock.tick(60)
    afterwards = await edge.get(f"/sessions/{session_id}")

    assert (at_the_end.status, afterwards.status) == (200, 410)


async def test_an_expired_session_takes_no_task(edge: Edge, frozen: Freeze, database: Path) -> None:
    clock = frozen(NOON)
    session_id = await edge.session()
    clock.tick(24 * HOUR_S)

    answer = await edge.post(f"/sessions/{session_id}/tasks", TRIP)

    assert (answer.status, answer.code) == (410, "SESSION_EXPIRED")
    assert rows(database, "SELECT id FROM agent_tasks") == []


@pytest.mark.parametrize("elapsed_s", [59, 60])
async def test_a_key_with_a_ttl_of_60_s_is_gone_from_get_and_list_at_60_s(
    edge: Edge, frozen: Freeze, elapsed_s: int
) -> None:
    clock = frozen(NOON)
    await edge.env.SESSIONS.put("short", "lived", expirationTtl=60)

    clock.tick(elapsed_s)

    lives = elapsed_s < 60
    assert await edge.env.SESSIONS.get("short") == ("lived" if lives else None)
    assert await listed(edge) == (["short"] if lives else [])
