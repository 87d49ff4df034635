"""The number that isolates share beside a database."""

from __future__ import annotations

import logging
import os
from pathlib import Path

import pytest

from localedge.d1.row_id import SharedRowId


def test_a_number_is_seen_by_whoever_has_the_file_open(tmp_path: Path) -> None:
    one, other = SharedRowId(tmp_path / "id"), SharedRowId(tmp_path / "id")

    one.value = -(2**63)
    seen = other.value
    other.value = 2**63 - 1

    assert (seen, one.value) == (-(2**63), 2**63 - 1)
    one.close()
    other.close()


def test_the_first_to_open_begins_at_zero_and_later_ones_do_not(tmp_path: Path) -> None:
    first = SharedRowId(tmp_path / "id")
    first.value = 7
    second = SharedRowId(tmp_path / "id")
    first.close()
    third = SharedRowId(tmp_path / "id")
    seen = third.value
    second.close()
    third.close()

    again = SharedRowId(tmp_path / "id")

    assert (seen, again.value) == (7, 0)
    again.close()


def test_a_closed_number_keeps_its_value(tmp_path: Path) -> None:
    number = SharedRowId(tmp_path / "id")
    number.value = 7

    number.close()

    assert number.value == 7


def test_a_file_that_cannot_be_made_leaves_the_number_private_and_is_logged(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.WARNING):
        number = SharedRowId(tmp_path / "missing" / "id")
    number.value = 3

    assert number.value == 3
    assert [record.message for record in caplog.records] == ["last_row_id not shared"]
    number.close()


def test_a_number_of_its_own_makes_no_file(tmp_path: Path) -> None:
    number = SharedRowId(None)
    number.value = 5

    assert number.value == 5
    assert os.listdir(tmp_path) == []
    number.close()
