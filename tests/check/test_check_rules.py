"""Every rule finds its fault on the right line, and keeps silent on what only looks like it."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.check import binding_cases, code_cases
from tests.check.faults import Case, findings, marked, places

from localedge.port.check.checking import rules

CASES = [*code_cases.CASES, *binding_cases.CASES]
SILENT = {case.rule: case for case in CASES if not case.rule.startswith("silence-")}
MARKS = {".sql": "--", ".jsonc": "//", ".json": "//"}
PAGES = Path(__file__).parents[2] / "docs" / "check"


@pytest.fixture(params=CASES, ids=[f"{i}-{case.rule}" for i, case in enumerate(CASES)])
def case(request: pytest.FixtureRequest) -> Case:
    found: Case = request.param
    return found


def test_a_fault_is_found_on_its_line(case: Case, tmp_path: Path) -> None:
    found = findings(tmp_path, case.fault)

    expected = [case.line] if case.line else marked(tmp_path, case.fault)
    assert places(tmp_path, found, case.rule) == expected, found


def test_a_near_miss_is_silent(case: Case, tmp_path: Path) -> None:
    found = findings(tmp_path, case.near)

    assert places(tmp_path, found, case.rule) == []


@pytest.mark.parametrize("rule", SILENT)
def test_a_comment_above_silences_a_rule(rule: str, tmp_path: Path) -> None:
    files = dict(SILENT[rule].fault)
    faults = places(tmp_path, findings(tmp_path, files), rule)
    for name, line in reversed(faults):
        lines = (tmp_path / name).read_text("utf-8").split("\n")
        mark = MARKS.get(Path(name).suffix, "#")
        lines.insert(max(0, line - 1), f"{mark} localedge: ignore[{rule}] for a test")
        files[name] = "\n".join(lines)
        (tmp_path / name).write_text(files[name], "utf-8")

    assert faults
    assert places(tmp_path, findings(tmp_path, files), rule) == []


def test_every_rule_has_a_case() -> None:
    assert {case.rule for case in CASES} == {rule.id for rule in rules()}


def test_every_rule_has_an_id_of_its_own() -> None:
    ids = [rule.id for rule in rules()]

    assert len(set(ids)) == len(ids)


def test_every_rule_has_a_page_and_every_page_a_rule() -> None:
    pages = {page.stem for page in PAGES.glob("*.md")} - {"README"}

    assert pages == {rule.id for rule in rules()}


def test_a_page_names_its_rule_and_level_and_shows_what_to_write() -> None:
    wrong = [
        rule.id
        for rule in rules()
        for text in [(PAGES / f"{rule.id}.md").read_text("utf-8")]
        if not text.startswith(f"# {rule.id}\n\n*{rule.level}*") or "\n## " not in text
    ]

    assert wrong == []


def test_a_plain_project_has_no_findings(tmp_path: Path) -> None:
    assert findings(tmp_path, {}) == []
