"""Keys of records in KV: the document's scheme, with ids encoded so that no two keys collide."""

from __future__ import annotations

from typing import Final
from urllib.parse import quote, unquote

from edgestate.errors import InvalidId

MAX_ID_BYTES: Final = 512
MAX_KEY_BYTES: Final = 512
"""Source: reference/kv-d1-contract.md 1.3 (KV keys), read 2026-12-01."""


def check_id(kind: str, value: str) -> str:
    """Return `value` if it may name a `kind`.

    Errors: InvalidId for what is no text, empty, over 512 bytes of UTF-8, or nothing but ASCII
    punctuation and space (":" or "." would name nothing and read as a separator).
    """
    if not isinstance(value, str):
        raise InvalidId(kind, value, "is not a text")
    if not value:
        raise InvalidId(kind, value, "is empty")
    try:
        size = len(value.encode())
    except UnicodeEncodeError as error:
        raise InvalidId(kind, value, "is not valid Unicode") from error
    if size > MAX_ID_BYTES:
        raise InvalidId(kind, value, f"has {size} bytes")
    if not any(map(_names, value)):
        raise InvalidId(kind, value, "has no letter, digit or symbol")
    return value


def _names(character: str) -> bool:
    """Whether an id is told from others by `character`: an emoji does, a colon does not."""
    return character.isalnum() or (not character.isascii() and character.isprintable())


def _key(kind: str, pattern: str, **ids: str) -> str:
    encoded = {name: quote(check_id(name, value), safe="") for name, value in ids.items()}
    key = pattern.format(**encoded)
    if len(key) > MAX_KEY_BYTES:
        first = next(iter(ids))
        raise InvalidId(first, ids[first], f"makes a {kind} key of {len(key)} bytes")
    return key


def session(session_id: str) -> str:
    """`agent:session:{sessionId}`."""
    return _key("session", "agent:session:{session}", session=session_id)


def task(task_id: str) -> str:
    """`agent:task:{taskId}`."""
    return _key("task", "agent:task:{task}", task=task_id)


def session_tasks(session_id: str) -> str:
    """`agent:session:{sessionId}:tasks`, the common prefix of the session's memberships."""
    return _key("session", "agent:session:{session}:tasks", session=session_id)


def session_task(session_id: str, task_id: str) -> str:
    """`agent:session:{sessionId}:tasks:{taskId}`: this task belongs to that session."""
    return _key(
        "membership",
        "agent:session:{session}:tasks:{task}",
        session=session_id,
        task=task_id,
    )


def user_sessions(user_id: str) -> str:
    """`agent:user:{userId}:sessions`, the common prefix of the user's sessions."""
    return _key("user", "agent:user:{user}:sessions", user=user_id)


def user_session(user_id: str, session_id: str) -> str:
    """`agent:user:{userId}:sessions:{sessionId}`: this session belongs to that user."""
    return _key(
        "membership",
        "agent:user:{user}:sessions:{session}",
        user=user_id,
        session=session_id,
    )


def tool_state(task_id: str, tool_name: str) -> str:
    """`agent:tool:{taskId}:{toolName}`."""
    return _key("tool state", "agent:tool:{task}:{tool}", task=task_id, tool=tool_name)


def task_tools(task_id: str) -> str:
    """`agent:tool:{taskId}:`, the common prefix of the task's tool states."""
    return _key("task", "agent:tool:{task}:", task=task_id)


def lock(task_id: str) -> str:
    """`agent:lock:{taskId}`."""
    return _key("lock", "agent:lock:{task}", task=task_id)


def quarantine(task_id: str) -> str:
    """`agent:quarantine:{taskId}`: why the task's record is set aside."""
    return _key("quarantine", "agent:quarantine:{task}", task=task_id)


def blob(task_id: str, sha256: str) -> str:
    """`agent:blob:{taskId}:{sha256}`: an immutable large value; its key is its content."""
    return _key("blob", "agent:blob:{task}:{sha256}", task=task_id, sha256=sha256)


def last_id(key: str) -> str:
    """The id that a membership key ends with."""
    return unquote(key.rsplit(":", 1)[1])
