"""What Python a worker would meet on the edge, beside the one that runs it here."""

from __future__ import annotations

import sys
from collections.abc import Iterator

import pydantic

from localedge.isolate.packages import unused_packages
from localedge.project import compatibility
from localedge.project.compatibility import PythonRelease
from localedge.project.models import Project


def edge_release(project: Project) -> str:
    """The versions of Python and pydantic on the edge and here, as one sentence."""
    release = _release(project)
    there = f"Python {release.python}"
    if release.pydantic is not None:
        there += f" and pydantic {release.pydantic}"
    here = ".".join(map(str, sys.version_info[:3]))
    return (
        f"On the edge: {there} (compatibility date {_date(project)}); "
        f"here: Python {here} and pydantic {pydantic.VERSION}."
    )


def local_surprises(project: Project) -> Iterator[str]:
    """Warnings about the Python and the packages that run `project` here."""
    there = tuple(int(part) for part in _release(project).python.split(".")[:2])
    if sys.version_info[:2] < there:
        yield (
            f"Python {sys.version_info[0]}.{sys.version_info[1]} runs localedge, which is older "
            f"than the edge's {there[0]}.{there[1]}: what came between works only there."
        )
    unused = unused_packages(project.root)
    if unused is not None:
        yield unused


def _date(project: Project) -> str:
    return project.compatibility_date or compatibility.default_date()


def _release(project: Project) -> PythonRelease:
    return compatibility.python_release(_date(project), project.compatibility_flags)
