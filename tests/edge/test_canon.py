"""Ids and times of two runs, made comparable."""

from __future__ import annotations

import time
from datetime import UTC, datetime

import pytest

from localedge.errors import Exit, OperatorError
from localedge.port.verify.canon import Canon, Patterns

A, B = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
UUID = "9b2f0a51-6d1c-4f5e-8a3b-0c1d2e3f4a5b"


def test_ids_are_numbered_as_they_are_first_shown() -> None:
    canon = Canon(Patterns())

    assert canon.text(f"{A} {UUID} {A}") == "<id 1> <id 2> <id 1>"
    assert canon.text(f"task_{UUID}") == "task_<id 2>"


def test_an_id_in_the_place_of_another_is_a_difference() -> None:
    one, other = Canon(Patterns()), Canon(Patterns())

    assert one.text(f"{A} {B} {A}") != other.text(f"{A} {B} {B}")


def test_ids_that_were_never_shown_have_no_number_in_stores() -> None:
    canon = Canon(Patterns())
    canon.text(A)

    assert canon.known(f"{A} {B}") == "<id 1> <id>"


@pytest.mark.parametrize("form", ["{:.0f}", "{:.6f}", "{:.0f}000"])
def test_a_time_near_now_is_not_compared(form: str) -> None:
    canon = Canon(Patterns())

    assert canon.text(form.format(time.time() + 3600)) == "<time>"


def test_written_times_near_now_are_not_compared() -> None:
    now = datetime.now(UTC)
    canon = Canon(Patterns())

    assert canon.text(now.isoformat()) == "<time>"
    assert canon.text(now.strftime("%Y-%m-%d %H:%M:%S")) == "<time>"
    assert canon.text(now.strftime("%a, %d %b %Y %H:%M:%S GMT")) == "<time>"


@pytest.mark.parametrize(
    "constant", ["2020-02-03T04:05:06Z", "1580702706", "Mon, 03 Feb 2020 04:05:06 GMT", "12345"]
)
def test_a_time_far_from_now_is_a_constant_of_the_worker(constant: str) -> None:
    assert Canon(Patterns()).text(constant) == constant


def test_a_declared_pattern_hides_what_it_fits() -> None:
    canon = Canon(Patterns({"ticket": r"T-\d+"}))

    assert canon.text('{"ticket": "T-12", "seat": "12"}') == '{"ticket": "<ticket>", "seat": "12"}'


def test_a_recorded_id_becomes_the_one_of_the_side_that_is_asked() -> None:
    side, recorded = Canon(Patterns()), Canon(Patterns())
    side.text(f"session {A}")
    recorded.text(f"session {B}")

    assert side.filled(f"/sessions/{B}/tasks?other={UUID}", recorded) == (
        f"/sessions/{A}/tasks?other={UUID}"
    )


@pytest.mark.parametrize("pattern", ["(", "a*", "(?P<x>a)"])
def test_a_pattern_that_cannot_be_used_is_refused(pattern: str) -> None:
    with pytest.raises(OperatorError) as caught:
        Patterns({"mine": pattern})

    assert (caught.value.code, caught.value.exit) == ("verify/bad-pattern", Exit.USAGE)
