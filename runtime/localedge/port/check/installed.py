"""What the packages of this machine tell: which one a module comes from, and in what version."""

from __future__ import annotations

from functools import lru_cache
from importlib import metadata

from packaging.requirements import InvalidRequirement, Requirement
from packaging.utils import canonicalize_name

from localedge.port.check.dependencies import Dependencies


def is_provided(module: str, dependencies: Dependencies) -> bool:
    """Whether the top-level `module` comes with `dependencies`, as far as can be told here.

    A dependency that is not installed on this machine may bring whatever it likes.
    """
    declared = {name for name, _ in dependencies.requirements}
    if canonicalize_name(module) in declared:
        return True
    from_packages = owners(module)
    if from_packages & declared:
        return True
    needed, is_complete = _closure(frozenset(declared))
    return not is_complete or bool(from_packages & needed) or canonicalize_name(module) in needed


def version(name: str) -> str | None:
    """The version of the package `name` on this machine; None when it is not there."""
    try:
        return metadata.version(name)
    except metadata.PackageNotFoundError:
        return None


@lru_cache(maxsize=1)
def _distributions() -> dict[str, list[str]]:
    return {module: [*names] for module, names in metadata.packages_distributions().items()}


def owners(module: str) -> frozenset[str]:
    """The packages on this machine that the top-level `module` comes from."""
    return frozenset(canonicalize_name(name) for name in _distributions().get(module, ()))


@lru_cache(maxsize=32)
def _closure(names: frozenset[str]) -> tuple[frozenset[str], bool]:
    """All that `names` need, themselves included, and whether everything could be looked up."""
    found: set[str] = set()
    waiting = [*names]
    is_complete = True
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        try:
            required = metadata.requires(name) or []
        except metadata.PackageNotFoundError:
            is_complete = False
            continue
        waiting.extend(_needed(required))
    return frozenset(found), is_complete


def _needed(required: list[str]) -> list[str]:
    needed: list[str] = []
    for text in required:
        try:
            one = Requirement(text)
        except InvalidRequirement:
            continue
        if one.marker is None or one.marker.evaluate({"extra": ""}):
            needed.append(canonicalize_name(one.name))
    return needed
