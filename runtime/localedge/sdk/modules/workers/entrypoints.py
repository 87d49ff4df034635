"""The classes that a worker derives from."""

from __future__ import annotations

from typing import Any


class WorkerEntrypoint:
    """A worker's entrypoint: one instance handles one event.

    Shape: `ctx` is the event's context, `env` holds the bindings.
    """

    ctx: Any
    env: Any

    def __init__(self, ctx: Any, env: Any) -> None:
        self.ctx = ctx
        self.env = env


class DurableObject:
    """Exists on the platform, not here: a class of it cannot be bound."""

    def __init__(self, ctx: Any, env: Any) -> None:
        self.ctx = ctx
        self.env = env


class WorkflowEntrypoint:
    """Exists on the platform, not here: a class of it cannot be started."""

    def __init__(self, ctx: Any, env: Any) -> None:
        self.ctx = ctx
        self.env = env
