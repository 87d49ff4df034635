"""The worker on our own server, in this process, over stores in a folder of their own."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from functools import partial
from pathlib import Path
from typing import Any, Final

from localedge.gateway.application import Gateway
from localedge.gateway.guard import guarded_control
from localedge.gateway.listening import listening
from localedge.gateway.port import bind
from localedge.isolate.failures import Failure
from localedge.port.verify.answers import Answer, Outgoing, ask, plain_client
from localedge.port.verify.stored import State, read_state
from localedge.project.models import Local, Project
from localedge.supervisor.crons import fire
from localedge.supervisor.forks import Record
from localedge.supervisor.supervisor import Supervisor, supervised
from localedge.testing.world import World, empty_world, opened

NAME: Final = "localedge"
_SETTLE_S: Final = 30.0
_POLL_S: Final = 0.01
_LOOPBACK: Final = "127.0.0.1"


class Ours:
    """Our server with one isolate, as the real parts have one."""

    name = NAME

    def __init__(self, supervisor: Supervisor, world: World, url: str, patience_s: float) -> None:
        self._supervisor = supervisor
        self._world = world
        self._url = url
        self._patience_s = patience_s
        self._client = plain_client()

    @property
    def failure(self) -> Failure | None:
        """Why the worker cannot be loaded, if it cannot."""
        return self._supervisor.pools[0].current.failure

    async def send(self, outgoing: Outgoing) -> Answer:
        """The answer to one request. Errors: TimeoutError when there is none in time."""
        async with asyncio.timeout(self._patience_s):
            return await ask(self._client, self._url, outgoing, {})

    async def cron(self, expression: str) -> str:
        """How the `scheduled` handler ended. Errors: TimeoutError."""
        time_ms = int(self._supervisor.clock.now() * 1000)
        async with asyncio.timeout(self._patience_s):
            return (await fire(self._supervisor.pools[0], expression, time_ms)).outcome

    async def restart(self) -> None:
        """The isolate is killed, and another one serves."""
        pool = self._supervisor.pools[0]
        killed = pool.current.serving[0] if pool.current.serving else None
        if killed is not None:
            self._supervisor.kill(killed.pid)
            await _until(lambda: killed not in pool.current.isolates())
        await pool.acquire()

    async def state(self) -> State:
        """All that is stored, once nothing is left to do."""
        pool = self._supervisor.pools[0]
        await _until(lambda: not any(isolate.exchanges for isolate in pool.isolates()))
        project = self._world.project
        async with opened(self._world, self._supervisor.kv_url) as env:

            async def call(binding: str, *chain: Sequence[Any]) -> Any:
                value = getattr(env, binding)
                for method, args in chain:
                    value = getattr(value, method)(*args)
                    if hasattr(value, "__await__"):
                        value = await value
                return _in_json(value)

            return await read_state(
                call,
                [one.binding for one in project.kv_namespaces],
                [one.binding for one in project.d1_databases],
            )

    async def close(self) -> None:
        """No connection is left."""
        await self._client.aclose()


@asynccontextmanager
async def our_side(
    project: Project, state: Path, *, patience_s: float, on_record: Callable[[Record], None]
) -> AsyncIterator[Ours]:
    """Our server runs `project` over new stores in `state`, its migrations applied.

    Errors: OperatorError when it cannot start.
    """
    world = await empty_world(like_the_real_parts(project), state)
    async with AsyncExitStack() as stack:
        listener = stack.enter_context(bind(_LOOPBACK, 0))
        supervisor = await stack.enter_async_context(
            supervised([world.project], state, on_record=on_record)
        )
        port: int = listener.getsockname()[1]
        token = secrets.token_urlsafe(24)
        control = partial(guarded_control, supervisor, port=port, token=token)
        gateway = Gateway(supervisor.pools[0], control)
        await stack.enter_async_context(listening(gateway, listener))
        side = Ours(supervisor, world, f"http://{_LOOPBACK}:{port}", patience_s)
        stack.push_async_callback(side.close)
        async with asyncio.timeout(_SETTLE_S):
            await supervisor.has_kv()
            await supervisor.pools[0].current.is_settled()
        yield side


def like_the_real_parts(project: Project) -> Project:
    """`project` on stores of its own, with one isolate, no clock's crons, and reads that never lag.

    Shape: what the edge enforces at import stays as the project has it.
    """
    kept = {"import_guard", "thread_guard", "memory_mb", "loop_block_s"}
    local = Local(isolates=1, **project.local.model_dump(include=kept))
    return project.model_copy(update={"local": local, "crons": ()})


async def _until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(_SETTLE_S):
        while True:
            if condition():
                return
            await asyncio.sleep(_POLL_S)


def _in_json(value: Any) -> Any:
    match value:
        case bytes() | memoryview():
            return {"$bytes": bytes(value).hex()}
        case dict():
            return {key: _in_json(one) for key, one in value.items()}
        case list():
            return [_in_json(one) for one in value]
    return value
