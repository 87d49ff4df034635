"""`localedge explore`: every crash, every order, every stale read of a scenario."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated, Final

import typer

from localedge.errors import Exit, OperatorError
from localedge.explore.choices import CRASH_MODES, Choice, Choices, Do, from_json
from localedge.explore.exploring import Options, Progress, Report, Told, command, explore, replayed
from localedge.explore.lab import opened
from localedge.explore.loading import scenarios_of
from localedge.explore.outcome import Outcome, Row
from localedge.explore.report_data import as_json, as_junit
from localedge.explore.report_html import as_html
from localedge.explore.report_text import failure, summary, table
from localedge.explore.scenario_model import Scenario

app = typer.Typer(add_completion=False)
_clock: Final = time.perf_counter
_EACH_S: Final = 1.0


@app.command(name="explore")
def run(
    file: Annotated[Path, typer.Argument(help="The Python file with the scenarios.")],
    crash: Annotated[bool, typer.Option("--crash", help="Kill at every call.")] = False,
    race: Annotated[bool, typer.Option("--race", help="Requests meet in every order.")] = False,
    stale: Annotated[bool, typer.Option("--stale", help="KV answers from before.")] = False,
    depth: Annotated[int, typer.Option(help="Faults in one run.", min=1, max=2)] = 1,
    preemptions: Annotated[int, typer.Option(help="How often a turn may be taken.", min=0)] = 2,
    fuzz: Annotated[float, typer.Option(help="Seconds of everything at random.", min=0)] = 0.0,
    real: Annotated[int, typer.Option(help="Deaths by SIGKILL on real stores.", min=0)] = 0,
    jobs: Annotated[int, typer.Option(help="Processes that share the work.", min=1)] = 1,
    seed: Annotated[int, typer.Option(help="Of ids, random numbers and chance.")] = 0,
    scenario: Annotated[str | None, typer.Option(help="Only the scenario of this name.")] = None,
    point: Annotated[int | None, typer.Option(help="Play one run: the fault's point.")] = None,
    mode: Annotated[str, typer.Option(help=f"With --point: {', '.join(CRASH_MODES)}.")] = "after",
    replay: Annotated[str | None, typer.Option(help="Play one run: a report's choices.")] = None,
    as_json_: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    junit: Annotated[Path | None, typer.Option(help="Write JUnit XML to this file.")] = None,
    html: Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")] = None,
) -> None:
    """Explore what a worker does when it dies, meets itself, or reads what is no longer so.

    Examples: localedge explore scenario.py · localedge explore scenario.py --race --stale
    """
    everything = not (crash or race or stale or fuzz or real)
    options = Options(
        crash=crash or everything,
        race=race or everything,
        stale=stale or everything,
        depth=depth,
        preemptions=preemptions,
        fuzz_s=fuzz,
        real=real,
        jobs=jobs,
        seed=seed,
    )
    choices = _choices(point, mode, replay)
    report = Report()
    for one in scenarios_of(file, scenario):
        if choices is not None:
            report.add(_one_run(one, file, choices, seed))
        else:
            found = explore(
                one, file.resolve().parent, options, source=str(file), progress=_progress()
            )
            report.add(found)
    _write(report, junit, html)
    typer.echo(as_json(report) if as_json_ else _text(report, is_one=choices is not None))
    raise SystemExit(_exit(report))


def _choices(point: int | None, mode: str, replay: str | None) -> Choices | None:
    if replay is not None:
        return from_json(replay)
    if point is None:
        return None
    if mode not in CRASH_MODES:
        raise OperatorError(
            "explore/bad-mode",
            f"there is no mode {mode!r}; there are {', '.join(CRASH_MODES)}.",
            exit=Exit.USAGE,
        )
    return (Choice(point, Do(mode), point + 1 if mode == Do.LATE else 0),)


def _one_run(scenario: Scenario, file: Path, choices: Choices, seed: int) -> Report:
    with opened(scenario, file.resolve().parent, seed=seed) as lab:
        verdict, story = replayed(lab, choices)
        row = Row(scenario.title, "one run", points=verdict.points)
        row.add(verdict)
        again = command(lab, choices, str(file))
    return Report([row], [Told(scenario.title, "one run", verdict, tuple(story), again)])


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


def _progress() -> Progress:
    """A line on a terminal once a second."""
    last = _clock()

    def tell(kind: str, runs: int, failed: int) -> None:
        nonlocal last
        if sys.stderr.isatty() and _clock() - last >= _EACH_S:
            last = _clock()
            print(f"\r{kind}: {runs} runs, {failed} failed ", end="", file=sys.stderr)  # noqa: T201  (progress is for stderr)

    return tell
