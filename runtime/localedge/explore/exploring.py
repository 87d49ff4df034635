"""Explores a scenario as asked, and says what was found and how to see it again."""

from __future__ import annotations

import gc
import logging
import shlex
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from localedge.explore import steadiness
from localedge.explore.choices import CRASH_MODES, DEATHS, Choices, Do, to_json
from localedge.explore.crashes import Crashes, Share
from localedge.explore.fuzz import fuzzed, shrunk
from localedge.explore.jobs import shared
from localedge.explore.lab import Lab, opened
from localedge.explore.outcome import Row, Verdict
from localedge.explore.races import PREEMPTIONS, Races, shortest
from localedge.explore.run import Run
from localedge.explore.scenario import Scenario
from localedge.explore.sigkill import real_row
from localedge.explore.staleness import Staleness
from localedge.explore.trace import Event

_clock: Final = time.perf_counter
_TOLD: Final = 8
"""So many failures of one exploration are told in full; all are counted."""


@dataclass(frozen=True, slots=True)
class Options:
    """What to explore.

    Shape: `depth` is how many faults one run has; a first one is of `modes`, and one of `pairs` is
    followed by all others of these. `preemptions` is how often a worker that could go on may lose
    its turn; `real` how many deaths are played with real processes.
    Units: `fuzz_s` in seconds of the machine's time.
    """

    crash: bool = False
    race: bool = False
    stale: bool = False
    depth: int = 1
    modes: Sequence[Do] = CRASH_MODES
    pairs: Sequence[Do] = DEATHS
    preemptions: int = PREEMPTIONS
    fuzz_s: float = 0.0
    fuzz_runs: int | None = None
    real: int = 0
    jobs: int = 1
    seed: int = 0

    def with_modes(self, modes: Sequence[Do]) -> Options:
        """The same with faults of these `modes` only, alone and in pairs."""
        return replace(self, modes=modes, pairs=modes)


@dataclass(frozen=True, slots=True)
class Told:
    """A failure in full: its verdict, the lines of its story, the command that shows it again."""

    subject: str
    kind: str
    verdict: Verdict
    story: tuple[Event, ...]
    command: str


@dataclass(slots=True)
class Report:
    """All that an exploration has found."""

    rows: list[Row] = field(default_factory=list)
    told: list[Told] = field(default_factory=list)

    @property
    def is_clean(self) -> bool:
        """Whether everything held in every run."""
        return all(row.is_clean for row in self.rows)

    def add(self, other: Report) -> None:
        """What another exploration has found belongs to this one too."""
        self.rows += other.rows
        self.told += other.told


Progress = Callable[[str, int, int], None]
"""Called with the kind of runs, how many have been played and how many failed."""


def explore(
    scenario: Scenario,
    folder: Path,
    options: Options,
    *,
    source: str = "scenario.py",
    progress: Progress = lambda _kind, _runs, _failed: None,
) -> Report:
    """What `scenario`, which lies in `folder`, comes to under all that `options` ask for.

    Errors: OperatorError for a wrong project, or a worker that is not deterministic.
    """

    with opened(scenario, folder, seed=options.seed) as lab, _at_speed():
        steadiness.check(lab)

        def work(number: int, jobs: int) -> list[Row]:
            if jobs > 1:
                lab.stores.part()
            quiet: Progress = lambda _kind, _runs, _failed: None  # noqa: E731  (a default)
            return _rows(lab, options, Share(number, jobs), quiet if number else progress)

        report = Report(shared(work, options.jobs))
    if options.real:
        real = real_row(scenario, folder, wanted=options.real, jobs=options.jobs, seed=options.seed)
        report.rows.append(real)
    if not report.is_clean:
        with opened(scenario, folder, seed=options.seed) as lab:
            report.told = [*_told(lab, report.rows, source)]
    return report


def _rows(lab: Lab, options: Options, share: Share, progress: Progress) -> list[Row]:
    rows: list[Row] = []
    if options.crash:
        crashes = Crashes(lab, options.depth, options.modes, options.pairs)
        kind = "crash" if options.depth == 1 else f"crash, depth {options.depth}"
        row = _row(lab, kind, crashes.runs(share), progress)
        row.points, row.merged = crashes.points, crashes.merged
        rows.append(row)
    if options.race and share.number == 0:
        races = Races(lab, options.preemptions)
        row = _row(lab, f"race, {options.preemptions} preemptions", races.orders(), progress)
        row.points, row.merged = races.points, races.pruned
        row.failures = [shortest(verdict, lab) for verdict in _one_of_each(row.failures)]
        rows.append(row)
    if options.stale and share.number == share.of - 1:
        stale = Staleness(lab)
        row = _row(lab, "stale reads", stale.runs(), progress)
        row.points = stale.points
        rows.append(row)
    if options.fuzz_s or options.fuzz_runs:
        found = fuzzed(
            lab,
            seed=options.seed,
            seconds=options.fuzz_s,
            runs=options.fuzz_runs,
            first=share.number,
            step=share.of,
        )
        row = _row(lab, "fuzz", found, progress)
        row.failures = [shrunk(verdict, lab) for verdict in _one_of_each(row.failures)]
        rows.append(row)
    return rows


def _row(lab: Lab, kind: str, verdicts: Iterable[Verdict], progress: Progress) -> Row:
    row = Row(lab.scenario.title, kind)
    begun = _clock()
    for verdict in verdicts:
        row.add(verdict)
        row.points = max(row.points, verdict.points)
        progress(kind, row.runs, len(row.failures))
    row.seconds = _clock() - begun
    return row


def _one_of_each(failures: Iterable[Verdict]) -> list[Verdict]:
    """The failure with fewest choices of each class and text."""
    best: dict[tuple[str, str], Verdict] = {}
    for verdict in failures:
        key = (str(verdict.outcome), _words(verdict.findings[0].text))
        if key not in best or len(verdict.choices) < len(best[key].choices):
            best[key] = verdict
    return [*best.values()]


def _words(text: str) -> str:
    """What is the same in texts about other keys, steps and numbers."""
    return " ".join(word for word in text.split()[:6] if word.isalpha())


def _told(lab: Lab, rows: Iterable[Row], source: str) -> Iterator[Told]:
    for row in rows:
        for verdict in _one_of_each(row.failures)[:_TOLD]:
            found, story = replayed(lab, verdict.choices)
            shown = found if not found.is_clean else verdict
            yield Told(
                row.subject, row.kind, shown, tuple(story), command(lab, verdict.choices, source)
            )


def replayed(lab: Lab, choices: Choices) -> tuple[Verdict, list[Event]]:
    """The run that `choices` make, from its beginning, with its story."""
    run = Run(lab, lab.start, choices, is_told=True)
    return lab.run(run.play()), run.story


def command(lab: Lab, choices: Choices, source: str) -> str:
    """The command line that shows the run again."""
    seed = f" --seed {lab.seed}" if lab.seed else ""
    text = shlex.quote(to_json(choices))
    name = shlex.quote(lab.scenario.title)
    return f"localedge explore {source} --scenario {name}{seed} --replay {text}"


@contextmanager
def _at_speed() -> Iterator[None]:
    """The collector does not look again at what is there already, and nobody logs."""
    gc.freeze()
    level = logging.root.manager.disable
    logging.disable(logging.CRITICAL)
    try:
        yield
    finally:
        logging.disable(level)
        gc.unfreeze()
