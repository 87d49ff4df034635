"""What the worker says to requests that it cannot serve: a status, a code, a sentence."""

from __future__ import annotations

from typing import Any

import pytest
from tests.demo.travel_control import TravelControl
from tests.worker.edge import Edge
from tests.worker.orders import TRIP, trip_with, trip_without

pytestmark = [pytest.mark.anyio, pytest.mark.slow]

NOBODY = "0" * 32


@pytest.mark.parametrize("path", [f"/sessions/{NOBODY}", "/sessions/%2e", f"/sessions/{'x' * 600}"])
async def test_an_unknown_session_is_a_404(edge: Edge, path: str) -> None:
    answer = await edge.get(path)

    assert (answer.status, answer.code) == (404, "session_unknown")


async def test_a_task_for_an_unknown_session_is_a_404(edge: Edge) -> None:
    answer = await edge.post(f"/sessions/{NOBODY}/tasks", TRIP)

    assert (answer.status, answer.code) == (404, "session_unknown")


async def test_an_unknown_task_is_a_404(edge: Edge) -> None:
    answer = await edge.get(f"/tasks/{NOBODY}")

    assert (answer.status, answer.code) == (404, "task_unknown")


@pytest.mark.parametrize("path", ["/nothing", "/sessions/a/b", "/tasks", "//", "/sessions//tasks/"])
async def test_an_unknown_route_is_a_404_that_names_the_path(edge: Edge, path: str) -> None:
    answer = await edge.send("DELETE", path)

    assert answer.status in (404, 405)
    assert "error" in answer.body


async def test_a_route_asked_with_another_method_names_its_own(edge: Edge) -> None:
    answer = await edge.get("/sessions")

    assert (answer.status, answer.code) == (405, "method_unknown")
    assert answer.headers["allow"] == "POST"


@pytest.mark.parametrize(
    ("body", "code"),
    [
        (b"", "json_malformed"),
        (b"{", "json_malformed"),
        (b"\xff\xfe", "json_malformed"),
        (b"[" * 60_000, "json_malformed"),
        (b"[]", "json_not_object"),
        (b"null", "json_not_object"),
        (b"{}", "field_missing"),
        (b'{"userId": null}', "field_missing"),
        (b'{"userId": 7}', "field_invalid"),
        (b'{"userId": "  "}', "field_invalid"),
        (b'{"userId": "a\\u0000b"}', "field_invalid"),
        (b'{"userId": "\\ud800"}', "field_invalid"),
        (b'{"userId": "%s"}' % (b"x" * 501), "field_invalid"),
    ],
)
async def test_a_body_that_cannot_be_used_is_a_400(edge: Edge, body: bytes, code: str) -> None:
    answer = await edge.post("/sessions", body)

    assert (answer.status, answer.code) == (400, code)


async def test_a_body_over_64_kib_is_a_413(edge: Edge) -> None:
    answer = await edge.post("/sessions", b"x" * 65_537)

    assert (answer.status, answer.code) == (413, "body_too_long")


@pytest.mark.parametrize("field", sorted(TRIP["trip"]))
async def test_a_trip_without_a_field_is_a_400_that_names_it(
    edge: Edge, travel: TravelControl, field: str
) -> None:
    session_id = await edge.session()

    answer = await edge.post(f"/sessions/{session_id}/tasks", trip_without(field))

    assert (answer.status, answer.code) == (400, "field_missing")
    assert field in answer.body["error"]["message"]
    assert await travel.calls() == []


@pytest.mark.parametrize(
    "body",
    [
        trip_with(origin="Zurich"),
        trip_with(destination="lis"),
        trip_with(date="24.12.2026"),
        trip_with(email="nobody"),
        TRIP | {"trip": []},
        TRIP | {"goal": ""},
        TRIP | {"requestId": 5},
    ],
)
async def test_a_field_of_the_wrong_form_is_a_400(edge: Edge, body: dict[str, Any]) -> None:
    session_id = await edge.session()

    answer = await edge.post(f"/sessions/{session_id}/tasks", body)

    assert (answer.status, answer.code) == (400, "field_invalid")


async def test_a_request_id_used_for_another_trip_is_a_409(edge: Edge) -> None:
    session_id = await edge.session()
    await edge.post(f"/sessions/{session_id}/tasks", TRIP | {"requestId": "r1"})

    answer = await edge.post(
        f"/sessions/{session_id}/tasks", trip_with(destination="OPO") | {"requestId": "r1"}
    )

    assert (answer.status, answer.code) == (409, "request_id_reused")


async def test_a_decision_that_nobody_asked_for_is_a_409(edge: Edge) -> None:
    session_id = await edge.session()
    task = (await edge.post(f"/sessions/{session_id}/tasks", TRIP)).body

    answer = await edge.post(f"/tasks/{task['taskId']}/steps/2/decision", {"decision": "retry"})

    assert (answer.status, answer.code) == (409, "no_decision_needed")


async def test_a_decision_that_does_not_exist_is_a_400(edge: Edge) -> None:
    answer = await edge.post(f"/tasks/{NOBODY}/steps/2/decision", {"decision": "maybe"})

    assert (answer.status, answer.code) == (400, "field_invalid")
