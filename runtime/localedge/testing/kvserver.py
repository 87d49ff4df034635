"""A KV server for a test run, started and ended outside of any event loop of the tests."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from localedge.supervisor import valkey

_PATIENCE_S = 30.0


@contextmanager
def running(folder: Path) -> Iterator[str]:
    """The URL of a server with its data in `folder`, or LOCALEDGE_TEST_REDIS_URL.

    The server lives on a loop in a thread of its own, so that session fixtures that are not
    asynchronous can hold it across tests with loops of their own.
    """
    given = os.environ.get("LOCALEDGE_TEST_REDIS_URL")
    if given:
        yield given
        return
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever, name="kv server", daemon=True)
    thread.start()
    server = valkey.running(folder)
    try:
        starting = asyncio.run_coroutine_threadsafe(server.__aenter__(), loop)
        yield starting.result(_PATIENCE_S)
        ending = server.__aexit__(None, None, None)
        asyncio.run_coroutine_threadsafe(ending, loop).result(_PATIENCE_S)
    finally:
        loop.call_soon_threadsafe(loop.stop)
        thread.join(_PATIENCE_S)
        loop.close()
