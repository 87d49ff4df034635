"""W3C trace context: which headers count, and what goes out."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from edgestate.team import request_trace_id
from localedge.sdk import tracing
from localedge.sdk.context import ExecutionContext, current
from localedge.sdk.tracing import Trace, outgoing, trace_of

TRACE = "0af7651916cd43dd8448eb211c80319c"
SPAN = "b7ad6b7169203331"
RAY = "00f067aa0ba902b7"
VALID = f"00-{TRACE}-{SPAN}-01"


def _lines(*parents: str, state: tuple[str, ...] = ()) -> list[tuple[bytes, bytes]]:
    return [
        (b"host", b"localhost"),
        *((b"traceparent", parent.encode("latin-1")) for parent in parents),
        *((b"tracestate", one.encode("latin-1")) for one in state),
    ]


@pytest.fixture
def event() -> Iterator[ExecutionContext]:
    """The event that the test's code belongs to."""
    context = ExecutionContext(None, RAY)
    token = current.set(context)
    yield context
    current.reset(token)


@pytest.mark.parametrize(
    "header", [VALID, f" {VALID}\t", f"cc-{TRACE}-{SPAN}-01", f"cc-{TRACE}-{SPAN}-01-what-comes"]
)
def test_a_valid_header_names_its_trace(header: str) -> None:
    assert trace_of(_lines(header)) == Trace(TRACE, SPAN, is_sampled=True)
    assert request_trace_id({"traceparent": header}) == TRACE


@pytest.mark.parametrize(
    "header",
    [
        "",
        "nonsense",
        VALID.upper(),
        f"ff-{TRACE}-{SPAN}-01",
        f"00-{'0' * 32}-{SPAN}-01",
        f"00-{TRACE}-{'0' * 16}-01",
        f"00-{TRACE}-{SPAN}",
        f"00-{TRACE}-{SPAN}-01-more",
        f"00-{TRACE}-{SPAN}-01-",
        f"cc-{TRACE}-{SPAN}-01.more",
        f"00-{TRACE[:-1]}-{SPAN}-01",
        f"00-{TRACE}0-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-1",
        f"0-{TRACE}-{SPAN}-01",
        f"00-{TRACE[:-1]}g-{SPAN}-01",
        f"00-{TRACE}-{SPAN}-0x",
        f"{VALID},{VALID}",
        f"{VALID}\n",
        f"00_{TRACE}_{SPAN}_01",
        "٠٠-" + VALID[3:],
    ],
)
def test_a_malformed_header_counts_as_none(header: str) -> None:
    lines = [(b"traceparent", header.encode("utf-8"))]

    assert trace_of(lines) is None
    assert request_trace_id({"traceparent": header}) is None


def test_two_headers_count_as_none() -> None:
    assert trace_of(_lines(VALID, VALID)) is None


def test_a_request_without_the_header_is_in_no_trace() -> None:
    assert trace_of(_lines(state=("a=1",))) is None
    assert request_trace_id({}) is None


def test_the_state_of_several_lines_is_one_list() -> None:
    trace = trace_of(_lines(VALID, state=("a=1", " b=2 ")))

    assert trace == Trace(TRACE, SPAN, is_sampled=True, state="a=1,b=2")


def test_what_goes_out_has_the_trace_and_the_ray_as_parent(event: ExecutionContext) -> None:
    event.lines = _lines(VALID, state=("a=1",))

    assert outgoing() == [("traceparent", f"00-{TRACE}-{RAY}-01"), ("tracestate", "a=1")]


def test_a_trace_that_is_not_sampled_stays_so(event: ExecutionContext) -> None:
    event.lines = _lines(f"00-{TRACE}-{SPAN}-00")

    assert outgoing() == [("traceparent", f"00-{TRACE}-{RAY}-00")]


def test_flags_that_nobody_knows_are_not_passed_on(event: ExecutionContext) -> None:
    event.lines = _lines(f"00-{TRACE}-{SPAN}-ff")

    assert outgoing() == [("traceparent", f"00-{TRACE}-{RAY}-01")]


@pytest.mark.parametrize("lines", [_lines(), _lines("nonsense", state=("a=1",))])
def test_outside_of_a_trace_nothing_is_added(
    event: ExecutionContext, lines: list[tuple[bytes, bytes]]
) -> None:
    event.lines = lines

    assert outgoing() == []


def test_outside_of_an_event_nothing_is_added() -> None:
    assert outgoing() == []


@pytest.mark.parametrize("inner", ["a" * 32, f"trace-{'a' * 32}"])
def test_the_trace_that_edgestate_is_in_goes_before_the_requests(
    event: ExecutionContext, monkeypatch: pytest.MonkeyPatch, inner: str
) -> None:
    event.lines = _lines(VALID, state=("a=1",))
    monkeypatch.setattr(tracing, "ambient", lambda: inner)

    assert outgoing() == [("traceparent", f"00-{'a' * 32}-{RAY}-01")]


def test_a_trace_of_edgestate_that_w3c_cannot_name_stays_inside(
    event: ExecutionContext, monkeypatch: pytest.MonkeyPatch
) -> None:
    event.lines = _lines(VALID)
    monkeypatch.setattr(tracing, "ambient", lambda: "the nightly run")

    assert outgoing() == [("traceparent", f"00-{TRACE}-{RAY}-01")]
