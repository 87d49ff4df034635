"""The API of the data views, over HTTP, against a server whose workers use the same stores."""

from __future__ import annotations

from collections.abc import AsyncIterator
from typing import Any

import pytest
from tests.inspector.crew import (
    MARKUP,
    change,
    crew,
    form_team,
    later,
    lost_in,
    sent,
    task_of,
)
from tests.inspector.shop import API, get
from tests.runtime.edge import Edge
from tests.waiting import wait_until

pytestmark = [pytest.mark.anyio, pytest.mark.processes]


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edge]:
    async with crew(tmp_path_factory.mktemp("crew")) as running:
        yield running


# --- KV -------------------------------------------------------------------------------------------


async def test_what_changes_kv_needs_the_token(server: Edge) -> None:
    place = f"{API}/kv/value?namespace=CACHE&key=k"

    refused = [
        await server.http.put(place, json={"text": "v"}),
        await server.http.delete(place),
        await server.http.post(f"{API}/d1/query?database=crew", json={"sql": "SELECT 1"}),
        await server.http.post(f"{API}/agents/resume?database=crew"),
    ]

    assert [answer.status_code for answer in refused] == [403] * 4
    assert (await server.get(place)).status_code == 404


async def test_what_the_page_writes_the_worker_reads(server: Edge) -> None:
    written = await change(
        server, "PUT", "kv/value?namespace=CACHE&key=told", {"text": MARKUP, "metadata": [1]}
    )

    read = await server.get("/read?key=told")
    shown = await get(server, "kv/value?namespace=CACHE&key=told")
    raw = await server.get(f"{API}/kv/raw?namespace=CACHE&key=told")
    assert written.status_code == 200
    assert read.text == shown["text"] == raw.text == MARKUP
    assert raw.headers["content-disposition"] == "attachment"
    assert raw.headers["content-type"] == "application/octet-stream"


async def test_a_refused_value_has_the_platforms_text(server: Edge) -> None:
    refused = await change(
        server, "PUT", "kv/value?namespace=CACHE&key=k", {"text": "v", "expiration_ttl": 1}
    )
    malformed = await change(server, "PUT", "kv/value?namespace=CACHE&key=k", {"value": "v"})

    assert (refused.status_code, malformed.status_code) == (400, 400)
    assert "Expiration TTL must be at least 60" in refused.json()["error"]["message"]
    assert "value: Extra inputs" in malformed.json()["error"]["message"]


async def test_what_a_location_has_read_is_shown_with_its_age(server: Edge) -> None:
    await change(server, "PUT", "kv/value?namespace=CACHE&key=aging", {"text": "old"})
    await server.get("/read?key=aging", headers={"x-localedge-location": "oslo"})
    await change(server, "PUT", "kv/value?namespace=CACHE&key=aging", {"text": "new"})
    await later(server, 20)

    (copy,) = (await get(server, "kv/value?namespace=CACHE&key=aging"))["copies"]

    assert (copy["location"], copy["text"], copy["is_newest"]) == ("oslo", "old", False)
    assert 19_000 < copy["age_ms"] < 40_000


async def test_a_key_ends_when_the_workers_clock_says_so(server: Edge) -> None:
    body = {"text": "v", "expiration_ttl": 100}
    await change(server, "PUT", "kv/value?namespace=CACHE&key=brief", body)
    before = await get(server, "kv/value?namespace=CACHE&key=brief")
    await later(server, 101)

    after = await server.get(f"{API}/kv/value?namespace=CACHE&key=brief")

    assert 90_000 < before["expiration"] * 1000 - before["now_ms"] <= 100_000
    assert (after.status_code, after.json()["error"]["code"]) == (404, "kv/no-key")


# --- D1 -------------------------------------------------------------------------------------------


async def test_the_console_answers_and_refuses_as_d1_does(server: Edge) -> None:
    good = await change(
        server, "POST", "d1/query?database=crew", {"sql": "SELECT ? AS a", "params": [MARKUP]}
    )
    bad = await change(server, "POST", "d1/query?database=crew", {"sql": "SELEC 1"})

    assert good.json()["answers"][0]["rows"] == [[MARKUP]]
    assert bad.json()["error"] == 'D1_ERROR: near "SELEC": syntax error at offset 0: SQLITE_ERROR'


async def test_the_slowest_statements_are_those_that_workers_ran(server: Edge) -> None:
    await sent(server, "quick slowness")

    found = (await get(server, "d1/slowest?database=crew"))["statements"]

    assert found == sorted(found, key=lambda one: -one["slowest_ms"])
    tasks = next(one for one in found if "INSERT INTO agent_tasks" in one["sql"])
    assert (tasks["binding"], tasks["failed"]) == ("DB", 0)
    assert (await get(server, f"requests/{tasks['ray']}"))["method"] == "GET"


