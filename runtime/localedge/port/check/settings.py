"""Rules on the project's configuration."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from localedge.port.check.edge import Edge
from localedge.port.check.finding import Finding, Rule, at
from localedge.project.document import Json, Keys
from localedge.project.models import Project
from localedge.project.placeholders import not_run
from localedge.project.resolution import Resolved
from localedge.supervisor.schedule import Schedule

NAME: Final = Rule(
    "worker-name",
    "error",
    "You need to provide the name of your worker. Without one it cannot be deployed.",
    "Set name.",
)
DATE: Final = Rule(
    "compatibility-date",
    "error",
    "A compatibility_date is required when uploading a Worker.",
    "Set it to the day on which you test, as YYYY-MM-DD.",
)
OLD_SDK: Final = Rule(
    "old-sdk",
    "warning",
    "the compatibility date {date} selects the built-in SDK, whose bindings return JsProxy.",
    "Use a date from 2026-04-21 on, or the flag enable_python_external_sdk.",
)
SDK: Final = Rule(
    "sdk-not-vendored",
    "error",
    "the edge has no SDK of its own {why}: No module named 'workers'.",
    'Add workers-runtime-sdk to [dependency-groups] dev in pyproject.toml; "pywrangler sync" '
    "then vendors it.",
)
CRON: Final = Rule("cron", "error", "the edge refuses the cron {cron}: {problem}", "Correct it.")
CRONS: Final = Rule(
    "cron-count", "error", "there are {count} crons; an account has 250.", "Use fewer."
)
CPU: Final = Rule(
    "cpu-limit",
    "error",
    "limits.cpu_ms is {value}; the edge allows 300,000 at the most.",
    "Lower it.",
)
VARIABLES: Final = Rule(
    "vars-limit", "error", "{problem}; the edge takes 128 of 5 KB each.", "Keep them in KV."
)
HIDDEN: Final = Rule(
    "two-configs",
    "warning",
    "{used} is used here; pywrangler reads {theirs} beside it.",
    "Keep one of them.",
)
CONFIG: Final = Rule("config", "warning", "{warning}", "")

# Source: reference/python-workers.md 1.7 and 5, reference/kv-d1-contract.md 4 and 5, read
# 2026-12-01; recorded cases `name_empty` and `compatibility_date_missing` of config.json.
_SDK: Final = "workers-runtime-sdk"
_MOST_CPU_MS: Final = 300_000
_MOST_CRONS: Final = 250
_MOST_VARIABLES: Final = 128
_MOST_VARIABLE_BYTES: Final = 5 * 1024
_WRANGLER: Final = ("wrangler.toml", "wrangler.json", "wrangler.jsonc")
_PLACED: Final = re.compile(r"^\S+?(:\d+)?: (.*)$", re.DOTALL)
_PLACE: Final = re.compile(r"\.(?:jsonc?|toml):(\d+)")


@dataclass(frozen=True, slots=True)
class Settings:
    """A project's configuration, as it was understood and as it is written.

    Shape: `resolved` is None when there is no file.
    """

    project: Project
    edge: Edge
    resolved: Resolved | None

    def get(self, key: str) -> Json:
        """What the file says of `key`; None when nothing."""
        return self.resolved.get(key) if self.resolved else None

    def line(self, *keys: str | int) -> int:
        """The line of a key, in its environment where that has it; 1 when it is nowhere."""
        if self.resolved is None:
            return 1
        document = self.resolved.document
        ways: list[Keys] = [keys]
        if self.project.environment:
            ways.insert(0, ("env", self.project.environment, *keys))
        found = [document.lines[way] for way in ways if way in document.lines]
        return found[0] if found else 1


def check(settings: Settings) -> Iterator[Finding]:
    """What the configuration says that the edge refuses or takes otherwise."""
    project, file = settings.project, settings.project.file
    if not settings.get("name"):
        yield at(NAME, file, settings.line("name"))
    if settings.get("compatibility_date") is None:
        yield at(DATE, file, 1)
    yield from _sdk(settings)
    yield from _crons(settings)
    if project.limits.cpu_ms > _MOST_CPU_MS:
        line = settings.line("limits", "cpu_ms")
        yield at(CPU, file, line, value=f"{project.limits.cpu_ms:,}")
    yield from _variables(settings)
    beside = [name for name in _WRANGLER if (file.parent / name).is_file()]
    if file.name in _WRANGLER and beside[0] != file.name:
        yield at(HIDDEN, file, 1, used=file.name, theirs=beside[0])
    yield from _warnings(settings)


def _warnings(settings: Settings) -> Iterator[Finding]:
    """What wrangler would warn of; not what only concerns the run on this machine."""
    project, resolved = settings.project, settings.resolved
    ours = set(not_run(resolved.values)) if resolved else set()
    for warning in project.warnings:
        is_ours = warning in ours or warning.endswith("localedge is local only.")
        if not is_ours and not warning.startswith("No compatibility_date was specified"):
            placed = _PLACED.match(warning)
            text = placed[2] if placed else warning
            place = _PLACE.search(warning)
            line = int(place[1]) if place else 1
            yield at(CONFIG, project.file, line, warning=" ".join(text.split()))


def _sdk(settings: Settings) -> Iterator[Finding]:
    project, edge, file = settings.project, settings.edge, settings.project.file
    line = settings.line("compatibility_date")
    is_external = "enable_python_external_sdk" in edge.flags
    if not is_external:
        yield at(OLD_SDK, file, line, date=project.compatibility_date)
    elif not edge.dependencies.has(_SDK) and not (edge.root / "python_modules/workers").is_dir():
        named = "enable_python_external_sdk" in project.compatibility_flags
        why = (
            "with the flag enable_python_external_sdk"
            if named
            else f"from the compatibility date 2026-04-21 on (here {project.compatibility_date})"
        )
        yield at(SDK, file, line, why=why)


def _crons(settings: Settings) -> Iterator[Finding]:
    crons = settings.project.crons
    file = settings.project.file
    for index, cron in enumerate(crons):
        try:
            Schedule(cron)
        except ValueError as error:
            line = settings.line("triggers", "crons", index)
            if line == 1:
                line = settings.line("triggers", "crons")
            yield at(CRON, file, line, cron=f'"{cron}"', problem=str(error))
    if len(crons) > _MOST_CRONS:
        yield at(CRONS, file, settings.line("triggers", "crons"), count=len(crons))


def _variables(settings: Settings) -> Iterator[Finding]:
    project = settings.project
    values = {**project.vars, **project.secrets}
    if len(values) > _MOST_VARIABLES:
        problem = f"there are {len(values)} vars and secrets"
        yield at(VARIABLES, project.file, settings.line("vars"), problem=problem)
    for name, value in values.items():
        text = value if isinstance(value, str) else json.dumps(value)
        if (size := len(text.encode())) > _MOST_VARIABLE_BYTES:
            problem = f"{name} has {size:,} bytes"
            yield at(VARIABLES, project.file, settings.line("vars", name), problem=problem)
