"""The same deaths by SIGKILL, of real processes on a real file: nothing is simulated.

Every worker is a process of its own, forked from this one while it has a single thread.
"""

from __future__ import annotations

import asyncio
import json
import os
import signal
import sys
import traceback
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import time_machine

import edgestate
from edgestate import D1StateStore, open_session, resolve_step, run_agent_with_lock
from edgestate.statuses import Effect
from localedge.binding import EnvWrapper
from localedge.d1.database import D1Database
from localedge.d1.engine import Query
from localedge.d1.sqlite import open_engine
from localedge.d1.statements import parse
from localedge.explore.crash import PATIENCE, Ending
from localedge.explore.death import Mode
from localedge.explore.reference import REQUEST, SESSION, agent_of, create_tables, observing
from localedge.probe import Call, Observer, Outcome, Probe

_DONE: Final = Query(
    parse(
        "SELECT t.status, (SELECT COUNT(*) FROM agent_task_steps s WHERE s.status = 'success') "
        "FROM agent_tasks t"
    )
)
LEASE_S: Final = 61.0
CHILD_FAILED: Final = 70


class FileLog:
    """What happened outside, in a file: a line per effect, seen by every process at once."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def lines(self) -> list[dict[str, Any]]:
        """Everything noted so far."""
        if not self._path.exists():
            return []
        return [json.loads(line) for line in self._path.read_text("utf-8").splitlines()]

    def note(self, **facts: Any) -> None:
        """One more line; the kernel has it when this returns, whoever is killed."""
        with self._path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(facts) + "\n")

    def happen(self, name: str, key: str | None) -> None:
        """The effect `name` happens, unless its key has been seen."""
        seen = key is not None and any(line.get("key") == key for line in self.lines())
        self.note(**({"repeat": name} if seen else {"effect": name, "key": key}))


class Killer(Observer):
    """Kills its own process at a point."""

    def __init__(self, point: int, mode: Mode) -> None:
        self._fault = (point, mode)
        self._count = 0
        self._points: dict[int, int] = {}

    async def before(self, call: Call) -> None:
        """Count the call, and die before it if that is the fault."""
        self._count += 1
        self._points[call.number] = self._count
        self._meet(self._count, Mode.BEFORE)

    async def after(self, call: Call, outcome: Outcome) -> None:
        """Die after the call if that is the fault."""
        self._meet(self._points[call.number], Mode.AFTER)

    def _meet(self, point: int, mode: Mode) -> None:
        # Differs: a kill here also ends the statement under way; the platform may carry it out.
        if (point, mode) == self._fault:
            os.kill(os.getpid(), signal.SIGKILL)


@dataclass(frozen=True, slots=True)
class Case:
    """One task of `steps` steps, whose worker is killed at `point`."""

    steps: int
    effect: Effect
    point: int
    mode: Mode

    @property
    def label(self) -> str:
        """How the table names it."""
        return f"{self.steps} steps, {self.effect}: SIGKILL {self.point} {self.mode}"


def play(case: Case, folder: Path) -> Ending:
    """How `case` ends in the new folder `folder`.

    Errors: RuntimeError if the worker was not killed, or a process failed of itself.
    """
    folder.mkdir()
    database, log = folder / "state.sqlite", FileLog(folder / "effects")
    _expect(_child(lambda: _prepare(database)), 0, case)
    _expect(_child(lambda: _victim(case, database, log)), -signal.SIGKILL, case)
    ended = _child(lambda: _successor(case, database, log))
    status, successes = asyncio.run(_read(database))
    ending = Ending(case.label, is_stuck=ended != 0)
    lines = log.lines()
    effects = [line["effect"] for line in lines if "effect" in line]
    ending.twice = {name: effects.count(name) for name in effects if effects.count(name) > 1}
    ending.repeats = sum("repeat" in line for line in lines)
    ending.asked = sum("asked" in line for line in lines)
    if (status, successes) != ("completed", case.steps):
        ending.lost.append(f"{status} with {successes} results")
    return ending


def _expect(found: int, wanted: int, case: Case) -> None:
    if found != wanted:
        raise RuntimeError(f"{case.label}: a process ended with {found} instead of {wanted}")


def _child(work: Callable[[], Awaitable[None]]) -> int:
    """The exit code of a process that did `work`; minus the signal that killed it."""
    sys.stdout.flush()
    pid = os.fork()
    if pid == 0:
        try:
            asyncio.run(_as_coroutine(work))
            os._exit(0)
        except BaseException:  # noqa: BLE001  (the process's boundary)
            # Nothing may run past it in a fork.
            traceback.print_exc()
            os._exit(CHILD_FAILED)
    _, status = os.waitpid(pid, 0)
    return os.waitstatus_to_exitcode(status)


async def _as_coroutine(work: Callable[[], Awaitable[None]]) -> None:
    await work()


async def _prepare(database: Path) -> None:
    async with open_engine(database) as engine:
        binding = D1Database(engine)
        await create_tables(binding)
        await open_session(SESSION, "user-1", D1StateStore(EnvWrapper({"DB": binding}, Probe()).DB))


async def _victim(case: Case, database: Path, log: FileLog) -> None:
    probe = Probe()
    probe.attach(Killer(case.point, case.mode))
    async with open_engine(database) as engine:
        await _request(case, EnvWrapper({"DB": D1Database(engine)}, probe), probe, log)


async def _request(case: Case, env: EnvWrapper, probe: Probe, log: FileLog) -> str:
    edgestate.observe = observing(probe)
    agent = agent_of(case.steps, case.effect, log.happen)
    result = await run_agent_with_lock("go", SESSION, env, agent=agent, request_id=REQUEST)
    return result["status"]


async def _successor(case: Case, database: Path, log: FileLog) -> None:
    """A new process, a lease later: the client asks again until it is told that it is done."""
    probe = Probe()
    async with open_engine(database) as engine:
        env = EnvWrapper({"DB": D1Database(engine)}, probe)
        later = edgestate.clock.now() + LEASE_S
        with time_machine.travel(later):
            for _ in range(PATIENCE):
                status = await _request(case, env, probe, log)
                if status == "completed":
                    return
                if status == "waiting_tool":
                    await _decide(D1StateStore(env.DB), log)
    raise RuntimeError("the task does not end")


async def _decide(store: D1StateStore, log: FileLog) -> None:
    for task in await store.get_tasks_by_session(SESSION):
        index = task.current_step
        log.note(asked=index)
        if any(line.get("effect") == f"step {index}" for line in log.lines()):
            await resolve_step(store, task, index, "done", {"step": index})
        else:
            await resolve_step(store, task, index, "retry")


async def _read(database: Path) -> tuple[str, int]:
    """The task's status and how many steps have their result."""
    async with open_engine(database) as engine:
        (result,) = await engine.run([_DONE])
    status, successes = result.rows[0] if result.rows else ("missing", 0)
    return str(status), int(str(successes))
