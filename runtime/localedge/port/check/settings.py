"""Rules on the project's configuration."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from localedge.port.check.finding import Finding, Rule, at
from localedge.project.models import Project

FLAG: Final = Rule(
    "python-flag",
    "error",
    'compatibility_flags lacks "python_workers"; the edge then fails with an opaque error.',
    'Add compatibility_flags = ["python_workers"].',
)
DATE: Final = Rule(
    "compatibility-date",
    "warning",
    "there is no compatibility_date.",
    "Set it to the day on which you test, as YYYY-MM-DD.",
)
OLD_SDK: Final = Rule(
    "old-sdk",
    "warning",
    "the compatibility date {date} selects the built-in SDK, whose bindings return JsProxy.",
    "Use a date from 2026-04-21 on, or the flag enable_python_external_sdk.",
)
CONFIG: Final = Rule("config", "warning", "{warning}", "")
CPU: Final = Rule(
    "cpu-limit",
    "error",
    "limits.cpu_ms is {value}; the edge allows 300,000 at the most.",
    "Lower it.",
)

# Source: reference/python-workers.md 1.7, read 2026-12-01.
_EXTERNAL_SDK_FROM: Final = "2026-04-21"
_MOST_CPU_MS: Final = 300_000


def check(project: Project) -> Iterator[Finding]:
    """What the configuration says that the edge refuses or takes otherwise."""
    file, flags, date = project.file, project.compatibility_flags, project.compatibility_date
    if "python_workers" not in flags:
        yield at(FLAG, file, 0)
    if not date:
        yield at(DATE, file, 0)
    elif date < _EXTERNAL_SDK_FROM and "enable_python_external_sdk" not in flags:
        yield at(OLD_SDK, file, 0, date=date)
    if project.limits.cpu_ms > _MOST_CPU_MS:
        yield at(CPU, file, 0, value=f"{project.limits.cpu_ms:,}")
    for warning in project.warnings:
        yield at(CONFIG, file, 0, warning=warning)
