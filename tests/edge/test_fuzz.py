"""Random programs of KV and D1 calls come to the same here and on the real parts (docs/fuzzing.md).

`make test-edge` draws the same programs each time, so that red means a change; `make test-long`
draws others, for LOCALEDGE_FUZZ_S seconds (600).
"""

from __future__ import annotations

import os
import random
import time
from collections.abc import Iterator

import pytest
from hypothesis import HealthCheck, Phase, given, seed, settings
from hypothesis import strategies as st
from tests.edge.fuzzing import d1, kv
from tests.edge.fuzzing.sides import Answer, Call, Sides, differing, opened_sides

from localedge.port.verify.parts import Parts

pytestmark = pytest.mark.edge
PROGRAMS = {"kv": kv.PROGRAMS, "d1": d1.PROGRAMS}
IN_A_MINUTE = {"kv": 300, "d1": 200}
AT_ONCE = 100


@pytest.fixture(scope="module")
def sides(
    parts: Parts, valkey_url: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[Sides]:
    with opened_sides(parts, valkey_url, tmp_path_factory.mktemp("fuzz")) as opened:
        yield opened


def search(sides: Sides, programs: st.SearchStrategy[list[Call]], count: int, start: int) -> None:
    """Errors: AssertionError with the smallest program found that differs."""

    @seed(start)
    @settings(
        max_examples=count,
        deadline=None,
        database=None,
        derandomize=False,
        suppress_health_check=list(HealthCheck),
        phases=(Phase.generate, Phase.shrink),
        report_multiple_bugs=False,
    )
    @given(programs)
    def run(program: list[Call]) -> None:
        found = differing(sides, program)
        assert not found, found

    run()


@pytest.mark.parametrize("subject", PROGRAMS)
def test_programs_come_to_the_same(subject: str, sides: Sides) -> None:
    search(sides, PROGRAMS[subject], IN_A_MINUTE[subject], start=2026)


class Planted(Sides):
    """Sides of which ours answers each `list` of KV with one key too many."""

    def play(self, calls: list[Call]) -> list[tuple[Call, Answer, Answer]]:
        played = super().play(calls)
        for call, ours, _ in played:
            if call[1][0] == "list" and "returns" in ours:
                ours["returns"]["keys"].append({"name": "planted"})
        return played


def test_a_difference_is_shrunk_to_the_call_that_shows_it(sides: Sides) -> None:
    planted = Planted(sides.portal, sides.parts, sides.connection, sides.folder / "planted")
    planted.folder.mkdir()

    with pytest.raises(AssertionError) as caught:
        search(planted, kv.PROGRAMS, 60, start=1)
    planted.close()

    lines = (line.strip() for line in str(caught.value).splitlines())
    calls = [line for line in lines if line.startswith("call ")]
    assert len(calls) == 1
    assert calls[0].startswith('call ["KV", ["list", ')


@pytest.mark.long
@pytest.mark.timeout(3600)
def test_programs_come_to_the_same_for_long(
    sides: Sides, capsys: pytest.CaptureFixture[str]
) -> None:
    end = time.monotonic() + float(os.environ.get("LOCALEDGE_FUZZ_S", "600"))
    first = sides.programs
    while time.monotonic() < end:
        for programs in PROGRAMS.values():
            search(sides, programs, AT_ONCE, start=random.getrandbits(32))

    with capsys.disabled():
        print(f"\n{sides.programs - first} programs came to the same on both sides")
    assert sides.programs > first
