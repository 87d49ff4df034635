"""Where an isolate was when it died, although nobody was looking."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest
from tests.inspector.shop import SECRET, SOURCE, get
from tests.runtime.edge import Edge, edge, write_project
from tests.waiting import wait_until

from localedge.d1.database import D1PreparedStatement
from localedge.isolate.secrets import Mask
from localedge.isolate.steps import CALLS, Step, path_of, taken
from localedge.isolate.trail import keep_trail
from localedge.tally import Tally


def trail(state: Path) -> Tally:
    tally = Tally()
    keep_trail(tally, state)
    return tally


def left(state: Path, *secrets: str) -> list[Step]:
    return list(taken(state, os.getpid(), Mask(secrets)))


def test_calls_are_left_in_order_with_those_under_way(tmp_path: Path) -> None:
    tally = trail(tmp_path)
    first = tally.begin("KV", "put", ["hat", "x"], None)
    tally.begin("KV", "get", ["under way"], None)
    tally.begin("", "fetch", ["GET", "http://a/"], None)

    tally.ended("kv", "KV", "put", first)

    assert left(tmp_path) == [
        Step(0, "KV", "put", "hat", has_ended=True),
        Step(0, "KV", "get", "under way", has_ended=False),
        Step(0, "", "fetch", "GET", has_ended=False),
    ]
    assert not path_of(tmp_path, os.getpid()).exists()


def test_statements_are_left_as_one_line_a_batch_as_its_first(tmp_path: Path) -> None:
    tally = trail(tmp_path)
    runner: Any = None
    statement = D1PreparedStatement(runner, "\n  SELECT 1\n  AS one")

    tally.begin("DB", "first", ["one"], statement)
    tally.begin("DB", "batch", [[statement, statement]], None)
    tally.begin("KV", "list", [{"prefix": "a"}], None)

    assert [step.what for step in left(tmp_path)] == ["SELECT 1   AS one", "SELECT 1   AS one", ""]


def test_only_the_last_calls_are_kept_and_short_ones_show_nothing_of_long_ones(
    tmp_path: Path,
) -> None:
    tally = trail(tmp_path)
    for number in range(CALLS + 2):
        text = f"{number} " + ("long " * 50 if number < 2 else "")
        tally.ended("kv", "KV", "get", tally.begin("KV", "get", [text], None))

    steps = left(tmp_path)

    assert len(steps) == CALLS
    assert [step.what for step in steps[:2]] == ["2 ", "3 "]
    assert steps[-1].what == f"{CALLS + 1} "


@pytest.mark.parametrize("cut", range(130, 156))
def test_no_part_of_a_secret_is_left_where_a_text_is_cut(tmp_path: Path, cut: int) -> None:
    trail(tmp_path).begin("KV", "get", ["x" * cut + SECRET], None)

    (step,) = left(tmp_path, SECRET)

    assert step.what.strip("x") in ("…", "***…", "***")


def test_what_worker_code_writes_into_a_key_stays_in_its_place(tmp_path: Path) -> None:
    trail(tmp_path).begin("KV", "get", ["a\0b\nc\udc80é"], None)

    (step,) = left(tmp_path)

    assert (step.binding, step.operation) == ("KV", "get")
    assert step.what == "a\0b"


def test_a_process_that_left_nothing_was_in_no_call(tmp_path: Path) -> None:
    assert taken(tmp_path, 1, Mask()) == ()
    path_of(tmp_path, 2).parent.mkdir()
    path_of(tmp_path, 2).write_bytes(b"cut short")
    assert taken(tmp_path, 2, Mask()) == ()


@pytest.mark.anyio
@pytest.mark.processes
async def test_a_crash_that_nobody_saw_shows_where_it_was(tmp_path: Path) -> None:
    config = (
        '[[kv_namespaces]]\nbinding = "CACHE"\nid = "cache"\n'
        '[[d1_databases]]\nbinding = "DB"\ndatabase_name = "d"\ndatabase_id = "d"\n'
    )
    write_project(tmp_path, SOURCE, config=config, local="isolates = 1")
    async with edge(tmp_path) as server:
        await server.get("/die")

        (place,) = await places(server)

        assert place["url"] == f"{server.run.url}/die"
        assert [call["arguments"] for call in place["before"]] == [["SELECT 1 AS one"]]
        assert [call["arguments"] for call in place["under_way"]] == [["under way"]]
        assert [line["text"] for line in place["lines"]] == ["last words"]


async def places(server: Edge) -> list[dict[str, Any]]:
    async def ended() -> list[dict[str, Any]]:
        found: list[dict[str, Any]] = [
            place for one in (await get(server, "isolates"))["ended"] for place in one["in_flight"]
        ]
        return found

    found: list[dict[str, Any]] = await wait_until(ended)
    return found
