"""What a line of our own log knows beside its message, which is a constant."""

from __future__ import annotations

import logging
from typing import Final

_HIDDEN: Final = frozenset(logging.LogRecord("", 0, "", 0, "", None, None).__dict__) | {
    "message",
    "asctime",
    "taskName",
    "color_message",
    "traceback",
}


def with_facts(record: logging.LogRecord) -> str:
    """The message of `record` with what its `extra` holds behind it, as name=value."""
    facts = " ".join(
        f"{name}={value}"
        for name, value in record.__dict__.items()
        if name not in _HIDDEN and value is not None
    )
    return f"{record.getMessage()}{'  ' if facts else ''}{facts}"
