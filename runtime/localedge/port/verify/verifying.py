"""One `localedge verify`: both sides opened, the plan run, everything closed."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable, Mapping, Sequence
from contextlib import AsyncExitStack
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from localedge.port.verify.answers import Side
from localedge.port.verify.bundle import bundled
from localedge.port.verify.comparing import Compared, Report, compare
from localedge.port.verify.differences import Difference
from localedge.port.verify.ours import Ours, our_side
from localedge.port.verify.parts import fetched_parts
from localedge.port.verify.plan import Plan
from localedge.port.verify.real import Real, real_side
from localedge.port.verify.remote import remote_side
from localedge.port.verify.wheels import silent
from localedge.project import compatibility
from localedge.project.models import Project
from localedge.supervisor.forks import Record
from localedge.supervisor.supervisor import check

PATIENCE_S: Final = 20.0
_PYODIDE: Final = "314.0"
_PACKAGES: Final = (
    "The edge has the packages of [project].dependencies in pyproject.toml, or of edge-packages in "
    "its [tool.localedge]; --package NAME takes the place of both."
)


@dataclass(frozen=True, slots=True)
class Wishes:
    """What is asked for beside the plan.

    Shape: `url` is a server to compare with in place of the real parts, `headers` go to it alone;
    `requirements` are the packages that the edge gets, None for what the project says. With
    `shows_output` what the worker prints on the real parts is said too.
    Units: `patience_s` is for one step on one side.
    """

    patterns: Mapping[str, str] = field(default_factory=dict)
    url: str | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    requirements: Sequence[str] | None = None
    patience_s: float = PATIENCE_S
    shows_output: bool = False


async def verify(
    project: Project,
    plan: Plan,
    wishes: Wishes,
    *,
    on_record: Callable[[Record], None],
    say: Callable[[str], None] | None = None,
) -> Report:
    """What our server and the other side make of `plan`, over new stores that are gone afterwards.

    Shape: `on_record` gets what the worker prints here; `say`, where given, what takes a while, and
    what was printed on the other side.
    Errors: OperatorError when a side cannot be had: exit 4 without Node, a wheel or the network.
    """
    check(project)
    with tempfile.TemporaryDirectory(prefix="localedge-verify-") as folder:
        async with AsyncExitStack() as stack:
            real = Path(folder) / "real"
            theirs, packages = await _their_side(stack, project, wishes, real, say or silent)
            ours = await stack.enter_async_context(
                our_side(
                    project,
                    Path(folder) / "ours",
                    patience_s=wishes.patience_s,
                    on_record=on_record,
                )
            )
            report = _not_loaded(ours, theirs) or await compare(ours, theirs, plan, wishes.patterns)
            if isinstance(theirs, Real):
                report.versions |= theirs.versions
                report.notes += _lacking(project)
                if wishes.shows_output and say is not None:
                    say(theirs.log())
            report.packages = packages
            return report


async def _their_side(
    stack: AsyncExitStack,
    project: Project,
    wishes: Wishes,
    folder: Path,
    say: Callable[[str], None],
) -> tuple[Side, tuple[str, ...]]:
    patience_s = wishes.patience_s
    if wishes.url is not None:
        remote = remote_side(wishes.url, wishes.headers, patience_s=patience_s)
        return await stack.enter_async_context(remote), ()
    parts = await fetched_parts(say)
    os.mkdir(folder)
    bundle = await bundled(project, wishes.requirements, folder / "bundle", say)
    real = real_side(project, parts, bundle, folder, patience_s=patience_s)
    return await stack.enter_async_context(real), bundle.packages


def _not_loaded(ours: Ours, theirs: Side) -> Report | None:
    """The report on a worker that one of the sides cannot load."""
    here = ours.failure.text if ours.failure is not None else None
    there = theirs.failure if isinstance(theirs, Real) else None
    if here is None and there is None:
        return None
    texts = here or "(loaded)", there or "(loaded)"
    shown = ["not loaded" if text else "loaded" for text in (here, there)]
    differences = (Difference("loading", *texts),)
    steps = [Compared("load the worker", shown[0], shown[1], differences)]
    report = Report((ours.name, theirs.name), steps)
    if there is not None and "ModuleNotFoundError" in there:
        report.notes.append(_PACKAGES)
    return report


def _lacking(project: Project) -> list[str]:
    """What of the project the real parts do not have here."""
    notes = []
    names = sorted({*project.attached.classes(), *project.placeholders})
    if names:
        notes.append(f"Bindings that only {Ours.name} has here: {', '.join(names)}.")
    date = project.compatibility_date or compatibility.default_date()
    release = compatibility.python_release(date, project.compatibility_flags)
    if release.pyodide != _PYODIDE:
        notes.append(
            f"With compatibility date {date} the edge runs Pyodide {release.pyodide} (Python "
            f"{release.python}); this was compared with {_PYODIDE}."
        )
    return notes
