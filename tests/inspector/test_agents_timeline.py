"""A task's life is put together rightly from as little, or as much, as is known of it."""

from __future__ import annotations

from typing import Any

import pytest

from edgestate import clock
from localedge.inspector.agents_journal import Journal, Known
from localedge.inspector.agents_models import StepShown, TaskShown, TaskWhole
from localedge.inspector.timeline import timeline
from localedge.inspector.timeline_models import Timeline
from localedge.inspector.timeline_works import Work, works
from localedge.supervisor.endings import Ending
from localedge.supervisor.happenings import CALL_BEGAN, CALL_ENDED, Happening
from localedge.supervisor.stories import Story

START_MS = 1_796_083_200_000
NOW_MS = START_MS + 60_000


def at(ms: int) -> str:
    """The moment `ms` after the start, as it is stored."""
    return clock.iso((START_MS + ms) / 1000)


def step(index: int, began: int | None, ended: int | None, fence: int, **known: Any) -> StepShown:
    fields: dict[str, Any] = {
        "step_index": index,
        "action": f"do-{index}",
        "status": "success" if ended is not None else "pending" if began is None else "running",
        "effect": "non_idempotent",
        "input": None,
        "output": None,
        "error": None,
        "error_code": None,
        "started_at": None if began is None else at(began),
        "completed_at": None if ended is None else at(ended),
        "intent_at": None,
        "attempt": 1,
        "fence": fence,
        "idempotency_key": None,
        "resolution": None,
        "resolved_attempt": 0,
        "group": None,
    }
    return StepShown(**{**fields, **known})


def whole(*steps: StepShown, status: str = "completed", changed: int = 50_000) -> TaskWhole:
    task = TaskShown(
        task_id="task-1",
        session_id="s",
        goal="g",
        status=status,
        current_step=0,
        total_steps=len(steps),
        created_at=at(0),
        updated_at=at(changed),
        version=1,
        fence=max((s.fence for s in steps), default=0),
        claims=0,
        lease_holder=None,
        lease_expires_at_ms=0,
        lease_left_ms=0,
        is_abandoned=False,
        request_id=None,
        outcome=None,
        error=None,
        error_code=None,
        quarantine_reason=None,
    )
    return TaskWhole(
        task=task, steps=steps, tools=(), questions=(), result=None, iteration=0, counters={}
    )


def ending(pid: int, ms: int, cause: str = "killed") -> tuple[int, Ending]:
    return START_MS + ms, Ending(pid, 1, START_MS + ms, cause, {1: "ray"}, 1, 1.0, was_watched=True)


def drawn(
    found: TaskWhole, known: Known | None = None, *, did: Any = (), died: Any = ()
) -> Timeline:
    return timeline(found, known or Known(), did, died, now_ms=NOW_MS)


def row(fence: int, holder: str | None, expires: int, status: str = "running") -> dict[str, Any]:
    return {
        "id": "task-1",
        "status": status,
        "fence": fence,
        "lease_holder": holder,
        "lease_expires_at": START_MS + expires,
    }


def seen(*rows: tuple[int, dict[str, Any]]) -> Known:
    """What is known after these rows were seen."""
    journal = Journal()
    for ms, one in rows:
        journal.saw(one, START_MS + ms)
    return journal.of("task-1")


def test_with_nothing_but_what_is_stored_each_lease_is_a_lane() -> None:
    found = drawn(whole(step(0, 10, 20, 1), step(1, 30_000, 30_010, 2)))

    assert [lane.title for lane in found.lanes] == ["lease 1", "lease 2"]
    assert [[bar.step_index for bar in lane.bars] for lane in found.lanes] == [[0], [1]]
    assert [mark.kind for mark in found.marks] == ["begin", "claim", "resume", "end"]


def test_a_crash_between_two_leases_is_shown_though_nobody_knows_whose_it_was() -> None:
    found = drawn(whole(step(0, 10, 20, 1), step(1, 30_000, 30_010, 2)), died=[ending(41, 100)])

    (crash,) = [mark for mark in found.marks if mark.kind == "crash"]
    assert (crash.lane, crash.text, crash.ray) == (None, "isolate 41 was killed", "ray")


