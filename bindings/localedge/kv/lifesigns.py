"""Whether a server that does not answer is at work or stopped, as far as the kernel tells.

Source: Linux man pages unix(7) (SO_PEERCRED) and proc_pid_stat(5), read 2026-12-01.
"""

from __future__ import annotations

import contextlib
import socket
import struct
import sys
from pathlib import Path
from typing import Final

_AT_WORK: Final = frozenset("RD")
_STOPPED: Final = frozenset("TtZXx")


def is_at_work(socket_path: str) -> bool | None:
    """True if the server behind the socket runs or waits for a disk, False if it is stopped.

    Shape: None when that cannot be known: it sleeps, or the system has no such file.
    """
    if sys.platform != "linux":
        return None
    with contextlib.suppress(OSError, ValueError, IndexError):
        state = _state(_peer(socket_path))
        if state in _AT_WORK:
            return True
        if state in _STOPPED:
            return False
    return None


def _peer(socket_path: str) -> int:
    """The process that listens on the socket."""
    with socket.socket(socket.AF_UNIX) as asking:
        asking.setblocking(False)
        asking.connect(socket_path)
        credentials = asking.getsockopt(
            socket.SOL_SOCKET, socket.SO_PEERCRED, struct.calcsize("3i")
        )
    pid: int = struct.unpack("3i", credentials)[0]
    return pid


def _state(pid: int) -> str:
    # The name before it is in parentheses and may have any character.
    return Path(f"/proc/{pid}/stat").read_text("utf-8", "replace").rpartition(") ")[2][0]
