"""The reference says what the code says, and the comparison what was measured."""

from __future__ import annotations

import pytest
from tests.docs.reference import COMPARISON, FOLDER, PAGES, comparison_page

ADVICE = "it is not what the code says any more: run `make reference`"


@pytest.mark.parametrize("name", PAGES)
def test_a_page_of_the_reference_is_what_the_code_says(name: str) -> None:
    assert (FOLDER / name).read_text("utf-8") == PAGES[name](), ADVICE


def test_the_reference_has_no_page_that_is_not_made() -> None:
    assert {path.name for path in FOLDER.iterdir()} == set(PAGES)


def test_the_comparison_has_the_tables_of_the_pages_that_measured_them() -> None:
    assert COMPARISON.read_text("utf-8") == comparison_page(), ADVICE
