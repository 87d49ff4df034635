"""The first act: the worker is lost while it holds a seat, and the next one just goes on."""

from __future__ import annotations

from tests.demo.losing import Act, Json, Killed, claim_the_loss
from tests.demo.screen import Attempt, Count, Screen

STEP = "hold_seat"
CLAIMS = 12


async def play(act: Act) -> list[int]:
    """The act, its claims and tables; the ids of the isolates that it saw."""
    screen = act.screen
    screen.heading("First act: a worker is lost while it holds a seat")
    killed = await act.lose_the_isolate(STEP, "the seat is held")
    screen.heading("The same request again")
    response = await act.order_again()
    task, pid = response.json(), int(response.headers["x-localedge-isolate"])
    which = "the fresh one" if pid == killed.successor else "another one"
    screen.line(f"Isolate {pid}, {which}, went on and finished.", style="green")
    counts = await act.counts()
    screen.heading("Claims")
    stored = ["success", "pending", "pending", "pending"]
    claim_the_loss(screen, killed, stored, "The crash left the search stored and the hold not.")
    screen.claim("Another isolate answered the second request.", pid != killed.pid, pid)
    _claim_task(screen, killed, task)
    _claim_counts(screen, counts, killed.call["key"])
    screen.timeline("first act", _attempts(killed, task, pid))
    screen.effects("first act", counts)
    return [killed.pid, killed.successor, pid]


def _claim_task(screen: Screen, killed: Killed, task: Json) -> None:
    ended = [step["status"] for step in task["steps"]]
    complete = task["status"] == "completed" and set(ended) == {"success"}
    screen.claim("The task is complete.", complete, ended)
    same = task["taskId"] == killed.between["taskId"]
    screen.claim("It is the same task.", same, task["taskId"])
    first = task["steps"][0]
    screen.claim(
        "It resumed at the hold: the search kept its first result.",
        first == killed.between["steps"][0],
        first,
    )


def _claim_counts(screen: Screen, counts: list[Count], key: str) -> None:
    by_action = {count.action: (count.calls, count.effects) for count in counts}
    keys = [count.key for count in counts if count.action == STEP]
    screen.claim(
        "The service saw two calls of hold_seat, with one key and one effect.",
        by_action.get(STEP) == (2, 1) and keys == [key],
        by_action,
    )
    others = {action: by_action.get(action) for action in ("charge_card", "send_email")}
    once = set(others.values()) == {(1, 1)}
    screen.claim("The card was charged once and one mail was sent.", once, others)
    searches = by_action.get("search_flights")
    screen.claim("The search was made once.", searches == (1, 0), searches)
    known = {"search_flights", STEP, "charge_card", "send_email"}
    screen.claim("Nothing else happened.", len(counts) == 4 and set(by_action) == known, counts)


def _attempts(killed: Killed, task: Json, pid: int) -> list[Attempt]:
    """Stored steps as the worker stored them; the lost attempt as the service saw it."""
    rows = []
    for before, step in zip(killed.between["steps"], task["steps"], strict=True):
        if step["action"] == STEP:
            lost = "killed: one effect, nothing stored"
            call = killed.call
            rows.append(
                Attempt(STEP, killed.pid, call["received_at"], call["ended_at"], lost, killed=True)
            )
        by = killed.pid if before["status"] == "success" else pid
        again = step["action"] == STEP and killed.call["effect"]
        outcome = "stored: same key, no new effect" if again else "stored"
        started, ended = step["startedAt"] or "", step["completedAt"] or ""
        rows.append(Attempt(step["action"], by, started, ended, outcome))
    return rows
