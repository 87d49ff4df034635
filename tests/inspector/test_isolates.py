"""Isolates' API: what each uses, what can be done to one, and where a dead one was."""

from __future__ import annotations

import asyncio
import signal
from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.inspector.shop import API, get, kinds, post, shop
from tests.runtime.edge import Edge
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.processes,
    # One server for all of them, in one process of the test run.
    pytest.mark.xdist_group("inspector-isolates"),
]


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edge]:
    async with shop(tmp_path_factory.mktemp("shop")) as running:
        yield running


async def isolates(server: Edge) -> dict[int, dict[str, Any]]:
    worker = (await get(server, "isolates"))["workers"][0]
    return {one["pid"]: one for one in worker["isolates"]}


async def ending(server: Edge, pid: int) -> dict[str, Any]:
    """How the isolate `pid` ended, once its exit status is known."""

    async def known() -> dict[str, Any] | None:
        ended = (await get(server, "isolates"))["ended"]
        found: list[dict[str, Any]] = [one for one in ended if one["pid"] == pid]
        return found[0] if found and found[0]["status"] is not None else None

    found: dict[str, Any] | None = await wait_until(known)
    assert found is not None
    return found


async def waiting(server: Edge) -> tuple[int, asyncio.Task[Any]]:
    """The pid of an isolate that waits in a request, its only call made, and that request."""
    request = asyncio.ensure_future(server.get("/wait"))

    async def busy() -> int | None:
        for pid, one in (await isolates(server)).items():
            for request in one["requests"]:
                story = await server.get(f"{API}/requests/{request['ray']}")
                if story.is_success and "call.ended" in kinds(story.json()):
                    return pid
        return None

    pid = await wait_until(busy)
    assert pid is not None
    return pid, request


async def test_each_is_shown_with_its_age_memory_and_cpu(server: Edge) -> None:
    await server.wait_full()

    shown = await isolates(server)

    assert sorted(one["state"] for one in shown.values()) == ["serving", "serving", "standby"]
    for one in shown.values():
        assert one["generation"] == 1
        assert 0 < one["age_s"] < 300
        assert 1_000_000 < one["memory_bytes"] < 128_000_000
        assert 0 < one["cpu_s"] < 60
        assert one["in_flight"] == len(one["requests"])
        assert one["blocked_s"] == 0


async def test_a_crash_shows_the_calls_before_and_the_call_under_way(server: Edge) -> None:
    answer = await server.get("/die")

    ended = await ending(server, int(answer.headers["x-localedge-isolate"]))

    assert (ended["cause"], ended["status"]) == ("crashed", -signal.SIGKILL)
    (place,) = ended["in_flight"]
    assert (place["method"], place["url"]) == ("GET", f"{server.run.url}/die")
    assert [call["subject"] for call in place["before"]] == [
        '{"sql": "SELECT 1 AS one", "params": []}'
    ]
    assert [call["arguments"] for call in place["under_way"]] == [['"under way"']]
    assert [line["text"] for line in place["lines"]] == ["last words"]


async def test_a_killed_one_is_told_as_killed(server: Edge) -> None:
    pid, request = await waiting(server)

    await post(server, f"isolates/{pid}/kill")

    ended = await ending(server, pid)
    assert (ended["cause"], ended["status"]) == ("killed", -signal.SIGKILL)
    (place,) = ended["in_flight"]
    assert [call["arguments"] for call in place["before"]] == [['"before waiting"']]
    assert place["under_way"] == []
    assert (await request).headers["x-localedge-outcome"] == "internalError"


async def test_a_drained_one_gets_no_more_requests_and_ends_with_its_last(server: Edge) -> None:
    await server.wait_full()
    pid, request = await waiting(server)

    await post(server, f"isolates/{pid}/drain")

    assert (await isolates(server))[pid]["state"] == "draining"
    answers = [await server.get("/hello") for _ in range(6)]
    assert str(pid) not in {answer.headers["x-localedge-isolate"] for answer in answers}
    request.cancel()
    ended = await ending(server, pid)
    assert (ended["cause"], ended["status"]) == ("drained", 0)


async def test_an_idle_one_that_is_drained_ends_and_another_takes_its_place(server: Edge) -> None:
    before = await server.wait_full()

    await post(server, f"isolates/{before[0]}/drain")

    assert (await ending(server, before[0]))["cause"] == "drained"
    after = await server.wait_full()
    assert set(before[1:]) < set(after)


async def test_a_blocked_one_answers_when_its_time_is_over(server: Edge) -> None:
    pids = await server.wait_full()
    for pid in pids:
        await post(server, f"isolates/{pid}/block", seconds=1)
    blocked = [one["blocked_s"] for one in (await isolates(server)).values()]

    answer = await server.get("/hello")

    assert all(0 < left <= 1 for left in blocked)

    assert answer.text == "hello"
    listed = (await get(server, "requests?limit=1"))["requests"][0]
    assert listed["ms"] > 400


async def test_nobody_can_block_one_for_ever(server: Edge) -> None:
    pid = (await server.isolates())[0]

    answers = [
        await server.order(f"api/isolates/{pid}/block", seconds=seconds)
        for seconds in ("61", "0", "-1", "nan", "x")
    ]

    assert [answer.status_code for answer in answers] == [400] * 5
    assert "at most 60" in answers[0].json()["error"]["message"]


async def test_an_isolate_that_is_gone_is_a_404(server: Edge) -> None:
    answer = await server.order("api/isolates/1/kill")

    assert answer.status_code == 404
    assert answer.json()["error"]["message"] == "there is no isolate 1 (any more)"
