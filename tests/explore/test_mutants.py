"""The explorer has teeth: each protection of our own library, taken away, is missed."""

from __future__ import annotations

import pytest
from tests.explore.mutants import MUTANTS, Mutant

from localedge.explore.fixture import Explore


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.break_it.__name__)
def test_a_library_without_one_protection_is_caught(
    mutant: Mutant, explore: Explore, monkeypatch: pytest.MonkeyPatch
) -> None:
    mutant.break_it(monkeypatch)

    report = explore.report(mutant.scenario, **mutant.options)

    assert not report.is_clean


@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.break_it.__name__)
def test_the_whole_library_is_clean_where_its_mutants_are_caught(
    mutant: Mutant, explore: Explore
) -> None:
    explore(mutant.scenario, **mutant.options)
