"""The contract of a state store; each backend declares with `traits` what of it it can promise."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from typing import Protocol

from edgestate.models import SessionState, TaskState, ToolState, VersionedTaskState
from edgestate.traits import Lease, Lifetimes, RateTaken, Swept, Traits


class StateStore(Protocol):
    """Sessions, tasks and tool states, kept for as long as their session lives.

    Shape: what is handed in and out is copied; a save bumps the caller's `version`.
    Errors: InvalidId for an id that cannot name a record; CorruptRecord or TaskQuarantined for a
    record that cannot be read (a list leaves it out, and reports it); StoreUnavailable when it
    is unknown whether a write happened; Unsupported for what `traits` denies.
    """

    @property
    def traits(self) -> Traits:
        """What this store promises."""

    @property
    def lifetimes(self) -> Lifetimes:
        """How long sessions live here."""

    async def get_session(self, session_id: str) -> SessionState | None:
        """The session, None if there is none or its TTL is over."""

    async def save_session(self, session: SessionState) -> None:
        """Store `session`: its status, count and last activity; its TTL begins anew from there.

        Errors: VersionConflict if `session.version` is not 0 and someone else changed it.
        """

    async def touch_session(self, session_id: str, *, messages: int = 0) -> SessionState | None:
        """The session was active now and has `messages` more; None if it is gone or expired."""

    async def list_sessions_by_user(self, user_id: str) -> list[SessionState]:
        """All living sessions of a user, oldest first."""

    async def delete_session(self, session_id: str) -> None:
        """Nothing of the session is left: tasks, steps, tool states, memberships."""

    async def get_task(self, task_id: str) -> VersionedTaskState | None:
        """The task with its steps, None if there is none."""

    async def create_task(self, task: TaskState) -> VersionedTaskState:
        """The task of this session and `request_id`: `task` if it is the first, else the stored.

        Errors: SessionNotFound.
        """

    async def start_task(
        self, task: TaskState, holder: str, *, ttl_s: float
    ) -> tuple[Lease | None, VersionedTaskState]:
        """`create_task` and `claim_task` at once; no lease if it is over, waits or is held.

        Errors: SessionNotFound; TaskQuarantined; ValueError without a `request_id`.
        """

    async def save_task(self, task: TaskState) -> None:
        """Store `task` with all its steps as one value, for one writer.

        A `VersionedTaskState` that was stored before is compared and set. A step that is stored
        as ended keeps what it ended with.
        Errors: VersionConflict, SessionNotFound, RecordTooLarge; nothing is written then.
        """

    async def commit(
        self,
        task: VersionedTaskState,
        steps: Collection[int] = (),
        *,
        results: Collection[int] = (),
        lease: Lease | None = None,
        tools: Sequence[ToolState] = (),
        release: bool = False,
        is_pointer_only: bool = False,
    ) -> int:
        """Store the task's pointer and status with its steps and `tools` at once; the new version.

        Shape: `steps` are stored whole, new ones too; of `results` what running them changes.
        `task` is left as it is; `release` ends the lease in the same write. With
        `is_pointer_only` and a lease, nothing else of the task has changed, its status neither.
        Errors: VersionConflict if `task.version` is not the stored one, FenceLost if a later
        lease than `lease` was given; nothing is written then.
        """

    async def get_tasks_by_session(self, session_id: str) -> list[VersionedTaskState]:
        """All readable tasks of the session, oldest first."""

    async def get_failed_tasks(self, session_id: str | None = None) -> list[VersionedTaskState]:
        """The failed tasks of one session, or of all."""

    async def find_abandoned_tasks(self, *, max_claims: int, limit: int) -> list[str]:
        """Ids of unfinished tasks that nobody holds, of active sessions, longest untouched first.

        Tasks that were claimed `max_claims` times without any progress are left out.
        """

    async def quarantine_task(self, task_id: str, reason: str) -> None:
        """The task is set aside with `reason` (the first one stays); its record is kept."""

    async def list_quarantined(self, session_id: str | None = None) -> dict[str, str]:
        """Why tasks (of one session, or all) are set aside, by task id."""

    async def get_tool_state(self, task_id: str, tool_name: str) -> ToolState | None:
        """What is known of the tool within the task."""

    async def save_tool_state(self, state: ToolState, task_id: str) -> None:
        """Store `state`. `task_id` must be its own (the argument is the document's)."""

    async def acquire_lease(self, task_id: str, holder: str, *, ttl_s: float) -> Lease | None:
        """The task is ours for `ttl_s` with a new fence; None while another holder has it.

        The same holder gets it again, with a new fence (the reply to its first try may be lost).
        Errors: TaskNotFound; ValueError unless ttl_s > 0.
        """

    async def claim_task(
        self, task_id: str, holder: str, *, ttl_s: float
    ) -> tuple[Lease, VersionedTaskState] | None:
        """`acquire_lease` for a run: the task as it is under the new lease, `running` if planned.

        The claim is counted; a commit under the lease sets the count back to 0.
        """

    async def renew_lease(self, lease: Lease, *, ttl_s: float | None = None) -> Lease:
        """Keep `lease` ours until `ttl_s` (the lease's own, if None) from now.

        Shape: the fence is unchanged.
        Errors: LeaseLost if it expired or another holder has it; ValueError unless ttl_s > 0.
        """

    async def release_lease(self, task_id: str, holder: str) -> bool:
        """The task is free if it was `holder`'s; whether it was. The fence stays."""

    async def take_rate(self, tool_name: str, *, limit: int, window_s: float) -> RateTaken:
        """Count one call of the tool unless `limit` were made within the running window."""

    async def block_tool(self, tool_name: str, *, until: float) -> None:
        """The tool takes no calls before `until` (seconds since the epoch)."""

    async def sweep(self, *, limit: int = 100) -> Swept:
        """Idle sessions are marked `expired`, those past their TTL deleted with all they own.

        A session whose task is being worked on is left alone.
        """
