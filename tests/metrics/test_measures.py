"""What a process counts, and how the counts of several become one."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import Any, ClassVar

import pytest

import edgestate
from localedge.binding import JsBinding
from localedge.errors import JsException
from localedge.isolate.tool_calls import observe_tools
from localedge.probe import Call, Probe
from localedge.supervisor.measures import Measures, rows_of
from localedge.tally import BOUNDS_S, MOST_KINDS, Tally


class Store(JsBinding):
    """A binding whose methods end in each way, at once and after a turn of the loop."""

    js_class = "Store"
    kind = "kv"
    goes_on_by_itself = True
    js_methods: ClassVar = {
        name: name for name in ("get", "later", "fails", "fails_later", "hangs")
    }

    async def get(self) -> None:
        """Nothing, at once."""

    async def later(self) -> None:
        """Nothing, after a turn."""
        await asyncio.sleep(0)

    async def fails(self) -> None:
        """An error at once."""
        raise JsException("no")

    async def fails_later(self) -> None:
        """An error after a turn."""
        await asyncio.sleep(0)
        raise JsException("no")

    async def hangs(self) -> None:
        """Nothing, never."""
        await asyncio.Event().wait()


class Slow(Store):
    """The same, with a task for each call."""

    goes_on_by_itself = False


class Looking:
    """An observer that does nothing."""

    async def before(self, call: Call) -> None:
        """Nothing."""

    async def after(self, call: Call, outcome: Any) -> None:
        """Nothing."""


def _counts(tally: Tally) -> dict[tuple[str, ...], int]:
    return {key: sum(counts) for key, _, counts in tally.rows()}


@pytest.mark.anyio
@pytest.mark.parametrize("is_observed", [False, True])
@pytest.mark.parametrize("binding", [Store, Slow])
async def test_calls_are_counted_by_how_they_ended(binding: type[Store], is_observed: bool) -> None:
    probe = Probe()
    if is_observed:
        probe.attach(Looking())
    store = binding().wrapped("KV", probe)
    await store.get()
    await store.get()
    await store.later()
    for failing in (store.fails, store.fails_later):
        with pytest.raises(JsException):
            await failing()

    assert _counts(probe.tally) == {
        ("kv", "KV", "get", "ok"): 2,
        ("kv", "KV", "later", "ok"): 1,
        ("kv", "KV", "fails", "error"): 1,
        ("kv", "KV", "fails_later", "error"): 1,
    }


@pytest.mark.anyio
async def test_a_call_whose_caller_was_cancelled_is_counted_as_that() -> None:
    probe = Probe()
    calling = asyncio.ensure_future(Store().wrapped("KV", probe).hangs())
    await asyncio.sleep(0)
    calling.cancel()
    with pytest.raises(asyncio.CancelledError):
        await calling

    assert _counts(probe.tally) == {("kv", "KV", "hangs", "canceled"): 1}


@pytest.mark.anyio
async def test_an_agents_tools_are_counted_by_name(monkeypatch: pytest.MonkeyPatch) -> None:
    probe = Probe()
    monkeypatch.setattr(edgestate, "observe", None)
    observe_tools(probe)

    async def charge() -> str:
        return "paid"

    assert edgestate.observe is not None
    answer = await edgestate.observe("charge", {}, charge)

    assert answer == "paid"
    assert _counts(probe.tally) == {("tool", "", "charge", "ok"): 1}


def test_a_duration_falls_into_the_first_interval_that_holds_it() -> None:
    tally = Tally()
    now = perf_counter()

    tally.ended("kv", "KV", "get", now - 0.0003)
    tally.ended("kv", "KV", "get", now - 1000)

    ((_, total_s, counts),) = tally.rows()
    assert total_s > 1000
    assert sum(counts[:6]) == 1
    assert counts[-1] == 1


def test_names_that_worker_code_makes_up_do_not_fill_the_memory() -> None:
    tally = Tally()
    for number in range(MOST_KINDS + 1000):
        tally.ended("service", "API", f"method{number}", perf_counter())

    counts = _counts(tally)

    assert len(counts) <= MOST_KINDS + 1
    assert counts[("service", "", "other", "ok")] == 1000


def test_there_is_news_until_somebody_has_asked() -> None:
    tally = Tally()
    assert not tally.has_news
    tally.ended("kv", "KV", "get", perf_counter())
    assert tally.has_news

    tally.rows()

    assert not tally.has_news


def _told(count: int) -> list[Any]:
    counts = [count] + [0] * len(BOUNDS_S)
    return [[["kv", "KV", "get", "ok"], 0.5, counts]]


def test_calls_of_the_living_and_of_the_dead_are_added() -> None:
    measures = Measures()
    measures.ending("crashed", _told(3))
    measures.ending("drained", None)

    calls = measures.calls([_told(4), None])

    (durations,) = calls.values()
    assert sum(durations.counts) == 7
    assert durations.total_s == 1.0
    assert measures.endings == {"crashed": 1, "drained": 1}


def test_asking_twice_does_not_count_twice() -> None:
    measures = Measures()
    measures.ending("crashed", _told(3))
    measures.calls([_told(4)])

    (durations,) = measures.calls([_told(4)]).values()

    assert sum(durations.counts) == 7


@pytest.mark.parametrize(
    "told",
    [
        7,
        "rows",
        [7],
        [[["kv"], 0.5, []]],
        [[["kv", "KV", "get", "ok"], "0.5", [1] * 18]],
        [[["kv", "KV", "get", "ok"], 0.5, [1] * 17]],
        [[["kv", "KV", "get", "ok"], 0.5, [-1] * 18]],
        [[["kv", "KV", "get", "ok"], 0.5, [True] * 18]],
        [[["kv", "KV", "get", 1], 0.5, [1] * 18]],
    ],
)
def test_what_an_isolate_makes_up_is_dropped(told: object) -> None:
    assert rows_of(told) == []
