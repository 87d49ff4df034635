"""Which file a database lies in."""

from __future__ import annotations

from pathlib import Path

import pytest

from localedge.d1.files import database_file

STATE = Path("/state")


def test_an_ordinary_id_is_the_name_of_the_file() -> None:
    storage_id = "11111111-1111-4111-8111-111111111111"

    assert database_file(STATE, storage_id) == STATE / "d1" / f"{storage_id}.sqlite"


@pytest.mark.parametrize("storage_id", ["a/b", "../x", "..", "/etc/x", "a\\b", "a\0b", "x" * 500])
def test_no_id_leads_out_of_the_folder(storage_id: str) -> None:
    file = database_file(STATE, storage_id)

    assert file.parent == STATE / "d1"
    assert len(file.name) < 255
    assert "\0" not in file.name


def test_different_ids_lie_in_different_files() -> None:
    ids = ["a/b", "a%2Fb", "a\\b", "ab", "x" * 500, "x" * 501, "a b", "A/B"]

    assert len({database_file(STATE, storage_id) for storage_id in ids}) == len(ids)
