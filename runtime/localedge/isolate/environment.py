"""Builds `env`: the bindings, vars and secrets of a project, each opened once per isolate."""

from __future__ import annotations

from contextlib import AsyncExitStack
from typing import Any, Never

from localedge.binding import EnvWrapper
from localedge.d1.database import D1Database
from localedge.d1.files import database_file
from localedge.d1.sqlite import open_engine
from localedge.errors import JsException
from localedge.isolate.attaching import attached_bindings
from localedge.isolate.boot import Boot
from localedge.isolate.calls import Calls
from localedge.kv import redis
from localedge.kv.namespace import KvNamespace
from localedge.probe import Probe
from localedge.values import JsObject


class Placeholder(JsObject):
    """A binding that the platform has and we do not run: it raises at its first use."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Never:
        raise JsException(
            f"env.{self._name} is a {self.js_class}, which localedge does not run; "
            f'"{attribute}" works on the platform only.'
        )


def placeholder(name: str, platform_class: str) -> Placeholder:
    """What stands in `env` for the binding `name`; it shows the platform's class name."""
    kind = type(platform_class, (Placeholder,), {"js_class": platform_class})
    made: Placeholder = kind(name)
    return made


async def open_env(
    stack: AsyncExitStack, boot: Boot, probe: Probe, calls: Calls | None = None
) -> EnvWrapper:
    """The env of `boot`'s project; what it opened is closed with `stack`.

    Shape: `calls` reach the other workers and the counters that all isolates share; without them
    there are no other workers, and counters are this process's own.
    Errors: OperatorError when a database or the KV server cannot be opened.
    """
    project = boot.project
    values: dict[str, Any] = {**project.vars, **project.secrets}
    for name, platform_class in project.placeholders.items():
        values[name] = placeholder(name, platform_class)
    values.update(attached_bindings(boot, calls))
    if project.kv_namespaces and boot.kv_url is not None:
        connection = await stack.enter_async_context(redis.connect(boot.kv_url))
        for namespace in project.kv_namespaces:
            store = connection.store(
                namespace.storage_id, location=boot.location, write_rate=project.local.write_rate
            )
            values[namespace.binding] = KvNamespace(store)
    opened: dict[str, D1Database] = {}
    for database in project.d1_databases:
        if database.storage_id not in opened:
            engine = await stack.enter_async_context(
                open_engine(
                    database_file(boot.state, database.storage_id),
                    durability=project.local.durability,
                )
            )
            opened[database.storage_id] = D1Database(engine)
        values[database.binding] = opened[database.storage_id]
    return EnvWrapper(values, probe)
