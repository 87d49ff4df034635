"""The exported pyproject.toml, in the form that pywrangler reads.

Source: reference/python-workers.md section 5, read 2026-12-01.
"""

from __future__ import annotations

import ast
import json
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from packaging.utils import canonicalize_name

from localedge.port.check.dependencies import Dependencies
from localedge.port.check.installed import owners
from localedge.port.scaffold import project_name
from localedge.sdk.finder import OFFERED

NAME: Final = "pyproject.toml"
GROUP: Final = ("workers-py", "workers-runtime-sdk")
_PYTHON: Final = ">=3.12"


@dataclass(frozen=True, slots=True)
class Packages:
    """The exported pyproject.toml.

    Shape: `text` is its content; `left_out` names declared packages that the worker does not
    import, `added` those that it imports undeclared, `unknown` modules of no known package.
    """

    text: str
    left_out: tuple[str, ...] = ()
    added: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()


def packages(declared: Dependencies, worker: str, modules: Iterable[str]) -> Packages:
    """The packages of the worker called `worker`, whose files import the top-level `modules`.

    Shape: a pyproject.toml that is in pywrangler's form already stays as it is. One that describes
    something else as well, such as a library, gives what the worker imports.
    """
    if declared.file is not None and declared.groups.intersection(GROUP):
        return Packages(declared.text)
    found = {name: str(requirement) for name, requirement in declared.requirements}
    taken: dict[str, str] = {}
    added, unknown = [], []
    for module in sorted(set(modules)):
        names = {canonicalize_name(module)} | owners(module)
        if known := sorted(names & found.keys()):
            taken.update((name, found[name]) for name in known)
        elif own := sorted(owners(module)):
            taken[own[0]] = own[0]
            added.append(own[0])
        else:
            unknown.append(module)
    demanded = str(declared.requires_python or _PYTHON)
    return Packages(
        _text(worker, demanded, [taken[name] for name in sorted(taken)]),
        left_out=tuple(sorted(found.keys() - taken.keys())),
        added=tuple(added),
        unknown=tuple(unknown),
    )


def imported(files: Iterable[Path], bundle: Path) -> Iterator[str]:
    """The top-level modules that `files` import and that neither `bundle` nor Python has."""
    for file in files:
        for module in _imports(file):
            top = module.split(".")[0]
            is_own = (bundle / f"{top}.py").is_file() or (bundle / top).is_dir()
            if not (is_own or top in sys.stdlib_module_names or top in OFFERED):
                yield top


def _imports(file: Path) -> Iterator[str]:
    try:
        tree = ast.parse(file.read_bytes(), str(file))
    except (SyntaxError, ValueError):
        return  # what the check says of it
    for node in ast.walk(tree):
        match node:
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.ImportFrom(module=str(module), level=0):
                yield module


def _text(worker: str, python: str, dependencies: list[str]) -> str:
    lines = "".join(f"\n  {json.dumps(one)}," for one in dependencies)
    listed = f"[{lines}\n]" if lines else "[]"
    return (
        f'[project]\nname = "{project_name(Path(worker))}"\nversion = "0.1.0"\n'
        f'requires-python = "{python}"\ndependencies = {listed}\n\n'
        f"[dependency-groups]\ndev = {json.dumps([*GROUP])}\n"
    )
