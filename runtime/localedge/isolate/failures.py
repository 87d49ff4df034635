"""An exception of worker code as the log and the error page show it."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Frame(BaseModel):
    """One line that was being executed: `source` is the lines around it, with their numbers."""

    model_config = ConfigDict(frozen=True)

    file: str
    line: int
    function: str
    source: tuple[tuple[int, str], ...] = ()


class Failure(BaseModel):
    """What went wrong in worker code.

    Shape: `text` is the traceback as Python prints it, without our own frames; `frames` the same
    as data, innermost last.
    """

    model_config = ConfigDict(frozen=True)

    kind: str
    message: str
    text: str
    frames: tuple[Frame, ...] = ()
