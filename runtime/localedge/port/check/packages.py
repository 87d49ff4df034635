"""Rules on pyproject.toml: what the edge's Python and its packages are, against what it demands."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from typing import Final

from packaging.version import Version

from localedge.port.check import installed
from localedge.port.check.dependencies import Dependencies
from localedge.port.check.edge import Edge
from localedge.port.check.finding import Finding, Rule, at
from localedge.port.check.modules import _NO_BUILD, PACKAGE

PYPROJECT: Final = Rule(
    "pyproject", "error", "pyproject.toml cannot be read: {problem}.", "Correct it."
)
PIN: Final = Rule(
    "package-pin",
    "error",
    "{requirement} leaves out {edge}, the only version for Python {python} on the edge.",
    "Allow that version.",
)
VERSION: Final = Rule(
    "package-version",
    "warning",
    "{name} {here} is used here; the edge has {edge} for Python {python}.",
    "Test with that version: pip install {name}=={edge}.",
)
PYTHON: Final = Rule(
    "python-version",
    "error",
    'requires-python = "{demanded}" leaves out {python}, the Python of this compatibility date.',
    "Widen it, or take another compatibility date.",
)
REQUIREMENTS: Final = Rule(
    "requirements-txt",
    "error",
    "pywrangler refuses a project that has a requirements.txt.",
    "Move its lines to [project].dependencies in pyproject.toml.",
)

# Source: reference/python-workers.md section 4 (Packages), read 2026-12-01.
_VERSIONS: Final = {
    (3, 14): {"pydantic": "2.12.5"},
    (3, 13): {"pydantic": "2.10.6"},
}
_RELEASES: Final = {(3, 14): "3.14.2", (3, 13): "3.13.2", (3, 12): "3.12.1"}


def check(edge: Edge) -> Iterator[Finding]:
    """What the project's packages would meet on the edge."""
    wanted = edge.dependencies
    if (requirements := edge.root / "requirements.txt").is_file():
        yield at(REQUIREMENTS, requirements, 1)
    if wanted.file is None:
        return
    if wanted.problem is not None:
        yield at(PYPROJECT, wanted.file, 1, problem=wanted.problem)
        return
    yield from _python(edge, wanted)
    for name, requirement in wanted.requirements:
        line = wanted.line_of(requirement.name)
        module = next((m for m in _NO_BUILD if m.lower() == name), None)
        if module is not None and requirement.marker is None:
            yield at(PACKAGE, wanted.file, line, name=name, advice=_NO_BUILD[module])
        offered = _VERSIONS.get(edge.python, {}).get(name)
        if offered is None:
            continue
        python = ".".join(map(str, edge.python))
        if not requirement.specifier.contains(offered, prereleases=True):
            facts = {"requirement": str(requirement), "edge": offered, "python": python}
            yield at(PIN, wanted.file, line, **facts)
        else:
            yield from _version(edge, name, offered, python, line)


def _python(edge: Edge, wanted: Dependencies) -> Iterator[Finding]:
    demanded = wanted.requires_python
    release = _RELEASES[edge.python]
    if demanded is not None and not demanded.contains(release) and wanted.file is not None:
        line = wanted.line_of("requires-python")
        yield at(PYTHON, wanted.file, line, demanded=str(demanded), python=release)


def _version(edge: Edge, name: str, offered: str, python: str, line: int) -> Iterator[Finding]:
    assert edge.dependencies.file is not None
    facts = {"name": name, "edge": offered, "python": python}
    here = installed.version(name)
    if here is not None and Version(here) != Version(offered):
        yield at(VERSION, edge.dependencies.file, line, here=here, **facts)
    lock = edge.root / "uv.lock"
    if lock.is_file():
        text = lock.read_text("utf-8", errors="replace")
        locked = _locked(text, name)
        if locked is not None and locked != offered:
            at_name = text.find(f'name = "{name}"')
            yield at(VERSION, lock, text.count("\n", 0, at_name) + 1, here=locked, **facts)


def _locked(text: str, name: str) -> str | None:
    try:
        packages = tomllib.loads(text).get("package", [])
    except tomllib.TOMLDecodeError:
        return None
    found = (one.get("version") for one in packages if one.get("name") == name)
    version = next(found, None)
    return version if isinstance(version, str) else None
