"""Tells the parent what worker code does, while somebody looks.

A record leaves at once and by a call of the kernel, as lines of print do: what a killed isolate
was doing is known although its loop never turned again.
"""

from __future__ import annotations

import socket
import time
from collections.abc import Callable
from typing import Any, Final

from localedge.errors import JsException
from localedge.isolate.ownership import EVENT
from localedge.isolate.secrets import Mask
from localedge.isolate.showing import shown
from localedge.isolate.texts import cut
from localedge.isolate.wire import SEEN, pack
from localedge.probe import Call, Outcome, Probe
from localedge.sdk.context import given_to_wait_until

_MOST_ARGUMENTS: Final = 8


class Recorder:
    """Sends the beginning and the end of each call through `sink`, once `watch(True)` was said.

    Shape: a record is (pid, generation, ray, SEEN, facts, when by the machine's monotonic clock),
    where `facts` has `kind` and what is known of a thing of that kind.
    """

    def __init__(
        self, probe: Probe, sink: socket.socket, *, pid: int, generation: int, mask: Mask
    ) -> None:
        self._probe = probe
        self._sink = sink
        self._origin = (pid, generation)
        self._mask = mask
        self._detach: Callable[[], None] | None = None
        self._begun: dict[int, float] = {}

    def watch(self, is_wanted: bool) -> None:
        """Calls are recorded from now on, or no more: then they pass for the price of a look."""
        if is_wanted and self._detach is None:
            self._detach = self._probe.attach(self)
        elif not is_wanted and self._detach is not None:
            self._detach()
            self._detach = None
            self._begun.clear()

    async def before(self, call: Call) -> None:
        """Record that `call` begins."""
        begun = self._begun[call.number] = time.monotonic()
        subject = call.target if call.operation in ("first", "all", "run", "raw") else None
        given = call.arguments[:_MOST_ARGUMENTS]
        self._send(
            {
                "kind": "call.began",
                "call": call.number,
                "type": call.kind,
                "binding": call.binding,
                "operation": call.operation,
                "subject": shown(subject, self._mask) if subject is not None else None,
                "arguments": [shown(argument, self._mask) for argument in given],
                "waitUntil": given_to_wait_until.get(),
            },
            begun,
        )

    async def after(self, call: Call, outcome: Outcome) -> None:
        """Record how `call` ended."""
        ended = time.monotonic()
        begun = self._begun.pop(call.number, ended)
        facts: dict[str, Any] = {
            "kind": "call.ended",
            "call": call.number,
            "ms": (ended - begun) * 1000,
        }
        if outcome.error is None:
            facts["result"] = shown(outcome.value, self._mask)
        else:
            facts["error"] = cut(self._mask(_said(outcome.error)))
        self._send(facts, ended)

    def _send(self, facts: dict[str, Any], at_s: float) -> None:
        event = EVENT.get()
        ray = event.ray if event is not None else ""
        try:
            self._sink.send(pack((*self._origin, ray, SEEN, facts, at_s)))
        except OSError:
            # Nobody takes it, or it is too large for a packet: the worker goes on.
            return


def _said(error: BaseException) -> str:
    """The error with its name, which a JsException has in its text."""
    return str(error) if isinstance(error, JsException) else f"{type(error).__name__}: {error}"
