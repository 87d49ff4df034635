"""A child that does not outlive the process that started it, whatever its own loop does."""

from __future__ import annotations

import ctypes
import os
import select
import signal
import sys
import threading
from typing import Final

_PR_SET_PDEATHSIG: Final = 1


def tie_to(parent_pid: int) -> None:
    """This process dies when `parent_pid`, which forked it, is gone.

    On Linux the kernel sends SIGKILL; on macOS a thread waits for the parent's end.
    Source: prctl(2), kqueue(2), read 2026-12-01.
    """
    if sys.platform == "linux":
        ctypes.CDLL(None, use_errno=True).prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
    else:
        threading.Thread(target=_watch, args=(parent_pid,), daemon=True, name="lifeline").start()
    # The parent may have died before the kernel was asked.
    if os.getppid() != parent_pid:
        os._exit(1)


def _watch(parent_pid: int) -> None:
    if sys.platform == "darwin":
        queue = select.kqueue()
        ended = select.kevent(
            parent_pid,
            filter=select.KQ_FILTER_PROC,
            flags=select.KQ_EV_ADD,
            fflags=select.KQ_NOTE_EXIT,
        )
        queue.control([ended], 1, None)
    os.kill(os.getpid(), signal.SIGKILL)
