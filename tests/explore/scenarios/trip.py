"""The reference worker: a trip is booked once, whatever happens to the workers."""

from __future__ import annotations

from pathlib import Path

from localedge.explore import AgentState, Client, EffectsAtMostOnce, Scenario, Service

TRIP = {
    "goal": "Berlin to Lisbon",
    "trip": {
        "origin": "BER",
        "destination": "LIS",
        "date": "2026-12-24",
        "traveller": "Ada",
        "cardToken": "tok",
        "email": "ada@example.com",
    },
}
travel = Service(
    {
        "GET /flights": {"flights": [{"flight": "LL1", "priceCents": 9900}]},
        "POST /holds": lambda order: {"holdId": f"hold-{order.number}"},
        "POST /charges": lambda order: {"chargeId": f"charge-{order.number}"},
        "POST /emails": lambda order: {"emailId": f"email-{order.number}"},
    },
    keyed={"POST /holds"},
)
EFFECT_OF = {
    "hold_seat": "POST /holds",
    "charge_card": "POST /charges",
    "send_email": "POST /emails",
}


async def book(client: Client) -> None:
    """Order a trip; ask again until it is booked; answer what a person is asked."""
    session = await client.post("/sessions", {"userId": "ada"})
    orders = f"/sessions/{session['sessionId']}/tasks"
    task = await client.post(orders, TRIP)
    while task["status"] != "completed":
        if "decision" not in task:
            await client.sleep(20)
            task = await client.post(orders, TRIP)
            continue
        client.asked()
        index = task["decision"]["stepIndex"]
        has_happened = await client.happened(EFFECT_OF[task["steps"][index]["action"]])
        decision = {"decision": "done" if has_happened else "retry"}
        target = f"/tasks/{task['taskId']}/steps/{index}/decision"
        await client.request("POST", target, json=decision, tries=1)
        task = await client.post(orders, TRIP)


async def book_twice_at_once(client: Client) -> None:
    """Two devices send the same order at the same moment."""
    session = await client.post("/sessions", {"userId": "ada"})
    order = client.order("POST", f"/sessions/{session['sessionId']}/tasks", json=TRIP)
    first, second = await client.at_once(order, order)
    assert first["taskId"] == second["taskId"]


CONFIG = Path(__file__).parents[3] / "wrangler_like.toml"
HOLDS = [EffectsAtMostOnce(), AgentState()]
trip = Scenario(
    book, must=HOLDS, service=travel, config=CONFIG, vars={"TRAVEL_URL": "http://travel.test"}
)
twice = Scenario(
    book_twice_at_once,
    must=HOLDS,
    service=travel,
    config=CONFIG,
    vars={"TRAVEL_URL": "http://travel.test"},
)
