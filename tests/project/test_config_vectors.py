"""Every recorded start of `wrangler dev` means the same to us."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from tests.project import recorded
from tests.replay import differences, load, sampled

from localedge.errors import Exit

CASES = load("config")


def names() -> list[str]:
    return [name for name in CASES if name not in differences("config")]


@pytest.fixture(params=sampled(names(), every=4))
def case(request: pytest.FixtureRequest, tmp_path: Path) -> dict[str, Any]:
    found: dict[str, Any] = CASES[request.param]
    recorded.write(found, tmp_path)
    return found


def test_the_worker_starts_or_is_refused_as_recorded(case: dict[str, Any], tmp_path: Path) -> None:
    answer = recorded.start(case, tmp_path)

    assert (0 if answer.project else 1) == case["exit"], answer.said
    assert answer.error is None or answer.error.exit is Exit.CONFIG


def test_every_recorded_phrase_is_told(case: dict[str, Any], tmp_path: Path) -> None:
    answer = recorded.start(case, tmp_path)

    phrases = [*case.get("errors", []), *case.get("warnings", [])]
    missing = [p for p in phrases if not recorded.phrase(p, tmp_path).search(answer.said)]
    assert missing == [], answer.said


def test_the_configuration_resolves_as_recorded(case: dict[str, Any], tmp_path: Path) -> None:
    resolved = recorded.config(case, tmp_path)

    assert recorded.same_json(case["config"], resolved), resolved


def test_the_environment_of_the_worker_is_as_recorded(case: dict[str, Any], tmp_path: Path) -> None:
    project = recorded.start(case, tmp_path).project

    if project is None:
        assert "vars" not in case
        return
    found = recorded.variables(project)
    if "vars_only" in case:
        found = {name: found[name] for name in case["vars_only"] if name in found}
    assert recorded.same_json(case["vars"], found), found
    assert recorded.bindings(project) == case["bindings"]
    assert recorded.sources(project, tmp_path) == case.get("secrets_from", [])
    assert recorded.local_ids(project) == case["config"].get("local_ids", {})
