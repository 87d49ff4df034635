"""What is kept of what happens: bounded, and nothing of it while nobody looks."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from localedge.isolate.failures import Failure
from localedge.isolate.secrets import Mask
from localedge.isolate.showing import shown
from localedge.supervisor.endings import CRASHED, DRAINED, MOST_DONE, Ending, Endings
from localedge.supervisor.happenings import CALL_BEGAN, CONSOLE, REQUEST_OPENED, Happening, Ring
from localedge.supervisor.history import Closing, History
from localedge.supervisor.stories import (
    MOST_BODIES_BYTES,
    MOST_BODY_BYTES,
    MOST_IN_ALL,
    MOST_OF_ONE,
    MOST_STORIES,
    Sent,
    Stories,
)
from localedge.values import UNDEFINED, JsDate, Uint8Array

pytestmark = pytest.mark.anyio


@dataclass
class Request:
    """A request as the gateway has it."""

    ray: str = "a" * 16
    began: float = 0.0
    body: bytes | None = None
    lines: list[tuple[bytes, bytes]] = field(default_factory=list)
    method: str = "GET"
    replay_of: str | None = None
    secrets: Mapping[str, str] = field(default_factory=dict)
    url: str = "http://a/"

    @property
    def shown_url(self) -> str:
        return self.url


def happening(number: int, ray: str = "", kind: str = CONSOLE, **facts: Any) -> Happening:
    return Happening(number, 0.0, kind, ray, None, facts)


async def test_the_ring_gives_what_came_after_a_number_and_forgets_the_oldest() -> None:
    ring = Ring(4)
    for number in range(1, 8):
        ring.add(happening(number))

    assert [one.number for one in ring.after(5, 10)] == [6, 7]
    assert [one.number for one in ring.after(0, 10)] == [4, 5, 6, 7]
    assert [one.number for one in ring.after(0, 2)] == [4, 5]
    assert ring.after(7, 10) == []


async def test_who_waits_for_the_ring_wakes_when_it_grows_and_when_it_closes() -> None:
    ring = Ring()
    waiting = asyncio.ensure_future(ring.grows(0, within_s=10))
    await asyncio.sleep(0)

    ring.add(happening(1))
    await waiting
    again = asyncio.ensure_future(ring.grows(1, within_s=10))
    await asyncio.sleep(0)
    ring.close()

    await again
    assert ring.is_closed


async def test_the_oldest_requests_make_room() -> None:
    stories = Stories()
    for number in range(MOST_STORIES + 10):
        stories.add(happening(number, f"{number}"))

    assert len([*stories]) == MOST_STORIES
    assert stories.get("9") is None
    assert stories.get("10") is not None


async def test_of_one_request_only_so_many_calls_are_kept_and_the_rest_counted() -> None:
    stories = Stories()
    for number in range(MOST_OF_ONE + 5):
        stories.add(happening(number, "a", CALL_BEGAN, call=number))

    story = stories.get("a")

    assert story is not None
    assert (len(story.happened), story.missing) == (MOST_OF_ONE, 5)
    assert story.summary()["calls"] == MOST_OF_ONE + 5


async def test_a_request_is_told_in_the_order_in_which_things_happened() -> None:
    stories = Stories()
    for number, at_ms in enumerate((5.0, 1.0, 3.0)):
        stories.add(Happening(number, at_ms, CONSOLE, "a", None, {}))

    story = stories.get("a")

    assert story is not None
    assert [one["at"] for one in story.whole()["happened"]] == [1.0, 3.0, 5.0]


async def test_of_all_requests_only_so_much_is_kept() -> None:
    stories = Stories()
    for ray in range(30):
        for number in range(MOST_OF_ONE):
            stories.add(happening(number, f"{ray}", CALL_BEGAN, call=number))

    assert sum(len(story.happened) for story in stories) <= MOST_IN_ALL
    assert stories.get("29") is not None


async def test_bodies_are_kept_within_a_budget_the_newest_last() -> None:
    stories = Stories()
    many = MOST_BODIES_BYTES // MOST_BODY_BYTES + 2
    for ray in range(many):
        stories.add(happening(ray, f"{ray}", REQUEST_OPENED))
        stories.keep(f"{ray}", Sent("POST", "http://a/", (), b"x" * MOST_BODY_BYTES))

    kept = [story.ray for story in stories if story.sent is not None]

    assert kept == [f"{ray}" for ray in range(2, many)]


async def test_nothing_is_recorded_until_somebody_looks_and_then_what_came_before_is_told() -> None:
    changes: list[bool] = []
    history = History(changes.append)
    failure = Failure(kind="ValueError", message="no", text="Traceback")

    history.closed(Request(), Closing(500, "exception", 7, failure))
    before = history.ring.newest
    history.look()

    assert before == 0
    assert changes == [True]
    kinds = [one.kind for one in history.ring.after(0, 10)]
    assert kinds == ["request.opened", "exception", "request.closed"]
    history.close()


async def test_a_request_is_over_only_after_its_response() -> None:
    history, request = History(), Request()
    history.look()
    history.opened(request, 7)

    history.over(request.ray, 7)
    history.closed(request, Closing(200))

    kinds = [one.kind for one in history.ring.after(0, 10)]
    assert kinds == ["request.opened", "request.closed", "request.over"]
    history.close()


async def test_large_bodies_are_not_held_while_nobody_looks() -> None:
    request = Request(body=b"x" * 100_000, lines=[(b"content-length", b"100000")])
    history = History()

    history.closed(request, Closing(200))
    history.look()

    story = history.stories.get(request.ray)
    assert story is not None
    assert story.sent is None
    history.close()


async def test_what_an_isolate_says_in_no_known_form_is_dropped() -> None:
    history = History()

    history.seen(1, "a", {"kind": "request.closed", "status": 200}, 1.0)
    history.seen(1, "a", "no facts", 1.0)  # type: ignore[arg-type]  # an isolate can send anything
    history.seen(1, "a", {"kind": "call.began"}, "soon")  # type: ignore[arg-type]

    assert history.ring.newest == 0


async def test_values_are_shown_as_json_cut_and_masked() -> None:
    mask = Mask(["hunter22"])

    assert shown({"a": [1, None, 0.5, True]}, mask) == '{"a": [1, null, 0.5, true]}'
    assert shown("say hunter22", mask) == '"say ***"'
    assert shown(b"\x01\x02", mask) == '"2 bytes: 01 02"'
    assert shown(Uint8Array(b"\xff" * 60), mask).startswith('"60 bytes: ff ff')
    assert shown(UNDEFINED, mask) == '"undefined"'
    assert shown(JsDate(0), mask).startswith('"Thu Jan 01 1970')
    assert shown(float("inf"), mask) == '"inf"'
    assert shown(list(range(30)), mask).endswith('"… 10 more"]')
    assert shown({str(n): n for n in range(30)}, mask).endswith('"…": "10 more"}')
    assert shown([[[[[["deep"]]]]]], mask) == '[[[[["…"]]]]]'
    assert shown("x" * 5000, mask).endswith("… (5,002 characters)")


async def test_a_secret_that_stands_where_a_value_is_cut_is_masked_whole() -> None:
    text = shown("x" * 1995 + "hunter22", Mask(["hunter22"]))

    assert "hunt" not in text


def ending(pid: int, cause: str) -> Ending:
    return Ending(
        pid=pid,
        generation=1,
        at_ms=float(pid),
        cause=cause,
        rays={},
        served=1,
        age_s=1.0,
        was_watched=False,
    )


async def test_isolates_that_ended_in_order_do_not_crowd_out_a_crash() -> None:
    endings = Endings()
    endings.add(ending(1, CRASHED))
    for pid in range(2, 100):
        endings.add(ending(pid, DRAINED))

    assert [one.pid for one in endings] == [1, *range(100 - MOST_DONE, 100)]


async def test_an_exit_is_known_whether_it_is_told_before_or_after_the_end() -> None:
    endings = Endings()
    endings.exited(1, -9)
    endings.add(ending(1, CRASHED))
    endings.add(ending(2, CRASHED))
    endings.exited(2, 3)

    assert [one.status for one in endings] == [-9, 3]
