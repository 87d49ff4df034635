"""The house stands as docs/architecture says: roots, names, sizes, and what must not be in it."""

from __future__ import annotations

import re
import subprocess
import tomllib
from importlib import metadata
from pathlib import Path

import pytest
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

ROOT = Path(__file__).parents[2]
SOURCES = ("bindings", "runtime", "worker")


def tracked() -> list[Path]:
    """Files that git tracks or would track."""
    listing = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    return [ROOT / name for name in listing.split("\0") if name and (ROOT / name).is_file()]


def source_files() -> list[Path]:
    return [p for p in tracked() if p.suffix == ".py" and p.relative_to(ROOT).parts[0] in SOURCES]


def test_the_namespace_package_has_no_init_file() -> None:
    for root in ("bindings", "runtime"):
        assert not (ROOT / root / "localedge" / "__init__.py").exists()


def test_no_module_lies_in_both_roots() -> None:
    modules = {
        root: {p.relative_to(ROOT / root) for p in (ROOT / root).rglob("*.py")}
        for root in ("bindings", "runtime")
    }

    assert not modules["bindings"] & modules["runtime"]


def test_every_source_file_is_under_300_lines() -> None:
    long = {
        str(p.relative_to(ROOT)): n
        for p in source_files()
        if (n := len(p.read_text("utf-8").splitlines())) > 300
    }

    assert not long


FORBIDDEN = [
    r"(?<![\w.])/(?:work|farm|root|home/[a-z]+)/[A-Za-z.]",
    "py" + r"pi\.org",
    "python" + r"hosted\.org",
    "npm" + r"js\.org",
    "deb" + r"ian\.org",
    "BEGIN (RSA|OPENSSH|EC) PRIVATE" + " KEY",
]


@pytest.mark.parametrize("pattern", FORBIDDEN)
def test_no_tracked_file_names_a_machine_or_a_registry(pattern: str) -> None:
    vectors = ROOT / "tests" / "vectors"
    found = [
        str(p.relative_to(ROOT))
        for p in tracked()
        if vectors not in p.parents and re.search(pattern, p.read_text("utf-8", errors="replace"))
    ]

    assert not found


def test_every_pin_is_a_plain_name_and_version() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()

    assert lines
    assert [line for line in lines if not re.fullmatch(r"[A-Za-z0-9._-]+==[^\s;@]+", line)] == []


def pinned() -> set[str]:
    """The names in constraints.txt."""
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    return {canonicalize_name(line.split("==")[0]) for line in lines}


def test_every_dependency_is_pinned() -> None:
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    extras = [name for names in project["optional-dependencies"].values() for name in names]

    names = {
        canonicalize_name(Requirement(text).name) for text in [*project["dependencies"], *extras]
    }

    assert names - pinned() == set()


def test_everything_that_the_dependencies_need_is_pinned() -> None:
    seen: set[tuple[str, str]] = set()
    waiting = {("localedge", ""), ("localedge", "dev")}
    while waiting:
        name, extra = waiting.pop()
        seen.add((name, extra))
        for requirement in map(Requirement, metadata.requires(name) or ()):
            if requirement.marker is None or requirement.marker.evaluate({"extra": extra}):
                found = canonicalize_name(requirement.name)
                waiting |= {(found, wanted) for wanted in ("", *requirement.extras)} - seen

    needed = {name for name, _ in seen} - {"localedge"}
    assert len(needed) > 30
    assert needed - pinned() == set()


def test_every_known_gap_in_the_source_is_on_the_differences_page() -> None:
    page = (ROOT / "docs" / "differences.md").read_text("utf-8")
    gaps = {
        str(p.relative_to(ROOT))
        for p in source_files()
        if re.search(r"^\s*# Differs: ", p.read_text("utf-8"), re.MULTILINE)
    }

    assert {gap for gap in gaps if gap not in page} == set()
