"""The port, served by uvicorn and closed in order."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import uvicorn

from localedge.gateway.application import Application
from localedge.gateway.connection import SLOW_HEADERS_S, Connection
from localedge.gateway.port import BACKLOG

_GRACE_S: Final = 2
_KEEP_ALIVE_S: Final = 75
_SWEEP_S: Final = 1.0


@asynccontextmanager
async def listening(
    application: Application, listener: socket.socket, *, slow_headers_s: float = SLOW_HEADERS_S
) -> AsyncIterator[None]:
    """`application` answers on `listener` until the end of the block; requests may finish then.

    Units: a client has `slow_headers_s` seconds for the headers of one request.
    """
    config = uvicorn.Config(
        application,
        http=Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        server_header=False,
        proxy_headers=False,
        timeout_keep_alive=_KEEP_ALIVE_S,
        timeout_graceful_shutdown=_GRACE_S,
        backlog=BACKLOG,
    )
    config.load()
    server = uvicorn.Server(config)
    # `serve` would take the signals: ending is the command's business.
    server.lifespan = config.lifespan_class(config)
    await server.startup(sockets=[listener])
    try:
        async with asyncio.TaskGroup() as tasks:
            sweeping = tasks.create_task(_sweep(server, slow_headers_s))
            ticking = tasks.create_task(server.main_loop())
            try:
                yield
            finally:
                # Asked to exit, the loop would look up only at its next tick.
                for task in (sweeping, ticking):
                    task.cancel()
                server.should_exit = True
    finally:
        await _shut_down(server, listener)


async def _shut_down(server: uvicorn.Server, listener: socket.socket) -> None:
    """No connection is left; requests under way had their grace."""
    state = server.server_state
    if state.connections or state.tasks:
        await server.shutdown(sockets=[listener])
        return
    # With nobody there, uvicorn waits a tenth of a second all the same.
    for one in server.servers:
        one.close()
    listener.close()


async def _sweep(server: uvicorn.Server, slow_headers_s: float) -> None:
    """Connections whose client takes too long over its headers are closed."""
    while True:
        await asyncio.sleep(min(_SWEEP_S, slow_headers_s))
        now = time.monotonic()
        for connection in [*server.server_state.connections]:
            if isinstance(connection, Connection) and connection.is_slow(now, slow_headers_s):
                connection.refuse(b"408 Request Timeout")
