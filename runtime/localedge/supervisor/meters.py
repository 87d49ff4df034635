"""What a process has used: CPU time and private memory, read without its help."""

from __future__ import annotations

import ctypes
import os
import sys
import time
from pathlib import Path
from typing import Final

_CPU_CLOCK_OF_PROCESS: Final = 2
_PAGE_BYTES: Final = os.sysconf("SC_PAGE_SIZE")
_PROC_PIDTASKINFO: Final = 4


def cpu_s(pid: int) -> float | None:
    """CPU time of `pid` so far, all threads, in seconds; None when it is gone.

    Source: clock_getcpuclockid(3), kernel include/linux/posix-timers.h, read 2026-12-01.
    """
    if sys.platform == "darwin":
        task = _task_info(pid)
        return None if task is None else (task.user_ns + task.system_ns) / 1e9
    try:
        return time.clock_gettime((~pid << 3) | _CPU_CLOCK_OF_PROCESS)
    except OSError:
        return None


def private_bytes(pid: int, above: int) -> int | None:
    """Memory that only `pid` has; None when it is gone.

    Shape: exact when it is more than `above`; else at least what it is, and not more than that:
    the cheap figure counts pages that are still shared with the fork server.
    """
    if sys.platform == "darwin":
        task = _task_info(pid)
        return None if task is None else task.resident_bytes
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text("ascii").split()
        upper = (int(resident) - int(shared)) * _PAGE_BYTES
        return upper if upper <= above else _exact_private_bytes(pid)
    except (OSError, ValueError):
        return None


def _exact_private_bytes(pid: int) -> int:
    rollup = Path(f"/proc/{pid}/smaps_rollup").read_text("ascii")
    lines = (line.split() for line in rollup.splitlines() if line.startswith("Private_"))
    return sum(int(words[1]) * 1024 for words in lines)


class _TaskInfo(ctypes.Structure):
    """The beginning of macOS's `struct proc_taskinfo`."""

    _fields_ = (
        ("virtual_bytes", ctypes.c_uint64),
        ("resident_bytes", ctypes.c_uint64),
        ("user_ns", ctypes.c_uint64),
        ("system_ns", ctypes.c_uint64),
        ("rest", ctypes.c_uint8 * 64),
    )
    resident_bytes: int
    user_ns: int
    system_ns: int


def _task_info(pid: int) -> _TaskInfo | None:
    info = _TaskInfo()
    size = ctypes.sizeof(info)
    library = ctypes.CDLL("/usr/lib/libproc.dylib")
    got = library.proc_pidinfo(pid, _PROC_PIDTASKINFO, ctypes.c_uint64(0), ctypes.byref(info), size)
    return info if got == size else None
