"""What every state store does, whatever it is made of; promises are read from its traits."""

from __future__ import annotations

from typing import Any

import pytest

from edgestate import (
    InvalidId,
    InvalidTransition,
    SessionState,
    StateStore,
    StepResult,
    TaskQuarantined,
    TaskState,
    ToolState,
    Unsupported,
    VersionConflict,
    VersionedTaskState,
    open_session,
    save_task_with_version,
)
from edgestate.traits import Lease


def a_task(task_id: str = "t", steps: int = 3, **fields: Any) -> VersionedTaskState:
    """A new task of session "s"."""
    made = [
        StepResult(step_index=n, action="look", input={"n": n}, effect="read") for n in range(steps)
    ]
    return VersionedTaskState(
        task_id=task_id, session_id="s", goal="go", steps=made, total_steps=steps, **fields
    )


@pytest.mark.anyio
class StateStoreContract:
    """Tests of one `store`; a subclass has the fixture."""

    @pytest.fixture(autouse=True)
    async def _open_session(self, store: StateStore) -> None:
        await open_session("s", "u", store)

    # --- sessions ---

    async def test_a_session_comes_back_as_it_was_saved(self, store: StateStore) -> None:
        session = SessionState(session_id="é:1", user_id="u/2", message_count=3)

        await store.save_session(session)

        assert await store.get_session("é:1") == session

    async def test_an_unknown_session_is_none(self, store: StateStore) -> None:
        assert await store.get_session("nobody") is None

    async def test_saving_again_keeps_what_changed(self, store: StateStore) -> None:
        session = await store.get_session("s")
        assert session is not None

        session.status = "paused"
        session.message_count = 7
        await store.save_session(session)

        stored = await store.get_session("s")
        assert stored is not None
        assert (stored.status, stored.message_count) == ("paused", 7)

    async def test_a_finished_session_does_not_become_active_again(self, store: StateStore) -> None:
        session = await store.get_session("s")
        assert session is not None
        session.status = "completed"
        await store.save_session(session)

        again = SessionState(session_id="s", user_id="u")

        with pytest.raises(InvalidTransition):
            await store.save_session(again)

    async def test_touching_counts_messages(self, store: StateStore) -> None:
        await store.touch_session("s", messages=2)
        touched = await store.touch_session("s", messages=1)

        assert touched is not None
        assert touched.message_count == 3

    async def test_touching_a_session_that_is_gone_says_none(self, store: StateStore) -> None:
        assert await store.touch_session("nobody") is None

    async def test_all_sessions_of_a_user_are_listed_and_no_others(self, store: StateStore) -> None:
        for number in range(3):
            await open_session(f"mine{number}", "me", store)
        await open_session("other", "me:sessions", store)

        listed = await store.list_sessions_by_user("me")

        assert {session.session_id for session in listed} == {"mine0", "mine1", "mine2"}

    async def test_a_deleted_session_leaves_nothing(self, store: StateStore) -> None:
        await store.save_task(a_task())
        await store.save_tool_state(ToolState(tool_name="look", task_id="t"), "t")

        await store.delete_session("s")

        assert await store.get_session("s") is None
        assert await store.get_task("t") is None
        assert await store.get_tool_state("t", "look") is None
        assert await store.get_tasks_by_session("s") == []
        assert await store.list_sessions_by_user("u") == []

    # --- tasks ---

    async def test_a_task_comes_back_as_it_was_saved(self, store: StateStore) -> None:
        task = a_task(
            counters={"tokens": 12.5, "calls": 3},
            intermediate={"best": {"price": 1.5, "tags": ["ä", None]}},
            prompt=[{"role": "user", "content": "go"}],
            iteration=2,
            request_id="r:1",
        )
        task.steps[0].output = {"rows": [1, 2.5, None, True, "é\n"]}
        task.steps[0].status = "success"
        task.steps[0].messages = [{"role": "assistant", "content": "so"}]

        await store.save_task(task)

        assert await store.get_task("t") == task

    async def test_an_unknown_task_is_none(self, store: StateStore) -> None:
        assert await store.get_task("nothing") is None

    async def test_what_is_changed_after_the_save_is_not_stored(self, store: StateStore) -> None:
        task = a_task()
        await store.save_task(task)

        task.steps[0].output = "changed"
        task.intermediate["x"] = 1

        stored = await store.get_task("t")
        assert stored is not None
        assert (stored.steps[0].output, stored.intermediate) == (None, {})

    async def test_what_is_changed_in_a_copy_is_not_stored(self, store: StateStore) -> None:
        await store.save_task(a_task())
        copy = await store.get_task("t")
        assert copy is not None

        copy.steps[0].output = "changed"

        stored = await store.get_task("t")
        assert stored is not None
        assert stored.steps[0].output is None

    async def test_a_new_plan_replaces_the_old_one(self, store: StateStore) -> None:
        task = a_task(steps=1)
        await store.save_task(task)

        task.steps.append(StepResult(step_index=1, action="more"))
        task.total_steps, task.goal = 2, "go further"
        await store.save_task(task)

        stored = await store.get_task("t")
        assert stored is not None
        assert (stored.goal, stored.total_steps) == ("go further", 2)
        assert [step.action for step in stored.steps] == ["look", "more"]

    async def test_saving_twice_does_not_double_the_steps(self, store: StateStore) -> None:
        task = a_task()

        await store.save_task(task)
        await store.save_task(task)

        stored = await store.get_task("t")
        assert stored is not None
        assert [step.step_index for step in stored.steps] == [0, 1, 2]

    async def test_a_plain_task_may_be_saved_again_and_again(self, store: StateStore) -> None:
        plain = TaskState(task_id="t", session_id="s", goal="go")

        await store.save_task(plain)
        plain.status = "running"
        await store.save_task(plain)

        stored = await store.get_task("t")
        assert stored is not None
        assert stored.status == "running"

    async def test_a_step_that_succeeded_stays_as_it_ended(self, store: StateStore) -> None:
        task = a_task()
        task.steps[0].status = "success"
        task.steps[0].output = "first"
        await store.save_task(task)

        task.steps[0].output = "second"
        await store.save_task(task)

        stored = await store.get_task("t")
        assert stored is not None
        assert stored.steps[0].output == "first"

    async def test_five_hundred_steps_are_saved_at_once(self, store: StateStore) -> None:
        await store.save_task(a_task(steps=500))

        stored = await store.get_task("t")
        assert stored is not None
        assert len(stored.steps) == 500

    async def test_an_impossible_change_of_status_is_refused(self, store: StateStore) -> None:
        task = a_task()
        task.status = "completed"
        await store.save_task(task)

        late = TaskState(task_id="t", session_id="s", goal="go", status="running")

        with pytest.raises(InvalidTransition):
            await store.save_task(late)

    async def test_tasks_of_a_session_are_listed_oldest_first(self, store: StateStore) -> None:
        await open_session("s:tasks", "u", store)
        for number, second in ((1, "02"), (2, "01"), (3, "03")):
            created_at = f"2026-12-01T00:00:{second}.000Z"
            await store.save_task(a_task(f"t{number}", created_at=created_at))
        foreign = TaskState(task_id="t9", session_id="s:tasks", goal="other")
        await store.save_task(foreign)

        listed = await store.get_tasks_by_session("s")

        assert [task.task_id for task in listed] == ["t2", "t1", "t3"]
        assert [len(task.steps) for task in listed] == [3, 3, 3]

    async def test_failed_tasks_come_with_their_steps(self, store: StateStore) -> None:
        failed = a_task("bad")
        failed.steps[0].status = "failed"
        failed.status = "failed"
        await store.save_task(failed)
        await store.save_task(a_task("good"))

        found = await store.get_failed_tasks("s")

        assert [(task.task_id, len(task.steps)) for task in found] == [("bad", 3)]

    async def test_the_same_request_makes_the_same_task(self, store: StateStore) -> None:
        first = await store.create_task(a_task("t1", request_id="r"))
        second = await store.create_task(a_task("t2", request_id="r"))

        assert (first.task_id, second.task_id) == ("t1", "t1")
        assert await store.get_task("t2") is None

    async def test_a_task_that_is_set_aside_is_not_read_and_others_are(
        self, store: StateStore
    ) -> None:
        await store.save_task(a_task("bad"))
        await store.save_task(a_task("good"))

        await store.quarantine_task("bad", "torn")
        await store.quarantine_task("bad", "later")

        with pytest.raises(TaskQuarantined) as refusal:
            await store.get_task("bad")
        assert refusal.value.reason == "torn"
        assert [task.task_id for task in await store.get_tasks_by_session("s")] == ["good"]
        assert await store.list_quarantined() == {"bad": "torn"}
        assert await store.list_quarantined("s") == {"bad": "torn"}

    # --- tools ---

    async def test_a_tool_state_comes_back_as_it_was_saved(self, store: StateStore) -> None:
        await store.save_task(a_task())
        state = ToolState(
            tool_name="search: flights",
            task_id="t",
            status="retrying",
            retry_count=2,
            last_result={"page": 1},
            last_error="503",
            rate_limit_reset_at="2026-12-01T00:00:00.000Z",
            cursor={"after": "x"},
            rate_count=4,
            rate_window_start="2026-12-01T00:00:00.000Z",
            extra={"rows": [1, 2]},
        )

        await store.save_tool_state(state, "t")

        assert await store.get_tool_state("t", "search: flights") == state

    async def test_a_tool_state_under_another_task_is_refused(self, store: StateStore) -> None:
        state = ToolState(tool_name="look", task_id="t")

        with pytest.raises(Exception, match="is of task t, not u"):
            await store.save_tool_state(state, "u")

    # --- ids ---

    @pytest.mark.parametrize("bad", ["", ":", "x" * 513, "é" * 257])
    async def test_an_id_that_names_nothing_is_refused(self, store: StateStore, bad: str) -> None:
        for read in (store.get_session, store.get_task, store.list_sessions_by_user):
            with pytest.raises(InvalidId):
                await read(bad)

    # --- what only some promise ---

    async def test_versions_are_kept_or_denied_with_the_reason(self, store: StateStore) -> None:
        task = a_task()
        if not store.traits.versions:
            with pytest.raises(Unsupported, match="compare-and-set"):
                await save_task_with_version(store, task)
            return

        await store.save_task(task)
        stale = await store.get_task("t")
        assert stale is not None
        await store.save_task(task)

        assert (stale.version, task.version) == (1, 2)
        with pytest.raises(VersionConflict):
            await store.save_task(stale)

    async def test_leases_are_kept_or_denied_with_the_reason(self, store: StateStore) -> None:
        await store.save_task(a_task())
        if not store.traits.leases:
            for denied in (
                store.acquire_lease("t", "a", ttl_s=30),
                store.claim_task("t", "a", ttl_s=30),
                store.renew_lease(Lease("t", "a", 1, 0, 30)),
                store.release_lease("t", "a"),
                store.find_abandoned_tasks(max_claims=1, limit=1),
                store.commit(a_task()),
            ):
                with pytest.raises(Unsupported, match="D1StateStore"):
                    await denied
            return

        first = await store.acquire_lease("t", "a", ttl_s=30)
        second = await store.acquire_lease("t", "b", ttl_s=30)

        assert first is not None
        assert second is None

    async def test_counters_are_kept_or_denied_with_the_reason(self, store: StateStore) -> None:
        if not store.traits.counters:
            for denied in (
                store.take_rate("look", limit=1, window_s=60),
                store.block_tool("look", until=0),
            ):
                with pytest.raises(Unsupported, match="increment"):
                    await denied
            return

        taken = [await store.take_rate("look", limit=2, window_s=60) for _ in range(3)]

        assert [t.is_allowed for t in taken] == [True, True, False]

    async def test_searches_over_all_sessions_are_made_or_denied(self, store: StateStore) -> None:
        if not store.traits.queries:
            with pytest.raises(Unsupported, match="by their key"):
                await store.get_failed_tasks()
            return

        failed = a_task()
        failed.status = "failed"
        await store.save_task(failed)

        assert [task.task_id for task in await store.get_failed_tasks()] == ["t"]
