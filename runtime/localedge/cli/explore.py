"""`localedge explore`: every crash, every order, every stale read of a scenario."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Final

import typer

from localedge.errors import Exit, OperatorError
from localedge.explore.choices import CRASH_MODES, Choice, Choices, Do, from_json, modes_of
from localedge.explore.exploring import Options, Report, Told, command, explore, replayed
from localedge.explore.lab import opened
from localedge.explore.loading import scenarios_of
from localedge.explore.outcome import Outcome, Row
from localedge.explore.report_data import as_json, as_junit
from localedge.explore.report_html import as_html
from localedge.explore.report_text import failure, summary, table
from localedge.explore.scenario import Scenario

app = typer.Typer(add_completion=False)
_clock: Final = time.perf_counter
_EACH_S: Final = 1.0
_EACH_LINE_S: Final = 10.0
_NAMES: Final = ", ".join(CRASH_MODES)

File = Annotated[Path, typer.Argument(help="The Python file with the scenarios.")]
Crash = Annotated[bool, typer.Option("--crash", help="Kill at every call.")]
Race = Annotated[bool, typer.Option("--race", help="Requests meet in every order.")]
Stale = Annotated[bool, typer.Option("--stale", help="KV answers from before.")]
Depth = Annotated[int, typer.Option(help="Faults in one run.", min=1, max=2)]
Modes = Annotated[
    str | None, typer.Option(help=f"Of {_NAMES}; with --depth 2 every pair of these.")
]
Preemptions = Annotated[int, typer.Option(help="How often a turn may be taken.", min=0)]
Fuzz = Annotated[float, typer.Option(help="Seconds of everything at random.", min=0)]
Real = Annotated[int, typer.Option(help="Deaths by SIGKILL on real stores.", min=0)]
Jobs = Annotated[int, typer.Option(help="Processes that share the work.", min=1)]
Seed = Annotated[int, typer.Option(help="Of ids, random numbers and chance.")]
Name = Annotated[str | None, typer.Option(help="Only the scenario of this name.")]
Point = Annotated[int | None, typer.Option(help="Play one run: the fault's point.", min=1)]
Mode = Annotated[str, typer.Option(help=f"With --point: {_NAMES}.")]
Replay = Annotated[str | None, typer.Option(help="Play one run: a report's choices.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON.")]
Junit = Annotated[Path | None, typer.Option(help="Write JUnit XML to this file.")]
Html = Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")]


@app.command(name="explore")
def run(
    file: File,
    crash: Crash = False,
    race: Race = False,
    stale: Stale = False,
    depth: Depth = 1,
    modes: Modes = None,
    preemptions: Preemptions = 2,
    fuzz: Fuzz = 0.0,
    real: Real = 0,
    jobs: Jobs = 1,
    seed: Seed = 0,
    scenario: Name = None,
    point: Point = None,
    mode: Mode = Do.AFTER,
    replay: Replay = None,
    as_json_: Json = False,
    junit: Junit = None,
    html: Html = None,
) -> None:
    """Explore what a worker does when it dies, meets itself, or reads what is no longer so.

    Examples: localedge explore scenario.py · localedge explore scenario.py --race --stale
    """
    options = _options((crash, race, stale), depth, modes, preemptions, fuzz, real, jobs, seed)
    choices = _choices(point, mode, replay)
    report = Report()
    for one in scenarios_of(file, scenario):
        if choices is not None:
            report.add(_one_run(one, file, choices, seed))
        else:
            report.add(_explored(one, file, options))
    _write(report, junit, html)
    typer.echo(as_json(report) if as_json_ else _text(report, is_one=choices is not None))
    raise SystemExit(_exit(report))


def _options(
    kinds: tuple[bool, bool, bool],
    depth: int,
    modes: str | None,
    preemptions: int,
    fuzz_s: float,
    real: int,
    jobs: int,
    seed: int,
) -> Options:
    """What is asked for; everything, where no kind of runs is named."""
    if not (any(kinds) or fuzz_s or real):
        kinds = (True, True, True)
    crash, race, stale = kinds
    found = Options(
        crash=crash,
        race=race,
        stale=stale,
        depth=depth,
        preemptions=preemptions,
        fuzz_s=fuzz_s,
        real=real,
        jobs=jobs,
        seed=seed,
    )
    return found.with_modes(modes_of(modes)) if modes is not None else found


def _choices(point: int | None, mode: str, replay: str | None) -> Choices | None:
    if replay is not None:
        return from_json(replay)
    if point is None:
        return None
    (do,) = modes_of(mode)
    return (Choice(point, do, point + 1 if do is Do.LATE else 0),)


def _explored(scenario: Scenario, file: Path, options: Options) -> Report:
    progress = _Progress()
    try:
        return explore(
            scenario, file.resolve().parent, options, source=str(file), progress=progress.tell
        )
    finally:
        progress.end()


def _one_run(scenario: Scenario, file: Path, choices: Choices, seed: int) -> Report:
    with opened(scenario, file.resolve().parent, seed=seed) as lab:
        verdict, story = replayed(lab, choices)
        _refuse_points_after(verdict.points, choices)
        row = Row(scenario.title, "one run", points=verdict.points)
        row.add(verdict)
        again = command(lab, choices, str(file))
    return Report([row], [Told(scenario.title, "one run", verdict, tuple(story), again)])


def _refuse_points_after(points: int, choices: Choices) -> None:
    """Errors: OperatorError when something was to be done at a point that the run never came to."""
    missed = [choice for choice in choices if choice.point > points]
    if missed:
        raise OperatorError(
            "explore/no-point",
            f"nothing was done at point {missed[0].point}: the run has {points} points.",
            "Points count the calls from 1; `--json` shows them with what each one is.",
            exit=Exit.USAGE,
        )


def _text(report: Report, *, is_one: bool) -> str:
    parts = [failure(told) for told in report.told]
    if not is_one:
        parts += [table(report.rows), summary(report)]
    return "\n\n".join(parts)


def _write(report: Report, junit: Path | None, html: Path | None) -> None:
    if junit is not None:
        junit.write_text(as_junit(report), "utf-8")
    if html is not None:
        html.write_text(as_html(report), "utf-8")


def _exit(report: Report) -> int:
    if any(Outcome.SCENARIO in row.counts for row in report.rows):
        return Exit.USAGE
    return Exit.DONE if report.is_clean else Exit.FAILED


class _Progress:
    """How far it is, on stderr: once a second on a terminal, every ten seconds in a log."""

    def __init__(self) -> None:
        self._is_terminal = sys.stderr.isatty()
        self._each_s = _EACH_S if self._is_terminal else _EACH_LINE_S
        self._last_s = _clock()
        self._has_told = False

    def tell(self, kind: str, runs: int, failed: int) -> None:
        """So many `runs` of this kind have been played, and so many failed."""
        if _clock() - self._last_s < self._each_s:
            return
        self._last_s = _clock()
        self._has_told = True
        begin, end = ("\r\x1b[K", "") if self._is_terminal else ("", "\n")
        sys.stderr.write(f"{begin}{kind}: {runs} runs, {failed} failed{end}")
        sys.stderr.flush()

    def end(self) -> None:
        """The line is free for others."""
        if self._has_told and self._is_terminal:
            sys.stderr.write("\r\x1b[K")
            sys.stderr.flush()
