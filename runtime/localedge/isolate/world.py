"""Which of the platform's worlds a project's compatibility date and flags put its worker in."""

from __future__ import annotations

from dataclasses import dataclass

from localedge.project import compatibility
from localedge.project.models import Project


@dataclass(frozen=True, slots=True)
class World:
    """What dates and flags decide for one worker.

    Shape: `is_legacy` when its env holds raw objects; without `allows_global_handlers` its
    module's own `on_fetch` and the like are not called; `python` is the edge's (major, minor).
    Source: reference/python-workers.md sections 0 and 1.7, read 2026-12-01.
    """

    is_legacy: bool
    allows_global_handlers: bool
    python: tuple[int, int]


def world_of(project: Project) -> World:
    """The world of `project`'s worker.

    It is the older one when the SDK that is built into the platform would be used: before
    `enable_python_external_sdk`, unless `pywrangler sync` has put a newer one into the bundle.
    """
    date = project.compatibility_date or compatibility.default_date()
    flags = compatibility.python_flags(date, project.compatibility_flags)
    python = compatibility.python_release(date, project.compatibility_flags).python
    major, minor = (int(part) for part in python.split(".")[:2])
    has_sdk = (project.root / "python_modules" / "workers").is_dir()
    return World(
        is_legacy="enable_python_external_sdk" not in flags and not has_sdk,
        allows_global_handlers="python_no_global_handlers" not in flags,
        python=(major, minor),
    )
