"""What worker code prints, sent to the parent at once: a killed isolate loses no line."""

from __future__ import annotations

import io
import logging
import socket
import sys
import time
import traceback
from typing import Any, Final

from localedge.isolate.facts import with_facts
from localedge.isolate.ownership import EVENT
from localedge.isolate.secrets import Mask
from localedge.isolate.wire import pack

_MOST_BYTES: Final = 32 * 1024


class Console(io.TextIOBase):
    """`sys.stdout` or `sys.stderr` of an isolate.

    Shape: each line leaves as one record (pid, generation, ray, level, text, when by the machine's
    monotonic clock), in the order of writing; `ray` is the request whose code wrote it, "" at
    import.
    """

    def __init__(
        self, sink: socket.socket, level: str, pid: int, generation: int, mask: Mask
    ) -> None:
        self._sink = sink
        self._mask = mask
        self._level = level
        self._origin = (pid, generation)
        self._partial: dict[str, str] = {}

    def writable(self) -> bool:
        """Text may be written."""
        return True

    def isatty(self) -> bool:
        """Nobody types here."""
        return False

    @property
    def encoding(self) -> str:  # type: ignore[override]  # typeshed has a plain attribute
        """Lone surrogates are replaced on the way out."""
        return "utf-8"

    def write(self, text: str, /) -> int:
        """Whole lines leave; the rest waits for its end."""
        event = EVENT.get()
        ray = event.ray if event is not None else ""
        *lines, rest = (self._partial.pop(ray, "") + text).split("\n")
        if rest:
            self._partial[ray] = rest
        for line in lines:
            self.emit(ray, self._level, line)
        return len(text)

    def flush(self) -> None:
        """Nothing is held back but the beginnings of lines, which leave as they are."""
        for ray, text in [*self._partial.items()]:
            del self._partial[ray]
            self.emit(ray, self._level, text)

    def emit(self, ray: str, level: str, text: str) -> None:
        """One record leaves; it is dropped if nobody takes it within the socket's timeout."""
        data = self._mask(text).encode("utf-8", "replace")[:_MOST_BYTES]
        try:
            text = data.decode("utf-8", "replace")
            self._sink.send(pack((*self._origin, ray, level, text, time.monotonic())))
        except OSError:
            return


class _Handler(logging.Handler):
    def __init__(self, console: Console) -> None:
        super().__init__()
        self._console = console

    def emit(self, record: logging.LogRecord) -> None:
        event = EVENT.get()
        is_ours = record.name.partition(".")[0] == "localedge"
        text = with_facts(record) if is_ours else record.getMessage()
        if record.exc_info and record.exc_info[1] is not None:
            text += "\n" + "".join(traceback.format_exception(record.exc_info[1])).rstrip("\n")
        level = "error" if record.levelno >= logging.ERROR else "warning"
        if record.levelno < logging.WARNING:
            level = "info"
        self._console.emit(event.ray if event is not None else "", level, text)


def install(sink: socket.socket, *, pid: int, generation: int, mask: Mask) -> None:
    """`print`, `sys.stderr` and `logging` of this process speak through `sink`."""
    streams: dict[str, Any] = {
        "stdout": Console(sink, "log", pid, generation, mask),
        "stderr": Console(sink, "error", pid, generation, mask),
    }
    sys.stdout, sys.stderr = streams["stdout"], streams["stderr"]
    root = logging.getLogger()
    root.handlers[:] = [_Handler(streams["stderr"])]
    root.setLevel(logging.INFO)
    logging.getLogger("httpx").setLevel(logging.WARNING)
