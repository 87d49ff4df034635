"""What the demo does: lose the worker in the middle of a task, and finish the task."""

from __future__ import annotations

import asyncio
import os
import signal
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
from tests.demo.processes import travel_service
from tests.demo.screen import Attempt, Count, Screen, is_gone
from tests.demo.server import Isolate, Server, Trouble, apply_migrations, dev_server, is_unlocked
from tests.demo.travel_control import TravelControl
from tests.waiting import wait_until

STEP = "hold_seat"
CLAIMS = 13
"""How many claims the story checks; with fewer it has not been told to the end."""
REQUEST = {
    "goal": "Zurich to Lisbon on 24 December",
    "trip": {
        "origin": "ZRH",
        "destination": "LIS",
        "date": "2026-12-24",
        "traveller": "Ada Example",
        "email": "ada@example.org",
        "cardToken": "tok-demo",
    },
}

Json = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Killed:
    """What was seen of the isolate that was killed."""

    pid: int
    response: httpx.Response
    call: Json
    successor: int


@dataclass(frozen=True, slots=True)
class Finished:
    """What was seen of the task afterwards: as the crash left it, and as it ended."""

    between: Json
    task: Json
    pid: int


async def tell(screen: Screen, folder: Path) -> None:
    """The whole story, on state below `folder`; nothing that it started is left."""
    screen.heading("Setting the scene")
    state = folder / "state"
    async with travel_service() as travel_url:
        screen.line(f"The travel service outside listens on {travel_url}.")
        screen.line(await apply_migrations(state))
        async with dev_server(folder, travel_url=travel_url) as server:
            screen.line(f"localedge dev (process {server.pid}) serves worker/ on {server.url}.")
            travel = TravelControl(server.http, travel_url)
            killed, finished = await _scenes(screen, server, travel)
            calls, effects = await travel.calls(), await travel.effects()
            isolates = [isolate.pid for isolate in await server.isolates()]
    counts = _counts(calls, effects)
    _check(screen, killed, finished, counts)
    left = [pid for pid in (server.pid, killed.pid, *isolates) if not is_gone(pid)]
    screen.claim("No process of the demo is left.", not left and is_unlocked(state), left)
    screen.timeline(_attempts(killed, finished))
    screen.effects(counts)


async def _scenes(screen: Screen, server: Server, travel: TravelControl) -> tuple[Killed, Finished]:
    session = await _session(screen, server)
    target = f"{server.url}/sessions/{session}/tasks"
    killed = await _lose_the_isolate(screen, server, travel, target)
    return killed, await _finish(screen, server, target, killed)


async def _session(screen: Screen, server: Server) -> str:
    response = await server.http.post(f"{server.url}/sessions", json={"userId": "ada"})
    screen.line(f"POST /sessions: {response.status_code} {_reason(response)}")
    if response.status_code != 201:
        raise Trouble(f"No session was created:\n{response.text}")
    session: str = response.json()["sessionId"]
    return session


async def _lose_the_isolate(
    screen: Screen, server: Server, travel: TravelControl, target: str
) -> Killed:
    screen.heading("A task loses its worker")
    await travel.hold_back(STEP)
    request = asyncio.ensure_future(server.http.post(target, json=REQUEST))
    try:
        call = await _counted_outside(travel, request)
        screen.line("POST /sessions/…/tasks is under way: the seat is held outside, and counted;")
        screen.line("the answer has not reached the worker, so it has stored nothing of it.")
        before = await server.isolates()
        pid = _busy(before)
        os.kill(pid, signal.SIGKILL)
        screen.line(f"SIGKILL to isolate {pid}.", style="red")
        response = await request
    finally:
        request.cancel()
    lost = await travel.wait(STEP, "connection lost")
    screen.line(f"The client got: {response.status_code} {_reason(response)}", style="red")
    screen.line(response.text.partition("\n")[0])
    await wait_until(lambda: is_gone(pid))
    successor = await _fresh(server, before)
    screen.line(f"A fresh isolate, {successor}, has been started in its place.", style="green")
    return Killed(pid, response, lost | {"key": call["key"]}, successor)


async def _counted_outside(travel: TravelControl, request: asyncio.Future[httpx.Response]) -> Json:
    """The held-back call. Trouble if the request ends before the service has seen it."""
    held = asyncio.ensure_future(travel.wait(STEP, "held back"))
    both: set[asyncio.Future[Any]] = {held, request}
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    if held.done():
        return held.result()
    held.cancel()
    response = request.result()
    raise Trouble(f"The task ended too soon: {response.status_code}\n{response.text}")


def _busy(isolates: list[Isolate]) -> int:
    busy = [isolate.pid for isolate in isolates if isolate.in_flight]
    if len(busy) != 1:
        raise Trouble(f"One isolate should be at work; the control endpoint names {busy}.")
    return busy[0]


