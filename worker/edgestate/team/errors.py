"""What several agents are told when shared state refuses them; each error carries its ids."""

# ruff: noqa: N818  (the names are the documents': what happened, not "…Error")

from __future__ import annotations

from edgestate.errors import StateError


class ContextConflictError(StateError):
    """The context that the agent works under is not the newest; it must sync before it writes."""

    retryable = True
    code = "context_conflict"

    def __init__(self, expected: int | str, actual: int | str | None) -> None:
        super().__init__(f"上下文版本不一致: expected {expected}, actual {actual}")
        self.expected = expected
        self.actual = actual


class ContextExists(StateError):
    """A context of that version is frozen already, with another content; it stays as it is."""

    code = "context_exists"

    def __init__(self, task_id: str, version: int) -> None:
        super().__init__(f"context {version} of task {task_id} is frozen with another content.")
        self.task_id = task_id
        self.version = version


class UnknownContext(StateError):
    """There is no frozen context of that name."""

    code = "unknown_context"

    def __init__(self, context_id: str) -> None:
        super().__init__(f"context {context_id} does not exist or is not frozen.")
        self.context_id = context_id


class AccessDenied(StateError):
    """The agent may not do that; nothing was done, and the refusal was written down."""

    code = "access_denied"

    def __init__(self, agent_id: str, operation: str, what: str) -> None:
        super().__init__(f"agent {agent_id} may not {operation} {what}.")
        self.agent_id = agent_id
        self.operation = operation
        self.what = what


class RoleTaken(StateError):
    """The agent has another role already, or another agent is the planner or the critic."""

    code = "role_taken"

    def __init__(self, agent_id: str, role: str) -> None:
        super().__init__(
            f"agent {agent_id} cannot be enrolled as {role}: its role is fixed, "
            "and a team has one planner and one critic."
        )
        self.agent_id = agent_id
        self.role = role


class RecipientUnknown(StateError):
    """Nobody of that name can get a message; none was sent."""

    code = "recipient_unknown"

    def __init__(self, target: str) -> None:
        super().__init__(f"there is no agent {target} to get a message.")
        self.target = target


class AlreadyConsumed(StateError):
    """The message had its effect already; it has none a second time."""

    code = "already_consumed"

    def __init__(self, seq: int, agent_id: str) -> None:
        super().__init__(f"message {seq} was consumed by {agent_id} before.")
        self.seq = seq
        self.agent_id = agent_id


class CyclicPlan(StateError):
    """Subtasks wait for each other, or for one that is not planned; none was created."""

    code = "cyclic_plan"

    def __init__(self, task_ids: tuple[str, ...], why: str = "wait for each other") -> None:
        super().__init__(f"subtasks {', '.join(task_ids)} {why}.")
        self.task_ids = task_ids


class RequestMismatch(StateError):
    """The request id belongs to another content (HTTP 422); nothing was written."""

    code = "request_mismatch"
    status = 422

    def __init__(self, request_id: str) -> None:
        super().__init__(f"request {request_id} was made before with another content.")
        self.request_id = request_id


class RequestInProgress(StateError):
    """The same request is being carried out (HTTP 409); ask again later."""

    retryable = True
    code = "request_in_progress"
    status = 409

    def __init__(self, request_id: str) -> None:
        super().__init__(f"request {request_id} is being carried out.")
        self.request_id = request_id


class SettingTooOld(StateError):
    """A setting of at least that version does not exist."""

    code = "setting_too_old"

    def __init__(self, name: str, wanted: int, found: int | None) -> None:
        super().__init__(f"setting {name} is at version {found}, wanted is at least {wanted}.")
        self.name = name
        self.wanted = wanted
        self.found = found


class SecretInSetting(StateError):
    """A setting may name a secret, and never hold one."""

    code = "secret_in_setting"

    def __init__(self, name: str) -> None:
        super().__init__(
            f'setting {name} looks like a secret.  Store {{"secret": "NAME"}}, the name of the '
            "secret that the worker's environment has."
        )
        self.name = name


class NoSnapshot(StateError):
    """No stored snapshot of the task is whole.

    Shape: `broken` has each version that was looked at with what is wrong with it.
    """

    code = "no_snapshot"

    def __init__(self, task_id: str, broken: tuple[tuple[int, str], ...]) -> None:
        tried = ", ".join(f"{version} ({why})" for version, why in broken) or "none stored"
        super().__init__(f"task {task_id} has no whole snapshot: {tried}.")
        self.task_id = task_id
        self.broken = broken


class UnknownSaga(StateError):
    """There is no such saga, none of that name is defined, or it has other steps."""

    code = "unknown_saga"

    def __init__(self, saga_id: str, why: str = "does not exist") -> None:
        super().__init__(f"saga {saga_id} {why}.")
        self.saga_id = saga_id


class NoDeadLetter(StateError):
    """There is no open dead letter of that number."""

    code = "no_dead_letter"

    def __init__(self, letter_id: int) -> None:
        super().__init__(f"dead letter {letter_id} does not exist or was requeued before.")
        self.letter_id = letter_id
