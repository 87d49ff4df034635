"""The last calls of an isolate, in memory that outlives it: where it was when it died.

It is a small file that the isolate has mapped. To write to it is to write to memory, so it is done
for every call, whether anybody looks or not; what was written is there although the process was
killed.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter
from typing import Any

from localedge.d1.database import D1PreparedStatement
from localedge.isolate import steps
from localedge.isolate.ownership import EVENT
from localedge.tally import Begin, Tally


def keep_trail(tally: Tally, state: Path) -> None:
    """What is told to `tally` is written to this process's file in the state's folder too."""
    memory = _mapped(steps.path_of(state, os.getpid()))
    whole = memoryview(memory)
    tally.ends = whole[steps.ENDS].cast("d")
    tally.begin = _begin(memory, whole[steps.BEGINS].cast("d"), whole[steps.EVENTS].cast("Q"))


def _begin(memory: mmap.mmap, begins: memoryview[float], events: memoryview[int]) -> Begin:
    """Notes a call. A function with what it needs at hand: it is on the way of every call."""
    count = 0
    mask, size, start = steps.CALLS - 1, steps.TEXT_BYTES, steps.TEXTS
    event_now, now = EVENT.get, perf_counter

    def begin(binding: str, operation: str, given: Sequence[Any], target: object) -> float:
        nonlocal count
        place = count & mask
        count += 1
        if type(target) is D1PreparedStatement:
            what = _one_line(target.statement, size)
        else:
            what = given[0] if given else ""
            if type(what) is not str:
                what = _one_line(_first_statement(what), size)
        text = f"{binding}\0{operation}\0{what}\n".encode("utf-8", "replace")[:size]
        where = start + place * size
        memory[where : where + len(text)] = text
        event = event_now()
        events[place] = event.number if event is not None else 0
        begins[place] = at = now()
        return at

    return begin


def _first_statement(batch: object) -> str:
    first = batch[0] if isinstance(batch, list) and batch else None
    return str(first.statement) if isinstance(first, D1PreparedStatement) else ""


def _one_line(statement: object, size: int) -> str:
    # Whatever was given to `prepare`: nothing has looked at it yet.
    return str(statement)[:size].strip().replace("\n", " ")


def _mapped(file: Path) -> mmap.mmap:
    file.parent.mkdir(exist_ok=True)
    descriptor = os.open(file, os.O_RDWR | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o600)
    try:
        os.ftruncate(descriptor, steps.FILE_BYTES)
        return mmap.mmap(descriptor, steps.FILE_BYTES)
    finally:
        os.close(descriptor)