async def _fresh(server: Server, before: list[Isolate]) -> int:
    """The id of an isolate that serves now and did not before."""
    known = {isolate.pid for isolate in before}

    async def new() -> list[int]:
        return [isolate.pid for isolate in await server.isolates() if isolate.pid not in known]

    return (await wait_until(new))[0]


async def _finish(screen: Screen, server: Server, target: str, killed: Killed) -> Finished:
    screen.heading("The same request again")
    tasks = (await server.http.get(target)).raise_for_status().json()["tasks"]
    if len(tasks) != 1:
        raise Trouble(f"One task should be stored; there are {len(tasks)}.")
    between: Json = tasks[0]
    screen.line(f"Stored so far: step {between['currentStep']} of {between['totalSteps']} is next.")
    response = await server.http.post(target, json=REQUEST)
    screen.line(f"POST /sessions/…/tasks: {response.status_code} {_reason(response)}")
    if response.status_code >= 400:
        raise Trouble(f"The task was not resumed:\n{response.text}")
    pid = int(response.headers["x-localedge-isolate"])
    which = "the fresh one" if pid == killed.successor else "another one"
    screen.line(f"Isolate {pid}, {which}, went on and finished.", style="green")
    return Finished(between, response.json(), pid)


def _check(screen: Screen, killed: Killed, finished: Finished, counts: list[Count]) -> None:
    screen.heading("Claims")
    headers, status = killed.response.headers, killed.response.status_code
    outcome = headers.get("x-localedge-outcome")
    screen.claim("The client of the killed isolate got a 500.", status == 500, status)
    screen.claim("It names the outcome, internalError.", outcome == "internalError", outcome)
    named = headers.get("x-localedge-isolate")
    screen.claim("It names the isolate that was killed.", named == str(killed.pid), named)
    screen.claim("Another isolate answered the second request.", finished.pid != killed.pid)
    stored = [step["status"] for step in finished.between["steps"]]
    screen.claim(
        "The crash left the search stored and the hold not.",
        stored == ["success", "pending", "pending", "pending"]
        and finished.between["currentStep"] == 1,
        stored,
    )
    _check_task(screen, finished)
    _check_counts(screen, counts, killed.call["key"])


def _check_task(screen: Screen, finished: Finished) -> None:
    before, after = finished.between, finished.task
    ended = [step["status"] for step in after["steps"]]
    screen.claim(
        "The task is complete.", after["status"] == "completed" and set(ended) == {"success"}, ended
    )
    screen.claim("It is the same task.", after["taskId"] == before["taskId"], after["taskId"])
    screen.claim(
        "It resumed at the hold: the search kept its first result.",
        after["steps"][0] == before["steps"][0],
        after["steps"][0],
    )


def _check_counts(screen: Screen, counts: list[Count], key: str) -> None:
    by_action = {count.action: (count.calls, count.effects) for count in counts}
    keys = [count.key for count in counts if count.action == STEP]
    screen.claim(
        "The service saw two calls of hold_seat, with one key and one effect.",
        by_action.get(STEP) == (2, 1) and keys == [key],
        by_action,
    )
    others = {action: by_action.get(action) for action in ("charge_card", "send_email")}
    screen.claim(
        "The card was charged once and one mail was sent.",
        set(others.values()) == {(1, 1)},
        others,
    )
    searches = by_action.get("search_flights")
    screen.claim("The search was made once.", searches == (1, 0), searches)
    known = {"search_flights", STEP, "charge_card", "send_email"}
    screen.claim("Nothing else happened.", len(counts) == 4 and set(by_action) == known, counts)


def _attempts(killed: Killed, finished: Finished) -> list[Attempt]:
    """Stored steps as the worker stored them; the lost attempt as the service saw it."""
    rows = []
    for before, step in zip(finished.between["steps"], finished.task["steps"], strict=True):
        if step["action"] == STEP:
            lost = "killed: one effect, nothing stored"
            call = killed.call
            rows.append(
                Attempt(STEP, killed.pid, call["received_at"], call["ended_at"], lost, killed=True)
            )
        first = before["status"] == "success"
        again = step["action"] == STEP and killed.call["effect"]
        rows.append(
            Attempt(
                step["action"],
                killed.pid if first else finished.pid,
                step["startedAt"] or "",
                step["completedAt"] or "",
                "stored: same key, no new effect" if again else "stored",
            )
        )
    return rows


def _counts(calls: list[Json], effects: list[Json]) -> list[Count]:
    happened = {(effect["action"], effect["key"]): effect["count"] for effect in effects}
    asked: dict[tuple[str, str], int] = {}
    for call in calls:
        name = (call["action"], call["key"] or "")
        asked[name] = asked.get(name, 0) + 1
    return [
        Count(action, key, calls, happened.get((action, key), 0))
        for (action, key), calls in asked.items()
    ]


def _reason(response: httpx.Response) -> str:
    outcome = response.headers.get("x-localedge-outcome", "")
    isolate = response.headers.get("x-localedge-isolate", "?")
    return f"(isolate {isolate}, outcome {outcome or 'unknown'})"
