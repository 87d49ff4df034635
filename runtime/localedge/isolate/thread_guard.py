"""Refuses threads, which the edge has not; what would run in one runs inline."""

from __future__ import annotations

import _thread
import asyncio
import sys
import threading
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from types import FrameType
from typing import Any, Final, TypeVar

from localedge import clock

T = TypeVar("T")
REFUSAL: Final = "can't start new thread"
_OURS: Final = (str(Path(__file__).parents[1]), str(Path(clock.__file__).parent))
_BETWEEN: Final = frozenset(("threading", "_thread", __name__))
_DATABASE: Final = "aiosqlite"


class InlineExecutor(ThreadPoolExecutor):
    """Runs what it is given before `submit` returns, as the loop of the edge does.

    Source: pyodide webloop.py (run_in_executor), read 2026-12-01.
    """

    def submit(self, fn: Callable[..., T], /, *args: Any, **kwargs: Any) -> Future[T]:
        """A future that is done."""
        future: Future[T] = Future()
        try:
            future.set_result(fn(*args, **kwargs))
        except Exception as error:  # noqa: BLE001  (the future carries it to whoever waits)
            future.set_exception(error)
        return future


def refuse_threads(loop: asyncio.AbstractEventLoop) -> None:
    """From now on only bindings start threads in this process, and `loop`'s executor is inline.

    For everyone else: RuntimeError, with the text of the edge.
    """
    loop.set_default_executor(InlineExecutor(max_workers=1))
    begin = threading.Thread.start
    begin_bare = _thread.start_new_thread

    def start(self: threading.Thread) -> None:
        _refuse(sys._getframe(1))
        begin(self)

    def start_new_thread(*args: Any, **kwargs: Any) -> int:
        _refuse(sys._getframe(1))
        return begin_bare(*args, **kwargs)

    setattr(threading.Thread, "start", start)  # noqa: B010  (mypy refuses to assign methods)
    setattr(_thread, "start_new_thread", start_new_thread)  # noqa: B010


def _refuse(frame: FrameType | None) -> None:
    """Raise unless a binding of ours starts the thread."""
    while frame is not None:
        module = str(frame.f_globals.get("__name__", ""))
        if module not in _BETWEEN and module.partition(".")[0] != _DATABASE:
            break
        frame = frame.f_back
    if frame is None or not frame.f_code.co_filename.startswith(_OURS):
        raise RuntimeError(REFUSAL)
