"""What the demo does: lose the worker in the middle of a task, twice, and finish both tasks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from tests.demo import act_charge, act_hold
from tests.demo.losing import Act, seen
from tests.demo.processes import travel_service
from tests.demo.screen import Screen, is_gone
from tests.demo.server import Server, Trouble, apply_migrations, dev_server, is_unlocked
from tests.demo.travel_control import TravelControl

CLAIMS = act_hold.CLAIMS + act_charge.CLAIMS + 1
"""How many claims the story checks; with fewer it has not been told to the end."""
ORDER = {
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
RETURN = {
    "goal": "Lisbon to Zurich on 3 January",
    "trip": ORDER["trip"] | {"origin": "LIS", "destination": "ZRH", "date": "2027-01-03"},  # type: ignore[operator]
}


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
            target = f"{server.url}/sessions/{await _session(screen, server)}/tasks"
            act = Act(screen, server, travel, target, ORDER)
            pids = await act_hold.play(act)
            await travel.reset()
            pids += await act_charge.play(replace(act, order=RETURN))
            pids += [isolate.pid for isolate in await server.isolates()]
    screen.heading("The end")
    left = [pid for pid in (server.pid, *pids) if not is_gone(pid)]
    screen.claim("No process of the demo is left.", not left and is_unlocked(state), left)


async def _session(screen: Screen, server: Server) -> str:
    response = await server.http.post(f"{server.url}/sessions", json={"userId": "ada"})
    screen.line(f"POST /sessions: {response.status_code} {seen(response)}")
    if response.status_code != 201:
        raise Trouble(f"No session was created:\n{response.text}")
    session: str = response.json()["sessionId"]
    return session
