"""Which invocations `localedge tail` shows, and when: each once, with all that it logged."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from typing import Any

import pytest

from localedge.cli.event_stream import messages, ticking
from localedge.cli.tail_events import (
    GRACE_S,
    Assembly,
    Filters,
    Invocation,
    Status,
    as_json,
    as_text,
)

RAY = "00f067aa0ba902b7"
AT = 1_796_100_000_000


def _one(kind: str, **facts: Any) -> dict[str, Any]:
    return {"kind": kind, "ray": RAY, "pid": 7, "at": AT, **facts}


def _opened(method: str = "GET", **facts: Any) -> dict[str, Any]:
    given = {"url": "http://localhost/a", "headers": [["x-a", "b c"]], **facts}
    return _one("request.opened", method=method, **given)


def _closed(outcome: str = "ok", status: int | None = 200) -> dict[str, Any]:
    return _one("request.closed", outcome=outcome, status=status, ms=1.5)


def _printed(text: str = "hello", level: str = "log") -> dict[str, Any]:
    return _one("console", level=level, text=text)


OVER = _one("request.over")
RAISED = _one("exception", error="ValueError", message="no", traceback="Traceback …")


def _shown(*happenings: dict[str, Any], since_ms: float = AT) -> list[Invocation]:
    assembly = Assembly(since_ms)
    for one in happenings:
        assembly.feed(one, 0.0)
    return list(assembly.taken(GRACE_S))


def _whole(*happenings: dict[str, Any]) -> Invocation:
    (found,) = _shown(*happenings)
    return found


@pytest.mark.parametrize("end", [[OVER, _closed()], [_closed(), OVER]])
def test_a_request_is_shown_once_it_is_answered_and_over(end: list[dict[str, Any]]) -> None:
    assembly = Assembly(AT)
    for one in (_opened(), end[0]):
        assembly.feed(one, 0.0)
    before = list(assembly.taken(100.0))

    assembly.feed(end[1], 100.0)
    after = list(assembly.taken(100.0 + GRACE_S))

    assert (len(before), len(after)) == (0, 1)
    assert list(assembly.taken(200.0)) == []


def test_a_line_that_comes_after_the_end_belongs_to_its_request() -> None:
    found = _whole(_opened(), OVER, _closed(), _printed("late"))

    assert [log["text"] for log in found.logs] == ["late"]


def test_lines_of_wait_until_belong_to_their_request() -> None:
    found = _whole(_opened(), _closed(), _printed("later"), OVER)

    assert [log["text"] for log in found.logs] == ["later"]


def test_a_failed_request_is_shown_with_its_exception_at_once() -> None:
    found = _whole(_opened(), RAISED, _closed("exception", 500))

    assert [one["error"] for one in found.exceptions] == ["ValueError"]


def test_a_cron_is_shown_when_it_has_ended() -> None:
    found = _whole(_opened("CRON", url="* * * * *"), _closed("ok", None))

    assert as_json(found, "shop")["event"] == {"cron": "* * * * *", "scheduledTime": AT}


def test_an_isolate_that_dies_ends_what_it_had_answered() -> None:
    ended = {"kind": "isolate.ended", "pid": 7, "ray": "", "at": AT}

    assert len(_shown(_opened(), _closed(), ended)) == 1


def test_what_began_before_is_left_out() -> None:
    assert _shown(_opened(), _closed(), OVER, since_ms=AT + 1) == []
    assert _shown(_printed(), _closed(), OVER) == []


def test_lines_that_belong_to_no_request_are_left_out() -> None:
    assert _shown(_printed() | {"ray": ""}) == []


@pytest.mark.parametrize(
    ("outcome", "status"),
    [
        ("ok", "ok"),
        ("canceled", "canceled"),
        ("exception", "error"),
        ("exceededCpu", "error"),
        ("internalError", "error"),
        ("bodyTooLarge", "error"),
    ],
)
def test_each_outcome_has_one_status(outcome: str, status: Status) -> None:
    found = _whole(_opened(), OVER, _closed(outcome))

    every: list[Status] = ["ok", "error", "canceled"]
    let = [one for one in every if Filters(statuses=[one]).let(found, lambda: 0.0)]

    assert let == [status]


@pytest.mark.parametrize(
    ("filters", "lets"),
    [
        (Filters(), True),
        (Filters(methods=["GET", "POST"]), True),
        (Filters(methods=["POST"]), False),
        (Filters(header=("x-a", None)), True),
        (Filters(header=("x-a", "c")), True),
        (Filters(header=("x-a", "z")), False),
        (Filters(header=("x-b", None)), False),
        (Filters(search="ell"), True),
        (Filters(search="bye"), False),
        (Filters(rate=0.6), True),
        (Filters(rate=0.4), False),
        (Filters(statuses=["ok"], methods=["POST"]), False),
    ],
)
def test_a_filter_lets_through_what_it_names(filters: Filters, lets: bool) -> None:
    found = _whole(_opened(), _printed("hello"), OVER, _closed())

    assert filters.let(found, lambda: 0.5) is lets


def test_json_has_the_form_of_the_platforms_tail_events() -> None:
    found = _whole(_opened(), _printed(), RAISED, _closed("exception", 500))

    assert as_json(found, "shop") == {
        "wallTime": 1.5,
        "truncated": False,
        "outcome": "exception",
        "scriptName": "shop",
        "exceptions": [
            {"name": "ValueError", "message": "no", "stack": "Traceback …", "timestamp": AT}
        ],
        "logs": [{"message": ["hello"], "level": "log", "timestamp": AT}],
        "eventTimestamp": AT,
        "event": {
            "request": {"url": "http://localhost/a", "method": "GET", "headers": {"x-a": "b c"}},
            "response": {"status": 500},
        },
        "localedge": {"ray": RAY, "pid": 7},
    }


def test_text_has_wranglers_form() -> None:
    found = _whole(_opened(), _printed(), RAISED, _closed("exception", 500))

    assert as_text(found) == (
        "GET http://localhost/a - Exception Thrown @ 2026-12-01 04:40:00\n"
        "  (log) hello\n"
        "  ValueError: no"
    )


def test_messages_of_a_stream_are_read_whole_and_comments_passed_over() -> None:
    lines = ["retry: 1000", "event: hello", 'data: {"a": 1}', "", ": still here", ""]
    lines += ["id: 7", 'data:{"b":', "data: 2}", "", "data: {"]

    assert list(messages(lines)) == [("hello", {"a": 1}), ("", {"b": 2})]


def test_ticks_come_between_items_that_let_themselves_be_waited_for() -> None:
    gate = threading.Event()

    def items() -> Iterator[int]:
        yield 1
        gate.wait(20)
        yield 2

    coming = ticking(items(), every_s=0.01)
    seen = [next(coming), next(coming)]
    gate.set()

    assert seen == [1, None]
    assert [one for one in coming if one is not None] == [2]


def test_what_goes_wrong_while_reading_is_raised_where_it_is_waited_for() -> None:
    def items() -> Iterator[int]:
        yield 1
        raise ValueError("gone")

    coming = ticking(items(), every_s=20)

    assert next(coming) == 1
    with pytest.raises(ValueError, match="gone"):
        next(coming)