def test_an_isolate_that_was_drained_is_no_crash() -> None:
    found = drawn(
        whole(step(0, 10, 20, 1), step(1, 30_000, 30_010, 2)),
        died=[ending(41, 100, "drained"), ending(42, -5_000)],
    )

    assert [mark.kind for mark in found.marks if mark.kind == "crash"] == []


@pytest.mark.parametrize(
    ("rows", "how", "to_ms"),
    [
        ([(0, row(1, "a", 8_000)), (9_000, row(1, "a", 8_000))], "expired", 8_000),
        ([(0, row(1, "a", 8_000)), (9_000, row(2, "b", 17_000))], "expired", 8_000),
        ([(0, row(1, "a", 8_000)), (3_000, row(2, "b", 11_000))], "taken over", 3_000),
        ([(0, row(1, "a", 8_000)), (3_000, row(1, None, 0))], "released", 3_000),
        ([(0, row(1, "a", 8_000)), (7_000, row(1, "a", 15_000))], "held", None),
    ],
)
def test_how_a_lease_ended(rows: Any, how: str, to_ms: int | None) -> None:
    span = seen(*rows).spans[0]

    assert span.how == how
    assert span.to_ms == (None if to_ms is None else START_MS + to_ms)


def test_a_lease_that_was_renewed_lasts_until_its_new_end() -> None:
    known = seen(
        (0, row(1, "a", 8_000)), (7_000, row(1, "a", 15_000)), (16_000, row(1, "a", 15_000))
    )

    assert [(span.how, span.to_ms) for span in known.spans] == [("expired", START_MS + 15_000)]


def test_a_step_that_its_lease_outlived_is_lost_when_the_lease_is_over() -> None:
    known = seen((0, row(1, "a", 8_000)), (9_000, row(1, "a", 8_000)))

    found = drawn(whole(step(0, 10, None, 1), status="waiting_tool"), known)

    (bar,) = found.lanes[0].bars
    assert (bar.status, bar.to_ms) == ("lost", START_MS + 8_000)


def test_a_step_of_which_nobody_was_seen_dying_ended_with_the_next_crash() -> None:
    found = drawn(
        whole(step(0, 10, None, 1), status="waiting_tool"), died=[ending(41, 400), ending(42, 900)]
    )

    (bar,) = found.lanes[0].bars
    assert (bar.status, bar.to_ms) == ("lost", START_MS + 400)


def test_a_step_whose_lease_is_held_goes_on_until_now() -> None:
    found = whole(step(0, 10, None, 1), status="running")
    held = found.task.model_copy(update={"lease_left_ms": 5_000})

    line = drawn(found.model_copy(update={"task": held}), died=[ending(41, -400)])

    (bar,) = line.lanes[0].bars
    assert (bar.status, bar.to_ms) == ("running", NOW_MS)


def test_lanes_are_isolates_where_their_calls_name_the_holder() -> None:
    known = seen((0, row(1, "holder-a", 8_000)), (9_000, row(2, "holder-b", 17_000)))
    one = Work(41, "ray-1", START_MS, START_MS + 20, ["fence = fence + 1 … holder-a"])
    two = Work(42, "ray-2", START_MS + 9_000, START_MS + 9_100, ["fence = fence + 1 … holder-b"])

    found = drawn(
        whole(step(0, 10, 20, 1), step(1, 9_010, 9_020, 2)),
        known,
        did=[one, two],
        died=[ending(41, 500)],
    )

    assert [(lane.pid, [b.fence for b in lane.bands]) for lane in found.lanes] == [
        (41, [1]),
        (42, [2]),
    ]
    (crash,) = [mark for mark in found.marks if mark.kind == "crash"]
    assert crash.lane == 0


