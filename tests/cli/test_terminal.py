"""What commands do on a terminal: tables fit it, and what takes a second shows how far it is."""

from __future__ import annotations

import io
import os
import re
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from unittest import mock

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rich.cells import cell_len

from localedge.cli import progress as shown
from localedge.cli.progress import progress
from localedge.cli.table import fitted, framed


class Terminal(io.StringIO):
    """A stream that a person looks at."""

    def isatty(self) -> bool:
        return True


@contextmanager
def looking(*, out: io.StringIO | None = None) -> Iterator[Terminal]:
    """Standard output and error are one terminal, 60 columns wide, that can move its cursor."""
    stream = Terminal()
    variables = {"COLUMNS": "60", "LINES": "24", "TERM": "xterm-256color"}
    with (
        mock.patch.object(sys, "stdout", out or stream),
        mock.patch.object(sys, "stderr", stream),
        mock.patch.dict(os.environ, variables),
    ):
        yield stream


@pytest.fixture
def quick(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """A second is over at once."""
    monkeypatch.setattr(shown, "DELAY_S", 0.0)
    yield


def _wait(stream: io.StringIO, text: str) -> None:
    deadline = time.monotonic() + 20
    while text not in stream.getvalue():
        assert time.monotonic() < deadline, stream.getvalue()
        threading.Event().wait(0.005)


def test_what_is_quick_shows_nothing() -> None:
    with looking() as terminal, progress("Working", 10) as advance:
        advance(5)

    assert terminal.getvalue() == ""


@pytest.mark.usefixtures("quick")
def test_what_takes_long_shows_how_far_it_is_and_leaves_nothing() -> None:
    with looking() as terminal, progress("Working", 10) as advance:
        advance(5)
        _wait(terminal, "5 of 10")
        advance(7)
        _wait(terminal, "7 of 10")

    assert "Working" in terminal.getvalue()
    # The line is erased at the end.
    assert terminal.getvalue().rstrip().endswith("\x1b[2K")


@pytest.mark.usefixtures("quick")
def test_what_has_no_known_length_shows_that_it_goes_on() -> None:
    with looking() as terminal, progress("Working"):
        _wait(terminal, "Working")

    assert "Working" in terminal.getvalue()


@pytest.mark.usefixtures("quick")
def test_results_stay_on_standard_output_while_a_bar_is_shown() -> None:
    results = io.StringIO()
    with looking(out=results) as terminal, progress("Working", 2):
        _wait(terminal, "Working")
        sys.stdout.write("a result\n")

        assert results.getvalue() == "a result\n"


@pytest.mark.usefixtures("quick")
def test_where_nobody_looks_nothing_is_shown() -> None:
    stream = io.StringIO()
    before = threading.active_count()

    with mock.patch.object(sys, "stderr", stream), progress("Working", 10) as advance:
        advance(5)
        assert threading.active_count() == before

    assert stream.getvalue() == ""


@pytest.mark.usefixtures("quick")
def test_a_bar_is_gone_when_its_work_fails() -> None:
    with (
        looking() as terminal,
        pytest.raises(ValueError, match="no"),
        progress("Working", 10),
    ):
        _wait(terminal, "Working")
        raise ValueError("no")

    assert terminal.getvalue().rstrip().endswith("\x1b[2K")


FRAME = re.compile(r"[│┌┬┐├┼┤└┴┘─\s]")
CELLS = st.text(st.characters(exclude_categories=["C", "Z", "M"]), min_size=1, max_size=80)


@given(st.lists(st.lists(CELLS, min_size=3, max_size=3), min_size=1, max_size=3))
def test_a_table_is_never_wider_than_the_terminal(rows: list[list[str]]) -> None:
    with looking():
        table = fitted(["one", "two", "three"], rows)

    assert max(cell_len(line) for line in table.splitlines()) <= 60
    # Nothing of it is lost.
    words = "".join(["one", "two", "three", *(cell for row in rows for cell in row)])
    assert sorted(FRAME.sub("", table)) == sorted(FRAME.sub("", words))


def test_a_table_that_fits_is_as_wide_as_it_needs_to_be() -> None:
    rows = [["1", "one"]]

    with looking():
        table = fitted(["n", "name"], rows)

    assert table == framed(["n", "name"], rows)


def test_the_widest_column_gives_way() -> None:
    with looking():
        lines = fitted(["id", "text"], [["1234567890", "a" * 100]]).splitlines()

    assert lines[3].startswith("│ 1234567890 │ aaa")
    assert {len(line) for line in lines} == {60}


def test_more_columns_than_fit_are_shown_one_below_the_other() -> None:
    columns = [f"column{n}" for n in range(12)]

    with looking():
        lines = fitted(columns, [[f"value{n}" for n in range(12)]]).splitlines()

    assert lines[0].startswith("─ 1 ─")
    assert lines[1] == "column0   value0"
    assert max(map(len, lines)) <= 60


def test_where_nobody_looks_a_table_is_as_wide_as_its_content() -> None:
    rows = [["a" * 500]]

    assert fitted(["text"], rows) == framed(["text"], rows)
