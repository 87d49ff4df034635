"""The last inserted rowid of a database, shared by the isolates that have it open.

On the platform a database has one connection, and its last rowid is sticky: every later result
shows it. Here each isolate has a connection, so the number lies in eight shared bytes beside the
file. Whoever opens a database that nobody has open starts again at zero.
"""

from __future__ import annotations

import fcntl
import logging
import mmap
import os
from pathlib import Path

logger = logging.getLogger(__name__)


class SharedRowId:
    """One number, shared through the file at `path`, or private when `path` is None.

    A file that cannot be written makes it private too: that is worth a log line, no error.
    """

    def __init__(self, path: Path | None) -> None:
        self._descriptor = -1
        self._memory: mmap.mmap | None = None
        self._view = memoryview(bytearray(8)).cast("q")
        if path is not None:
            try:
                self._share(path)
            except OSError as exc:
                # Others wait for the lock of a descriptor that stays open.
                self._close_file()
                logger.warning("last_row_id not shared", extra={"path": str(path), "why": str(exc)})

    def _share(self, path: Path) -> None:
        descriptor = self._descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            pass
        else:
            # Written, not truncated: a hole in a file on a full disk kills whoever touches it.
            os.pwrite(descriptor, bytes(8), 0)
        fcntl.flock(descriptor, fcntl.LOCK_SH)
        self._memory = mmap.mmap(descriptor, 8)
        self._view = memoryview(self._memory).cast("q")

    @property
    def value(self) -> int:
        """The number as it is now."""
        return self._view[0]

    @value.setter
    def value(self, row_id: int) -> None:
        self._view[0] = row_id

    def close(self) -> None:
        """Let go of the file. The value then no longer changes."""
        last = self.value
        self._view.release()
        self._view = memoryview(last.to_bytes(8, "little", signed=True)).cast("q")
        if self._memory is not None:
            self._memory.close()
            self._memory = None
        self._close_file()

    def _close_file(self) -> None:
        if self._descriptor >= 0:
            os.close(self._descriptor)
            self._descriptor = -1
