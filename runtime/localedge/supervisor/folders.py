"""Private temporary folders for sockets, and the end of those that a killed process left."""

from __future__ import annotations

import fcntl
import os
import shutil
import stat
import tempfile
import time
from math import inf
from pathlib import Path
from typing import Final

_PREFIX: Final = "localedge-"
_MAY_BE_NEW_S: Final = 60.0


class SocketFolder:
    """A new folder (0700) with a path short enough for the socket `name` in it.

    Shape: it is ours until `remove`, or until this process ends: the next one that makes a folder
    takes it away then.
    """

    def __init__(self, name: str, *, most_bytes: int) -> None:
        parent = Path(tempfile.gettempdir())
        if len(os.fsencode(parent / f"{_PREFIX}12345678" / name)) > most_bytes:
            parent = Path("/tmp")
        remove_left_behind(parent)
        self.path = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
        self._hold = os.open(self.path, os.O_RDONLY | os.O_CLOEXEC)
        fcntl.flock(self._hold, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def remove(self) -> None:
        """It is gone with all that is in it. A second removal changes nothing."""
        shutil.rmtree(self.path, ignore_errors=True)
        if self._hold >= 0:
            os.close(self._hold)
            self._hold = -1


def remove_left_behind(parent: Path, *, older_than_s: float = _MAY_BE_NEW_S) -> None:
    """Folders of ours in `parent` that no living process holds are gone.

    Shape: one that was made less than `older_than_s` ago stays: its maker may be about to hold it.
    """
    for path in parent.glob(f"{_PREFIX}????????"):
        remove_unheld(path, made_before=time.time() - older_than_s)


def remove_unheld(path: Path, *, made_before: float = inf) -> None:
    """`path` is gone, if it is a folder of ours that no living process holds."""
    if not _is_ours(path, made_before):
        return
    try:
        hold = os.open(path, os.O_RDONLY | os.O_CLOEXEC | os.O_NOFOLLOW)
    except OSError:
        return
    try:
        fcntl.flock(hold, fcntl.LOCK_EX | fcntl.LOCK_NB)
        shutil.rmtree(path, ignore_errors=True)
    except OSError:
        return
    finally:
        os.close(hold)


def _is_ours(path: Path, made_before: float) -> bool:
    try:
        about = path.lstat()
    except OSError:
        return False
    is_private = stat.S_ISDIR(about.st_mode) and about.st_mode & 0o777 == 0o700
    is_named = path.name.startswith(_PREFIX)
    return is_named and is_private and about.st_uid == os.getuid() and about.st_mtime < made_before