@pytest.mark.parametrize(
    ("path", "status", "said"),
    [
        ("d1/tables?database=none", 404, "There is crew"),
        ("d1/tables", 400, '"database" is missing'),
        ("d1/rows?database=crew&table=agent_tasks&limit=x", 400, "not a whole number"),
        ("d1/rows?database=crew&table=agent_tasks&limit=1000", 400, "1 to 200 rows"),
        ("d1/rows?database=crew&table=none", 400, "no such table: none"),
        ("kv/value?namespace=none&key=k", 404, "There is cache"),
        ("kv/keys?namespace=CACHE&cursor=a", 400, "not a cursor"),
        ("agents/task?database=crew&task=none", 404, "task none does not exist"),
        ("agents/life?database=crew&id=none", 404, "nothing is known of none"),
    ],
)
async def test_a_bad_question_is_told_what_is_wrong(
    server: Edge, path: str, status: int, said: str
) -> None:
    answer = await server.get(f"{API}/{path}")

    assert answer.status_code == status
    assert said in str(answer.json()["error"])


# --- agents ---------------------------------------------------------------------------------------


def bars(lane: dict[str, Any]) -> list[tuple[str, str]]:
    return [(bar["action"], bar["status"]) for bar in lane["bars"]]


async def test_a_crash_and_the_resume_are_drawn_across_isolates(server: Edge) -> None:
    dead = await lost_in(server, "slow voyage", "hold")
    seen = await task_of(server, "slow voyage")
    assert seen is not None
    await later(server, 10)

    answer = await sent(server, "slow voyage")

    found = await task_of(server, "slow voyage")
    assert found is not None
    first, second = found["timeline"]["lanes"]
    kinds = [mark["kind"] for mark in found["timeline"]["marks"]]
    assert answer.text == "completed"
    assert first["pid"] == dead
    assert bars(first) == [("search", "success"), ("hold", "lost")]
    assert bars(second) == [("hold", "success"), ("charge", "success")]
    assert second["pid"] not in (dead, None)
    assert [band["how"] for band in first["bands"]] == ["expired"]
    assert kinds.index("claim") < kinds.index("crash") < kinds.index("resume") < kinds.index("end")


async def test_a_lease_is_shown_and_can_be_ended_and_the_cron_takes_the_task_up(
    server: Edge,
) -> None:
    await lost_in(server, "stuck lease", "charge")
    whole = await task_of(server, "stuck lease")
    assert whole is not None
    task_id = whole["task"]["task_id"]
    leases = (await get(server, "agents/leases?database=crew"))["leases"]

    freed = await change(server, "POST", "agents/free?database=crew", {"task_id": task_id})
    resumed = await change(server, "POST", "agents/resume?database=crew")

    assert [one["id"] for one in leases] == [task_id]
    assert freed.json() == {"task_id": task_id, "freed": True}
    assert resumed.json()["outcome"] == "ok"
    questions = (await get(server, "agents/questions?database=crew"))["questions"]
    assert [(q["action"], q["why"]) for q in questions if q["task_id"] == task_id] == [
        ("charge", "uncertain")
    ]


async def test_a_decision_is_taken_once_and_the_task_goes_on(server: Edge) -> None:
    await lost_in(server, "stuck choice", "charge")
    await later(server, 10)
    asked = await sent(server, "stuck choice")
    whole = await task_of(server, "stuck choice")
    assert whole is not None
    (question,) = whole["questions"]
    given = {name: question[name] for name in ("task_id", "step_index", "attempt")}

    done = await change(
        server,
        "POST",
        "agents/resolve?database=crew",
        {**given, "decision": "done", "output": {"paid": "by hand"}},
    )
    other = await change(
        server, "POST", "agents/resolve?database=crew", {**given, "decision": "retry"}
    )
    ended = await sent(server, "stuck choice")

    assert asked.text == "waiting_tool"
    assert (done.status_code, other.status_code) == (200, 409)
    assert other.json()["error"]["code"] == "decision_conflict"
    assert ended.text == "completed"
    after = await task_of(server, "stuck choice")
    assert after is not None
    assert after["steps"][2]["output"] == {"paid": "by hand"}
    assert "decide" in [mark["kind"] for mark in after["timeline"]["marks"]]


async def test_the_team_its_traces_and_its_dead_letters_are_shown(server: Edge) -> None:
    await form_team(server)

    team = await get(server, "agents/team?database=crew")
    life = await get(server, "agents/life?database=crew&id=goal")
    letter = team["dead_letters"][0]
    back = await change(server, "POST", "agents/requeue?database=crew", {"letter": letter["id"]})
    again = await change(server, "POST", "agents/requeue?database=crew", {"letter": letter["id"]})

    assert {"planner", "worker-1", "critic"} == {m["agent_id"] for m in team["members"]}
    assert [saga["status"] for saga in team["sagas"]] == ["compensated"]
    assert {"planner", "worker-1", "critic"} <= set(life["agents"])
    assert (back.status_code, again.status_code) == (200, 404)


async def test_sessions_are_listed_with_their_tasks(server: Edge) -> None:
    await sent(server, "quick session")

    async def session() -> dict[str, object] | None:
        page = await get(server, "agents/sessions?database=crew&text=ada")
        return page["sessions"][0] if page["sessions"] else None

    found = await wait_until(session)

    assert found is not None
    assert (found["session_id"], found["status"]) == ("s-1", "active")
    assert int(str(found["tasks"])) >= 1
