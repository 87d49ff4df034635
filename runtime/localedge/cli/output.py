"""What `localedge dev` writes to stderr: its own sentences, the runtime's log, workers' lines."""

from __future__ import annotations

import logging
from typing import Final, TextIO

from localedge.isolate.facts import with_facts
from localedge.supervisor.forks import Record

_COLOURS: Final = {"error": "31", "warning": "33"}


class Printer(logging.Handler):
    """Writes to `stream`; colour only on a terminal."""

    def __init__(self, stream: TextIO) -> None:
        super().__init__()
        self._stream = stream
        self._colour = stream.isatty()

    def install(self, level: int) -> None:
        """The log of this process goes here."""
        root = logging.getLogger()
        root.handlers[:] = [self]
        root.setLevel(logging.WARNING)
        logging.getLogger("localedge").setLevel(level)

    def say(self, text: str) -> None:
        """`text` is a line of its own."""
        self._stream.write(text + "\n")
        self._stream.flush()

    def record(self, record: Record) -> None:
        """A line that worker code wrote, with the request that it belongs to."""
        pid, _, ray, level, text = record
        origin = f"[{ray[:8]}]" if ray else f"[pid {pid}]"
        mark = "" if level in ("log", "info") else f"{level}: "
        self.say(self._painted(f"{origin} {mark}{text}", level))

    def emit(self, record: logging.LogRecord) -> None:
        """A line of the runtime's own log, its facts behind the message."""
        level = record.levelname.lower()
        mark = "" if record.levelno < logging.WARNING else f"{level}: "
        text = f"{mark}{with_facts(record)}"
        details = record.__dict__.get("traceback")
        if details:
            text += f"\n{details.rstrip()}"
        if record.exc_info and record.exc_info[1] is not None:
            text += "\n" + logging.Formatter().formatException(record.exc_info)
        self.say(self._painted(text, level))

    def _painted(self, text: str, level: str) -> str:
        colour = _COLOURS.get(level)
        return f"\x1b[{colour}m{text}\x1b[0m" if colour and self._colour else text
