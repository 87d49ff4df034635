"""Deaths by SIGKILL: forked isolates on real SQLite files and a real Valkey.

Each run has two processes: the first one is killed at the chosen point, the second one goes on as
the client does. They are forked from one that has the worker loaded and a single thread.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any, Final

from localedge.binding import EnvWrapper
from localedge.d1.memory import Copy
from localedge.errors import OperatorError
from localedge.explore.acting import observing
from localedge.explore.choices import Choice, Do
from localedge.explore.crashes import Crashes
from localedge.explore.deployment import Deployment, loaded, project_of
from localedge.explore.jobs import shared, verdict_in, verdict_out
from localedge.explore.lab import opened
from localedge.explore.outcome import Row, Verdict
from localedge.explore.real_run import Case, RealRun
from localedge.explore.scenario import Scenario
from localedge.kv.store import Entry
from localedge.probe import Probe
from localedge.sdk.host import Host, set_host
from localedge.supervisor import valkey

KIND: Final = "SIGKILL, real stores"
_START_S: Final = 20.0
_FAILED: Final = 70


class _Plan:
    """What is to be played: the deaths, and the stores that each begins with."""

    def __init__(self, scenario: Scenario, folder: Path, seed: int) -> None:
        with opened(scenario, folder, seed=seed) as lab:
            reference = Crashes(lab).play(lab.start, (), is_recording=True)
            self.points = reference.verdict.points
            stores, begin = lab.stores, lab.start.state
            self.copies: dict[str, Copy] = dict(zip(stores.databases, begin.databases, strict=True))
            spaces = zip(stores.namespaces, begin.namespaces, strict=True)
            self.entries: dict[str, dict[bytes, Entry]] = {n: s.entries for n, s in spaces}
            self.values = dict(stores.values)

    def choices(self, wanted: int) -> list[Choice]:
        """So many deaths, evenly over all points, before and after the call."""
        every = [Choice(p, do) for p in range(1, self.points + 1) for do in (Do.BEFORE, Do.AFTER)]
        step = max(1.0, len(every) / wanted)
        return [every[int(number * step)] for number in range(min(wanted, len(every)))]


def real_row(scenario: Scenario, folder: Path, *, wanted: int, jobs: int, seed: int = 0) -> Row:
    """The row of so many real deaths, played by `jobs` processes at once.

    Errors: OperatorError when there is no KV server for a scenario that needs one.
    """
    plan = _Plan(scenario, folder, seed)
    chosen = plan.choices(wanted)
    begun = time.perf_counter()
    with ExitStack() as stack:
        name = stack.enter_context(tempfile.TemporaryDirectory(prefix="localedge-real-"))
        server = _kv_server(Path(name) / "kv", is_wanted=bool(plan.entries))
        url = stack.enter_context(server)

        def work(number: int, of: int) -> list[Row]:
            row = Row(scenario.title, KIND, points=plan.points)
            with _worker(scenario, folder) as deployment:
                for place, choice in [*enumerate(chosen)][number::of]:
                    where = Path(name) / f"run-{place}"
                    row.add(_played(scenario, deployment, plan, choice, where, url))
            return [row]

        (row,) = shared(work, max(2, jobs)) or [Row(scenario.title, KIND)]
    row.seconds = time.perf_counter() - begun
    return row


@contextmanager
def _worker(scenario: Scenario, folder: Path) -> Iterator[Deployment]:
    project = project_of(scenario, folder)
    own = scenario.setting.main if scenario.setting is not None else None
    probe = Probe()
    host = Host(probe, EnvWrapper({}, probe))
    set_host(host)
    try:
        with loaded(project.main if project is not None else own, host) as deployment:
            yield deployment
    finally:
        set_host(None)


@contextmanager
def _kv_server(data: Path, *, is_wanted: bool) -> Iterator[str | None]:
    """The URL of a server of our own, started without a thread or a loop that a fork would copy."""
    if not is_wanted:
        yield None
        return
    data.mkdir(parents=True)
    folder = valkey.socket_folder()
    socket_path = folder.path / valkey.SOCKET_NAME
    process = subprocess.Popen(
        valkey.command(data, socket_path), stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )
    try:
        asyncio.run(valkey.wait_ready(socket_path, timeout_s=_START_S))
        yield f"unix://{socket_path}"
    finally:
        process.kill()
        process.wait()
        folder.remove()


def _played(
    scenario: Scenario,
    deployment: Deployment,
    plan: _Plan,
    choice: Choice,
    folder: Path,
    url: str | None,
) -> Verdict:
    folder.mkdir()
    files = {name: folder / f"{name}.sqlite" for name in plan.copies}
    for name, copy in plan.copies.items():
        files[name].write_bytes(copy.pages)
    spaces = {name: f"{folder.name}-{name}" for name in plan.entries}
    case = Case(choice, folder, files, url, spaces, plan.values)
    status, told = _process(scenario, deployment, case, [], plan.entries)
    if os.WIFSIGNALED(status) and os.WTERMSIG(status) == signal.SIGKILL:
        successor = Case(None, folder, files, url, spaces, plan.values)
        status, told = _process(scenario, deployment, successor, told, None)
    verdict = told[-1].get("verdict") if told else None
    if verdict is None:
        raise OperatorError(
            "explore/real-run-died", f"{choice}: a process ended with status {status}.", ""
        )
    found = verdict_in(verdict)
    return Verdict((choice,), found.findings, found.asked, found.resent, found.points)


def _process(
    scenario: Scenario,
    deployment: Deployment,
    case: Case,
    told: list[dict[str, Any]],
    entries: dict[str, dict[bytes, Entry]] | None,
) -> tuple[int, list[dict[str, Any]]]:
    """The exit status of a process that played `case`, and what it told."""
    reader, writer = os.pipe()
    sys.stdout.flush()
    sys.stderr.flush()
    pid = os.fork()
    if pid == 0:
        os.close(reader)
        code = _FAILED
        try:
            code = _play(scenario, deployment, case, told, entries, writer)
        except BaseException:  # noqa: BLE001  (the process's boundary)
            # Nothing may run past it in a fork.
            traceback.print_exc()
        finally:
            sys.stderr.flush()
            os._exit(code)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        lines = [json.loads(line) for line in pipe]
    _, status = os.waitpid(pid, 0)
    return status, lines


def _play(
    scenario: Scenario,
    deployment: Deployment,
    case: Case,
    told: list[dict[str, Any]],
    entries: dict[str, dict[bytes, Entry]] | None,
    writer: int,
) -> int:
    def tell(line: dict[str, Any]) -> None:
        os.write(writer, json.dumps(line).encode() + b"\n")

    run = RealRun(scenario, deployment, case, tell)
    if entries is None:
        run.recall(told)
    library = sys.modules.get("edgestate")
    if library is not None:
        library.observe = observing(run.probe)  # type: ignore[attr-defined]
    verdict = asyncio.run(run.play(entries or {}))
    tell({"verdict": verdict_out(verdict)})
    return 0
