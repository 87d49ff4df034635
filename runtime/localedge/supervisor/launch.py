"""Starts the fork server's process: the first thing that `localedge dev` does.

It imports what isolates need while this process imports what it needs itself, so this module
imports next to nothing.
"""

from __future__ import annotations

import socket
import subprocess
import sys
from typing import Final

_PACKETS: Final = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_DGRAM
_CONTROL: Final = socket.SOCK_SEQPACKET if sys.platform == "linux" else socket.SOCK_STREAM


class Launched:
    """A fork server's process and our ends of its sockets.

    It leaves by itself when `control` closes, so a command that fails before it needs one has
    nothing to clean up.
    """

    def __init__(self) -> None:
        self.control, theirs = socket.socketpair(socket.AF_UNIX, _CONTROL)
        self.log, log = socket.socketpair(socket.AF_UNIX, _PACKETS)
        numbers = (theirs.fileno(), log.fileno())
        with theirs, log:
            self.process = subprocess.Popen(
                # -P: the folder that the user is in is not where our imports come from.
                [sys.executable, "-P", "-m", f"{__package__}.forkserver", *map(str, numbers)],
                stdin=subprocess.DEVNULL,
                stdout=2,
                pass_fds=numbers,
                start_new_session=True,
            )
        for end in (self.control, self.log):
            end.setblocking(False)

    def discard(self) -> None:
        """The process is gone, if nobody has ended it in order."""
        if self.process.poll() is None:
            self.process.kill()
            self.process.wait()
        for end in (self.control, self.log):
            end.close()
