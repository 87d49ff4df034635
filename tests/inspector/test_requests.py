"""Live's API: requests with all that happened for them, cut and masked, and sent again."""

from __future__ import annotations

from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.inspector.shop import API, SECRET, calls, get, kinds, post, shop, text_of, told
from tests.runtime.edge import Edge, edge, worker, write_project
from tests.waiting import wait_until

pytestmark = [
    pytest.mark.anyio,
    pytest.mark.processes,
    # One server for all of them, in one process of the test run.
    pytest.mark.xdist_group("inspector-requests"),
]


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edge]:
    async with shop(tmp_path_factory.mktemp("shop")) as running:
        yield running


async def test_a_request_is_listed_with_how_it_was_answered(server: Edge) -> None:
    story = await told(server, "/order?size=7")

    listed = (await get(server, "requests?limit=1"))["requests"][0]
    assert (listed["method"], listed["status"], listed["outcome"]) == ("GET", 201, "ok")
    assert listed["url"] == f"{server.run.url}/order?size=7"
    assert listed["pid"] in await server.isolates()
    assert listed["calls"] == 4
    assert 0 < listed["ms"] < 5000
    assert listed["ray"] == story["ray"]


async def test_its_calls_are_told_in_order_with_what_went_on_after_the_response(
    server: Edge,
) -> None:
    story = await told(server, "/order")

    assert calls(story) == ["DB.exec", "DB.run", "CACHE.put", "CACHE.put"]
    began = [one for one in story["happened"] if one["kind"] == "call.began"]
    assert [one["waitUntil"] for one in began] == [False, False, False, True]
    assert kinds(story)[-1] == "request.over"
    assert kinds(story).index("request.closed") < kinds(story).index("request.over")


async def test_a_statement_is_told_with_its_sql_and_values(server: Edge) -> None:
    story = await told(server, "/order")

    run = next(one for one in story["happened"] if one.get("operation") == "run")
    assert run["subject"] == '{"sql": "INSERT INTO orders VALUES (?)", "params": ["hat"]}'
    ended = [one for one in story["happened"] if one["kind"] == "call.ended"]
    assert all(one["ms"] > 0 and "error" not in one for one in ended)


async def test_secrets_are_masked_and_long_values_cut(server: Edge) -> None:
    story = await told(
        server, f"/order?key={SECRET}", headers={"authorization": "Bearer abc", "x-key": SECRET}
    )

    assert SECRET not in text_of(story)
    assert "Bearer abc" not in text_of(story)
    lines = [one["text"] for one in story["happened"] if one["kind"] == "console"]
    assert lines == ["an order of ***"]
    put = next(one for one in story["happened"] if one.get("operation") == "put")
    assert put["arguments"][1].startswith('"*** xxx')
    assert len(put["arguments"][1]) < 2100


async def test_bodies_are_shown_cut_and_masked(server: Edge) -> None:
    long = f"{SECRET} " + "x" * 3000

    story = await told(server, "/echo", method="POST", content=long)
    binary = await told(server, "/echo", method="POST", content=b"\xff\xfe")

    assert story["body"].startswith("*** xxx")
    assert story["body"].endswith("… (3,004 characters)")
    assert story["answer"].startswith("got *** xxx")
    assert binary["body"] == "2 bytes"


async def test_what_it_raised_is_told_with_its_traceback(server: Edge) -> None:
    story = await told(server, "/markup")

    raised = next(one for one in story["happened"] if one["kind"] == "exception")
    assert raised["error"] == "ValueError"
    assert "raise ValueError(MARKUP)" in raised["traceback"]
    assert story["outcome"] == "exception"


async def test_a_fetch_is_a_call_with_its_url(server: Edge) -> None:
    story = await told(server, "/outside")

    began = next(one for one in story["happened"] if one["kind"] == "call.began")
    assert began["type"] == "fetch"
    assert began["arguments"] == ['"GET"', f'"{server.run.url}/hello"']
    ended = next(one for one in story["happened"] if one["kind"] == "call.ended")
    assert ended["result"] == f'"[Response 200 {server.run.url}/hello]"'


async def test_a_request_is_sent_again_as_it_came(server: Edge) -> None:
    story = await told(server, "/echo", method="POST", content=b"a hat", headers={"x-a": "b"})

    answer = await post(server, f"requests/{story['ray']}/replay")

    assert (answer["status"], answer["outcome"]) == (200, "ok")
    assert answer["bytes"] == len("got a hat")
    again = (await get(server, "requests?limit=1"))["requests"][0]
    assert again["replayOf"] == story["ray"]
    assert (again["method"], again["url"]) == ("POST", story["url"])
    told_again = await get(server, f"requests/{again['ray']}")
    assert ["x-a", "b"] in told_again["headers"]
    assert (told_again["body"], told_again["answer"]) == ("a hat", "got a hat")


async def test_a_body_in_pieces_is_sent_again_too(server: Edge) -> None:
    async def pieces() -> AsyncIterator[bytes]:
        yield b"two "
        yield b"hats"

    story = await told(server, "/echo", method="POST", content=pieces())

    answer = await post(server, f"requests/{story['ray']}/replay")

    assert answer["bytes"] == len("got two hats")


async def test_a_body_over_a_megabyte_is_not_kept(server: Edge) -> None:
    story = await told(server, "/echo", method="POST", content=b"x" * 1_000_001)

    answer = await server.order(f"api/requests/{story['ray']}/replay")

    assert story["canReplay"] is False
    assert answer.status_code == 409
    assert "over 1 MB" in answer.json()["error"]["message"]


async def test_a_request_that_nobody_knows_is_a_404(server: Edge) -> None:
    answer = await server.get(f"{API}/requests/0000000000000000")

    assert answer.status_code == 404
    assert "no longer kept" in answer.json()["error"]["message"]


async def test_a_cron_is_a_request_too(server: Edge) -> None:
    fired = await post(server, "crons/fire", worker="tested", cron="*/5 * * * *")

    listed = (await get(server, "requests?limit=1"))["requests"][0]
    assert fired == {"outcome": "ok", "noRetry": False}
    assert (listed["method"], listed["url"], listed["outcome"]) == ("CRON", "*/5 * * * *", "ok")
    assert calls(await get(server, f"requests/{listed['ray']}")) == ["CACHE.get"]
    again = await post(server, f"requests/{listed['ray']}/replay")
    assert (again["replayOf"], again["outcome"]) == (listed["ray"], "ok")


async def test_what_came_before_the_first_look_is_listed_without_calls(
    tmp_path: Path,
) -> None:
    source = worker("""
        print("a line")
        return Response("hello")
    """)
    write_project(tmp_path, source, local="isolates = 1")
    async with edge(tmp_path) as early:
        await early.get("/before")
        await early.wait_log("a line")

        seen = (await get(early, "requests"))["requests"]
        await early.get("/after")

        assert [one["url"] for one in seen] == [f"{early.run.url}/before"]
        assert (seen[0]["lines"], seen[0]["status"]) == (1, 200)

        async def two() -> bool:
            return len((await get(early, "requests"))["requests"]) == 2

        await wait_until(two)
