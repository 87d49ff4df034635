"""Which copies a moment means, and which ones have to go."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from localedge.d1.bookmarks import bookmark_text
from localedge.d1.copies import Budget, Cause, Copy, at, copy_name, kept_in, surplus

MINUTE_MS = 60_000
DAY_MS = 1440 * MINUTE_MS
SIZE = 1000


def _kept(folder: Path, minutes: list[int], causes: dict[int, Cause] | None = None) -> list[Copy]:
    """Copies in `folder`, taken in these minutes."""
    for number, minute in enumerate(minutes, 1):
        cause: Cause = (causes or {}).get(minute, "minute")
        name = copy_name(bookmark_text(number), minute * MINUTE_MS, cause)
        (folder / name).write_bytes(bytes(SIZE))
    return kept_in(folder)


def _minutes(copies: list[Copy]) -> list[int]:
    return [copy.taken_ms // MINUTE_MS for copy in copies]


def test_copies_are_found_by_their_names_the_oldest_first(tmp_path: Path) -> None:
    _kept(tmp_path, [3, 5, 9])
    (tmp_path / "lock").touch()
    (tmp_path / "notes.sqlite").touch()

    copies = kept_in(tmp_path)

    assert _minutes(copies) == [3, 5, 9]
    assert [copy.place for copy in copies] == [(1, 0), (2, 0), (3, 0)]


@pytest.mark.parametrize(("minute", "found"), [(2, None), (3, 3), (4, 3), (5, 5), (99, 9)])
def test_a_moment_means_the_newest_copy_from_then_or_before(
    tmp_path: Path, minute: int, found: int | None
) -> None:
    copies = _kept(tmp_path, [3, 5, 9])

    copy = at(copies, minute * MINUTE_MS)

    assert (copy and copy.taken_ms // MINUTE_MS) == found


def test_nothing_goes_while_all_fit(tmp_path: Path) -> None:
    copies = _kept(tmp_path, [1, 2, 3])

    assert surplus(copies, Budget(3 * SIZE, 3), 4 * MINUTE_MS) == []


@pytest.mark.parametrize("budget", [Budget(10**9, 10), Budget(10 * SIZE, 10**9)])
def test_what_is_left_fits_the_budget_in_count_and_in_size(tmp_path: Path, budget: Budget) -> None:
    copies = _kept(tmp_path, list(range(1, 201)))

    going = surplus(copies, budget, 201 * MINUTE_MS)

    assert len(copies) - len(going) == 10


def test_a_history_is_dense_near_now_and_thin_long_ago(tmp_path: Path) -> None:
    copies = _kept(tmp_path, list(range(1, 301)))

    going = surplus(copies, Budget(10**9, 20), 301 * MINUTE_MS)

    left = _minutes([copy for copy in copies if copy not in going])
    gaps = [after - before for before, after in pairwise(left)]
    assert left[0] == 1
    assert gaps[-3:] == [1, 1, 1]
    assert max(gaps[:5]) > 10


def test_what_is_older_than_thirty_days_goes_first(tmp_path: Path) -> None:
    copies = _kept(tmp_path, [1, 2, 30 * 1440, 31 * 1440])

    going = surplus(copies, Budget(10**9, 2), 31 * DAY_MS)

    assert _minutes(going) == [1, 2]


def test_ways_back_go_after_all_other_copies(tmp_path: Path) -> None:
    copies = _kept(tmp_path, [1, 2, 3, 4, 5], {1: "undo", 2: "undo"})

    going = surplus(copies, Budget(10**9, 3), 6 * MINUTE_MS)

    assert {1, 2, 5} == set(_minutes(copies)) - set(_minutes(going))


def test_the_newest_copy_and_the_newest_way_back_stay_whatever_the_budget(tmp_path: Path) -> None:
    copies = _kept(tmp_path, [1, 2, 3, 4, 5], {2: "undo", 3: "undo"})

    going = surplus(copies, Budget(0, 1), 6 * MINUTE_MS)

    assert _minutes(going) != []
    assert set(_minutes(copies)) - set(_minutes(going)) == {3, 5}
