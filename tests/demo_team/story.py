"""What the team demo shows: the same work twice, once in peace and once under fire."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import httpx
from tests.demo.processes import ROOT
from tests.demo.screen import Screen, is_gone
from tests.demo.server import Trouble
from tests.demo_team.facts import Facts, facts
from tests.demo_team.server import TeamServer, apply_migrations, team_server

CLAIMS: Final = 9
KILLS: Final = 8
EARLY: Final = 3
GOAL: Final = "read-the-docs"
GOAL_LIMIT_S: Final = 60.0
WAKE_EVERY_S: Final = 6.0
DOCUMENTS: Final = 10


@dataclass
class Run:
    """One run of the team: its report, what was killed, and what its database says."""

    report: list[dict[str, Any]]
    took_s: float
    pids: set[int]
    kills: list[tuple[str, int]] = field(default_factory=list)
    early_kills: int = 0
    facts: Facts | None = None


def documents() -> dict[str, str]:
    """The repo's own documents: those that have enough in them to be summarised."""
    files = [ROOT / "README.md", ROOT / "CHANGELOG.md", *sorted((ROOT / "docs").rglob("*.md"))]
    texts = {str(file.relative_to(ROOT)): file.read_text("utf-8") for file in files}
    return dict([(name, text) for name, text in texts.items() if len(text) > 400][:DOCUMENTS])


async def tell(screen: Screen, folder: Path, *, seed: int) -> None:
    """Both runs, and what they must have in common."""
    texts = documents()
    screen.heading("In peace")
    screen.line(f"{len(texts)} documents of this repository are posted to the planner.")
    calm = await _run(screen, folder / "calm", texts)
    screen.line(f"The report was there after {calm.took_s:.1f} s.")
    screen.heading("Under fire")
    screen.line(f"The same again; isolates are killed at random (seed {seed}).")
    fire = await _run(screen, folder / "fire", texts, kills=KILLS, chance=random.Random(seed))
    screen.line(f"The report was there after {fire.took_s:.1f} s.")
    check(screen, calm, fire, len(texts))
    _show(screen, fire)


async def _run(
    screen: Screen,
    folder: Path,
    texts: dict[str, str],
    *,
    kills: int = 0,
    chance: random.Random | None = None,
) -> Run:
    await asyncio.to_thread(folder.mkdir)
    await apply_migrations(folder / "state")
    async with team_server(folder) as server:
        began = time.monotonic()
        run = Run([], 0.0, {server.pid})
        await _post(server, texts)
        await server.wake()
        if chance is not None:
            await _kill_some(screen, server, run, kills, chance)
        run.report = await _report(server)
        run.took_s = time.monotonic() - began
        run.pids |= {isolate.pid for isolate in await server.isolates()}
    run.facts = await facts(folder / "state")
    return run


async def _post(server: TeamServer, texts: dict[str, str]) -> None:
    """The goal is posted until the planner has it: a repetition goes on where it stopped."""
    body = {"goalId": GOAL, "documents": texts}
    for _ in range(20):
        answer = await server.http.post(f"{server.url}/goals", json=body)
        if answer.status_code == 201:
            return
        if answer.status_code < 500:
            break
    raise Trouble(f"The planner did not take the goal: {answer.status_code} {answer.text}")


async def _kill_some(
    screen: Screen, server: TeamServer, run: Run, kills: int, chance: random.Random
) -> None:
    deadline = time.monotonic() + GOAL_LIMIT_S
    while len(run.kills) < kills and time.monotonic() < deadline:
        await asyncio.sleep(chance.uniform(0.1, 0.4))
        busy = [isolate for isolate in await server.isolates() if isolate.in_flight]
        if not busy:
            await server.wake()
            continue
        victim = chance.choice(busy)
        os.kill(victim.pid, signal.SIGKILL)
        run.kills.append((victim.worker, victim.pid))
        run.early_kills += not await _is_reached(server)
        run.pids.add(victim.pid)
        screen.line(f"SIGKILL to isolate {victim.pid} of {victim.worker}.", style="red")
        await server.wake()


async def _is_reached(server: TeamServer) -> bool:
    answer = await server.http.get(f"{server.url}/goals/{GOAL}")
    return answer.status_code == 200 and bool(answer.json()["status"] == "completed")


async def _report(server: TeamServer) -> list[dict[str, Any]]:
    deadline = time.monotonic() + GOAL_LIMIT_S
    woken_at = time.monotonic()
    progress: Any = None
    while time.monotonic() < deadline:
        try:
            answer = await server.http.get(f"{server.url}/goals/{GOAL}")
        except httpx.TransportError:
            continue
        if answer.status_code == 200:
            progress = answer.json()
            if progress["status"] == "completed":
                report: list[dict[str, Any]] = progress["report"]
                return report
        if time.monotonic() - woken_at > WAKE_EVERY_S:
            woken_at = time.monotonic()
            await server.wake()
        await asyncio.sleep(0.2)
    raise Trouble(f"The goal was not reached within {GOAL_LIMIT_S:.0f} s: {progress}")


def check(screen: Screen, calm: Run, fire: Run, count: int) -> None:
    """Every claim about the two runs is made, and holds or not."""
    screen.heading("What must hold")
    assert calm.facts is not None
    assert fire.facts is not None
    redone = [entry["document"] for entry in calm.report if entry["attempts"] > 1]
    screen.claim("Every document was indexed and summarised.", len(calm.report) == count)
    screen.claim("The critic sent some summaries back, and they were redone.", bool(redone), redone)
    screen.claim(
        f"{KILLS} isolates were killed, {EARLY} or more before the goal was reached.",
        len(fire.kills) == KILLS and fire.early_kills >= EARLY,
        fire.early_kills,
    )
    screen.claim("The outcome equals that of the run in peace.", fire.report == calm.report)
    screen.claim(
        "Every attempt at a subtask has exactly one result.",
        fire.facts.results == calm.facts.results,
        fire.facts.results,
    )
    screen.claim("History has no gap and leads to the stored state.", fire.facts.is_rebuilt)
    screen.claim("Nothing was given up.", not fire.facts.dead_letters, fire.facts.dead_letters)
    screen.claim("No symptom of torn state is in the data.", not fire.facts.torn, fire.facts.torn)
    left = [pid for pid in calm.pids | fire.pids if not is_gone(pid)]
    screen.claim("No process of the demo is left.", not left, left)


def _show(screen: Screen, fire: Run) -> None:
    screen.heading("The report of the run under fire")
    for entry in fire.report[:5]:
        terms = ", ".join(list(entry["index"])[:3])
        screen.line(f"{entry['document']} ({terms}), {entry['attempts']} attempt(s):")
        screen.line(f"  {entry['summarise'][:80]}…")
    assert fire.facts is not None
    screen.heading("What it took")
    screen.line(f"{fire.facts.events} events, {fire.facts.takeovers} takeovers of running subtasks")
    for line in fire.facts.rates:
        screen.line(line)
