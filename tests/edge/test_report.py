"""What counts as a difference, and how it is shown."""

from __future__ import annotations

import json

from localedge.port.verify.answers import Answer
from localedge.port.verify.canon import Canon, Patterns
from localedge.port.verify.comparing import Compared, Report
from localedge.port.verify.differences import (
    Difference,
    answer_differences,
    seen,
    state_differences,
)
from localedge.port.verify.report import as_json, as_text
from localedge.port.verify.stored import Entry, State, Table

_ORIGIN = "http://localhost:8787"


def differences(ours: Answer, theirs: Answer) -> list[Difference]:
    one, other = (seen(a, Canon(Patterns()), _ORIGIN) for a in (ours, theirs))
    return [*answer_differences(one, other)]


def test_headers_of_the_connection_and_the_server_do_not_count() -> None:
    ours = Answer(200, (("date", "now"), ("x-localedge-isolate", "7"), ("content-length", "0")))
    theirs = Answer(200, (("transfer-encoding", "chunked"), ("cf-ray", "1"), ("server", "x")))

    assert differences(ours, theirs) == []


def test_a_header_of_the_worker_counts_with_each_of_its_lines() -> None:
    ours = Answer(200, (("set-cookie", "a=1"), ("Set-Cookie", "b=2"), ("x-own", "1")))
    theirs = Answer(200, (("set-cookie", "a=1"),))

    assert differences(ours, theirs) == [
        Difference("header set-cookie", "a=1\nb=2", "a=1"),
        Difference("header x-own", "1", "(absent)"),
    ]


def test_two_layouts_of_the_same_json_differ() -> None:
    assert differences(Answer(200, body=b'{"a":1}'), Answer(200, body=b'{"a": 1}')) == [
        Difference("body", '{"a":1}', '{"a": 1}')
    ]


def test_pages_of_failed_workers_are_compared_by_the_exception_only() -> None:
    def failed(page: str, kind: str) -> Answer:
        trace = f"{page}\nTraceback (most recent call last):\n  …\n{kind}: no\n"
        return Answer(500, body=trace.encode(), outcome="exception")

    assert differences(failed("ours", "ValueError"), failed("theirs", "ValueError")) == []
    (difference,) = differences(failed("ours", "ValueError"), failed("theirs", "KeyError"))
    assert difference.where == "exception"


def test_an_exception_counts_without_its_module_and_the_lines_below_its_message() -> None:
    def failed(raised: str) -> Answer:
        page = f"Traceback (most recent call last):\n  File x\n    y\n    ^\n{raised}"
        return Answer(500, body=page.encode(), outcome="exception")

    ours = failed("localedge.errors.JsException: Error: D1_ERROR: no\n")
    theirs = failed("pyodide.ffi.JsException: Error: D1_ERROR: no\n    at run (d1.js:1:2)\n")

    assert differences(ours, theirs) == []
    assert differences(ours, failed("pyodide.ffi.JsException: Error: D1_ERROR: yes")) != []


def test_a_body_that_was_cut_off_differs_from_a_whole_one() -> None:
    whole, cut = Answer(200, body=b"ab"), Answer(200, body=b"ab", is_cut=True)

    assert differences(whole, cut) == [Difference("body", "ab", "ab\n(cut off here)")]


def test_the_own_address_of_a_side_does_not_count() -> None:
    ours = Answer(302, (("location", "http://localhost:8787/a"),))
    theirs = Answer(302, (("location", "https://trips.example/a"),))
    one = seen(ours, Canon(Patterns()), _ORIGIN)
    other = seen(theirs, Canon(Patterns()), "https://trips.example")

    assert [*answer_differences(one, other)] == []


def states(ours: State, theirs: State) -> list[Difference]:
    return [*state_differences(ours, theirs, Canon(Patterns()), Canon(Patterns()), 5.0)]


def test_keys_values_metadata_and_expirations_of_kv_are_compared() -> None:
    def state(**entries: Entry) -> State:
        return State({"KV": entries}, {}, {})

    ours = state(a=Entry("1", "null", 100), b=Entry("1", "{}", None), c=Entry("1", "{}", 100))
    theirs = state(a=Entry("2", "null", 104), b=Entry("1", '{"x": 1}', None), d=Entry("", "", 1))
    found = states(ours, theirs)

    assert [one.where for one in found] == [
        "KV KV 'a' value",
        "KV KV 'b' metadata",
        "KV KV 'c'",
        "KV KV 'd'",
    ]
    late = state(a=Entry("1", "null", 106))
    (difference,) = states(state(a=Entry("1", "null", 100)), late)
    assert difference == Difference("KV KV 'a' expiration", "100", "106")


def test_rows_are_compared_whatever_their_order_and_their_ids() -> None:
    def state(*rows: tuple[str, ...], sql: str = "CREATE TABLE t (id, n)") -> State:
        return State({}, {"DB": {"t": Table(("id", "n"), rows)}}, {"DB": {"table t": sql}})

    one, other = "'00000000000000000000000000000001'", "'ffffffffffffffffffffffffffffffff'"

    assert states(state((one, "1"), (other, "2")), state((one, "2"), (other, "1"))) == []
    (difference,) = states(state((one, "1")), state((one, "1.0")))
    assert difference.ours == "1. id = '<id>'\n1. n = 1"
    assert difference.theirs == "1. id = '<id>'\n1. n = 1.0"
    (schema,) = states(state(), state(sql="CREATE TABLE t (id, n INT)"))
    assert schema.where == "D1 DB table t"


def test_differences_stand_side_by_side_with_the_lines_around_them() -> None:
    body = Difference("body", "same\nours\nsame\nsame\nsame", "same\ntheirs\nsame\nsame\nsame")
    report = Report(("localedge", "the real parts"), [Compared("GET /", "200", "200", (body,))])

    lines = as_text(report, 60).splitlines()

    assert lines == [
        "  1 differs  GET /  200",
        "      body",
        "      localedge                 | the real parts",
        "      same                      | same",
        "    ! ours                      | theirs",
        "      same                      | same",
        "Compared 1 step on localedge and the real parts: 1 difference.",
    ]


def test_a_report_for_programs_has_every_difference() -> None:
    step = Compared("GET /", "200", "404", (Difference("status", "200", "404"),))
    report = Report(("localedge", "https://x.example"), [step], notes=["note"])

    told = json.loads(as_json(report))

    assert told["differences"] == 1
    assert told["state"] is None
    assert told["steps"][0]["differences"] == [
        {"where": "status", "localedge": "200", "https://x.example": "404"}
    ]
