"""The second act: the worker is lost while it charges a card, and the next one asks first."""

from __future__ import annotations

from dataclasses import dataclass

import httpx
from tests.demo.losing import Act, Json, Killed, claim_the_loss, seen
from tests.demo.screen import Attempt, Count, Screen
from tests.demo.server import Trouble

STEP = "charge_card"
CLAIMS = 13


@dataclass(frozen=True, slots=True)
class Asked:
    """The question, and how often the card had been charged when it was asked."""

    response: httpx.Response
    charges: Count


@dataclass(frozen=True, slots=True)
class Settled:
    """The answers to the decision and to the same decision sent again."""

    first: httpx.Response
    second: httpx.Response
    output: Json


async def play(act: Act) -> list[int]:
    """The act, its claims and tables; the ids of the isolates that it saw."""
    screen = act.screen
    screen.heading("Second act: a worker is lost while it charges a card")
    killed = await act.lose_the_isolate(STEP, "the card is charged")
    screen.heading("The same request again")
    asked = await _ask(act)
    settled = await _settle(act, killed, asked.response.json())
    counts = await act.counts()
    screen.heading("Claims")
    claim_the_loss(
        screen,
        killed,
        ["success", "success", "running", "pending"],
        "The crash left the charge stored as begun, and no result of it.",
    )
    _claim_question(screen, asked)
    _claim_end(screen, settled)
    _claim_counts(screen, counts)
    pid = int(settled.first.headers["x-localedge-isolate"])
    screen.timeline("second act", _attempts(killed, settled.first.json(), pid))
    screen.effects("second act", counts)
    return [killed.pid, killed.successor, pid]


async def _ask(act: Act) -> Asked:
    response = await act.order_again()
    question = response.json().get("decision")
    if question is None:
        raise Trouble(f"The task asked nothing:\n{response.text}")
    act.screen.line(f"The task asks about step {question['stepIndex']}: {question['question']}")
    (charges,) = [count for count in await act.counts() if count.action == STEP]
    return Asked(response, charges)


async def _settle(act: Act, killed: Killed, task: Json) -> Settled:
    """Look outside, as a person would, and say what happened."""
    output = {"chargeId": f"charge-{killed.call['number']}"}
    act.screen.line(
        f"The travel service has {output['chargeId']} on its books: the answer is done."
    )
    step = task["decision"]["stepIndex"]
    target = f"{act.server.url}/tasks/{task['taskId']}/steps/{step}/decision"
    decision = {"decision": "done", "output": output}
    answers = [await act.server.http.post(target, json=decision) for _ in range(2)]
    for answer in answers:
        act.screen.line(f"POST …/decision: {answer.status_code} {seen(answer)}", style="green")
    return Settled(answers[0], answers[1], output)


def _claim_question(screen: Screen, asked: Asked) -> None:
    task = asked.response.json()
    screen.claim(
        "The same request got a 202: the task waits (waiting_tool).",
        (asked.response.status_code, task["status"]) == (202, "waiting_tool"),
        task["status"],
    )
    question = task["decision"]
    asks = task["steps"][question["stepIndex"]]["action"]
    screen.claim(
        "It asks about the charge: retry, skip or done.",
        asks == STEP and question["options"] == ["retry", "skip", "done"],
        question,
    )
    calls = (asked.charges.calls, asked.charges.effects)
    screen.claim("It has not charged again by itself.", calls == (1, 1), calls)


def _claim_end(screen: Screen, settled: Settled) -> None:
    task = settled.first.json()
    ended = [step["status"] for step in task["steps"]]
    complete = task["status"] == "completed" and set(ended) == {"success"}
    screen.claim("With the answer, done, the task went on and is complete.", complete, ended)
    output = task["steps"][2]["output"]
    screen.claim("The charge has the result that was told.", output == settled.output, output)
    same = settled.second.status_code == 200 and settled.second.json() == task
    screen.claim("The same answer sent again changed nothing.", same, settled.second.text)


def _claim_counts(screen: Screen, counts: list[Count]) -> None:
    by_action = {count.action: (count.calls, count.effects) for count in counts}
    charges, mails = by_action.get(STEP), by_action.get("send_email")
    screen.claim("The card was charged once.", charges == (1, 1), charges)
    screen.claim("One mail was sent.", mails == (1, 1), mails)
    others = (by_action.get("search_flights"), by_action.get("hold_seat"))
    screen.claim("Search and hold were made once.", others == ((1, 0), (1, 1)), others)


def _attempts(killed: Killed, task: Json, pid: int) -> list[Attempt]:
    """Stored steps as the worker stored them; the lost attempt as the service saw it."""
    rows = []
    for before, step in zip(killed.between["steps"], task["steps"], strict=True):
        by = killed.pid if before["status"] == "success" else pid
        started, ended = step["startedAt"] or "", step["completedAt"] or ""
        if step["action"] != STEP:
            rows.append(Attempt(step["action"], by, started, ended, "stored"))
            continue
        lost = "killed: one effect, intent stored, result not"
        call = killed.call
        rows.append(
            Attempt(STEP, killed.pid, call["received_at"], call["ended_at"], lost, killed=True)
        )
        rows.append(Attempt(STEP, pid, ended, ended, "a person said: done"))
    return rows
