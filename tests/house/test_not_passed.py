"""The recorded cases that we answer otherwise: few, real, and never more than there were."""

from __future__ import annotations

from itertools import chain

import pytest
from tests.replay import differences, load

KINDS = ("config", "d1", "execute", "kv", "migrations", "sdk")
# Only ever shortened. On an engine as new as the recorded one (SQLite 3.54), `d1:explain`,
# `execute:command_returning` and `migrations:alter_other_dialect` would pass.
KNOWN = {
    "d1:explain",
    "execute:command_returning",
    "kv:get-bulk-badkey",
    "migrations:alter_other_dialect",
}


def test_no_case_is_left_out_beside_the_known_ones() -> None:
    named = set(
        chain.from_iterable([f"{kind}:{case}" for case in differences(kind)] for kind in KINDS)
    )

    assert named - KNOWN == set()


@pytest.mark.parametrize("kind", KINDS)
def test_each_case_that_is_left_out_was_recorded(kind: str) -> None:
    assert differences(kind) - set(load(kind)) == set()