def test_a_lease_too_short_to_be_seen_is_that_of_the_calls_that_are_left() -> None:
    one = Work(41, "r", START_MS, START_MS + 20, ["fence = fence + 1"])
    two = Work(42, "r", START_MS + 9_000, START_MS + 9_004, ["fence = fence + 1"])
    found = whole(step(0, 10, 20, 1), status="waiting_tool")
    found = found.model_copy(update={"task": found.task.model_copy(update={"fence": 2})})

    line = drawn(found, did=[one, two])

    assert [(lane.pid, [b.fence for b in lane.bands]) for lane in line.lanes] == [
        (41, [1]),
        (42, [2]),
    ]


def test_a_decision_is_marked_when_the_task_goes_on() -> None:
    known = seen(
        (0, row(1, "a", 8_000)),
        (9_000, row(1, None, 0, "waiting_tool")),
        (20_000, row(1, None, 0, "running")),
    )
    decided = step(0, 10, 20_000, 1, resolution="done", resolved_attempt=1)

    found = drawn(whole(decided), known)

    marks = {mark.kind: mark for mark in found.marks}
    assert marks["ask"].at_ms == START_MS + 9_000
    assert (marks["decide"].at_ms, marks["decide"].text) == (
        START_MS + 20_000,
        "decided: done, step 0 do-0",
    )


def call(number: int, kind: str, ms: int, pid: int = 41, **facts: Any) -> Happening:
    return Happening(1, START_MS + ms, kind, "ray", pid, {"call": number, **facts})


def story(*happened: Happening) -> Story:
    found = Story("ray", START_MS)
    for one in happened:
        found.add(one)
    return found


CLAIM = '[{"sql": "UPDATE agent_tasks SET fence = fence + 1", "params": ["task-1", "a"]}]'


def test_a_tool_call_without_an_end_is_lost_with_its_isolate() -> None:
    told = story(
        call(1, CALL_BEGAN, 0, type="d1", operation="batch", arguments=[CLAIM]),
        call(1, CALL_ENDED, 1),
        call(2, CALL_BEGAN, 10, type="tool", operation="do-0", arguments=["null"]),
    )

    (work,) = works([told], [ending(41, 500)[1]], "task-1", int)

    (run,) = work.tools
    assert (run.is_lost, run.to_ms) == (True, START_MS + 500)
    line = drawn(whole(step(0, 9_000, 9_010, 2)), did=[work], died=[ending(41, 500)])
    lost = next(lane for lane in line.lanes if lane.pid == 41)
    assert [(bar.step_index, bar.status) for bar in lost.bars] == [(0, "lost")]


def test_calls_about_another_task_or_that_only_read_are_no_work_on_it() -> None:
    reads = '"SELECT * FROM agent_tasks WHERE id = task-1"'
    told = story(
        call(1, CALL_BEGAN, 0, type="d1", operation="exec", arguments=[reads]),
        call(2, CALL_BEGAN, 0, type="d1", arguments=[CLAIM.replace("task-1", "task-2")]),
        call(3, CALL_BEGAN, 0, type="kv", arguments=[CLAIM]),
    )

    assert works([told], [], "task-1", int) == []


def test_an_attempt_that_ended_and_left_nothing_is_shown_as_tried() -> None:
    told = story(
        call(1, CALL_BEGAN, 0, type="d1", operation="batch", arguments=[CLAIM]),
        call(2, CALL_BEGAN, 10, type="tool", operation="do-0", arguments=["null"]),
        call(2, CALL_ENDED, 20, error="Error: no"),
    )
    (work,) = works([told], [], "task-1", int)

    line = drawn(whole(step(0, 9_000, 9_010, 1)), did=[work])

    bars = [bar for lane in line.lanes for bar in lane.bars]
    assert ("tried", START_MS + 10) in [(bar.status, bar.from_ms) for bar in bars]


def test_a_task_that_nobody_began_has_a_line_without_lanes() -> None:
    line = drawn(whole(step(0, None, None, 0), status="planned", changed=0))

    assert line.lanes == ()
    assert (line.from_ms, line.to_ms) == (START_MS, NOW_MS)
    assert [mark.kind for mark in line.marks] == ["begin"]
