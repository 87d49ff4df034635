"""The part of `localedge dev` that answers requests, once the isolates are starting."""

from __future__ import annotations

import asyncio
import os
import socket
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from functools import partial
from importlib import import_module
from pathlib import Path

from localedge.gateway.application import Application, Gateway
from localedge.gateway.guard import OLD_SCHEDULED, guarded_control
from localedge.gateway.journal import Journal
from localedge.gateway.listening import listening
from localedge.gateway.recording import Recording, recorded
from localedge.supervisor.state import Run, kept_token, remove_run, write_run
from localedge.supervisor.supervisor import Supervisor


@asynccontextmanager
async def answering(
    supervisor: Supervisor,
    listener: socket.socket,
    state: Path,
    *,
    tests_scheduled: bool,
    say: Callable[[str], None],
    record: Path | None = None,
) -> AsyncIterator[Run]:
    """Where the workers answer, as `run.json` says until the end of the block.

    Shape: `say` gets a line for each request; with `tests_scheduled` the older path
    /__scheduled answers too. Requests and their answers are written to the new file `record`.
    """
    host, port = listener.getsockname()
    token = kept_token(state)
    journal = Journal(say)

    gateway: Gateway = Gateway(
        supervisor.pools[0],
        partial(
            guarded_control,
            supervisor,
            port=port,
            token=token,
            page=lambda: _page(supervisor, gateway),
        ),
        control_paths=[OLD_SCHEDULED] if tests_scheduled else [],
        journal=journal,
        history=supervisor.history,
    )
    run = Run(
        pid=os.getpid(),
        host=host,
        port=port,
        token=token,
        kv_url=supervisor.kv_url,
        temporary=str(supervisor.kv.folder) if supervisor.kv else None,
    )
    with recorded(record) as file:
        application = gateway if file is None else Recording(gateway, file)
        async with listening(application, listener):
            write_run(state, run)
            try:
                yield run
            finally:
                # Who follows what happens would keep the port open.
                supervisor.history.close()
                remove_run(state)
    journal.flush()


async def _page(supervisor: Supervisor, gateway: Gateway) -> Application:
    """The page and its API.

    They are imported when first looked at: most servers are asked by programs only; and beside the
    loop, which answers requests meanwhile.
    """
    views = await asyncio.to_thread(import_module, "localedge.inspector.views")
    await asyncio.to_thread(views.views)
    from localedge.inspector.app import inspector
    from localedge.inspector.inspection import Inspection

    return inspector(Inspection(supervisor, gateway))
