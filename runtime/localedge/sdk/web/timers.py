"""setTimeout and its kin."""

from __future__ import annotations

import asyncio
import logging
from itertools import count
from typing import Any, Final

from localedge import jsmembers
from localedge.coercion import js_number
from localedge.sdk.web.streams import settled
from localedge.values import UNDEFINED, NativeFunction

logger = logging.getLogger(__name__)

_numbers: Final = count(1)
_running: Final[dict[int, asyncio.Task[None]]] = {}


def _start(callback: Any, pause_ms: Any, arguments: tuple[Any, ...], *, repeats: bool) -> int:
    number = next(_numbers)
    pause = js_number(pause_ms) if pause_ms is not UNDEFINED else 0.0
    pause_s = max(0.0, pause) / 1000 if pause == pause else 0.0
    task = asyncio.get_running_loop().create_task(_run(callback, pause_s, arguments, repeats))
    _running[number] = task
    task.add_done_callback(lambda _: _running.pop(number, None))
    return number


async def _run(callback: Any, pause_s: float, arguments: tuple[Any, ...], repeats: bool) -> None:
    while True:
        await asyncio.sleep(pause_s)
        try:
            await settled(jsmembers.invoke(callback, *arguments))
        except Exception:  # the boundary of worker code
            logger.exception("timer callback failed")
        if not repeats:
            return


def _set_timeout(callback: Any, pause_ms: Any = UNDEFINED, *arguments: Any) -> int:
    return _start(callback, pause_ms, arguments, repeats=False)


def _set_interval(callback: Any, pause_ms: Any = UNDEFINED, *arguments: Any) -> int:
    return _start(callback, pause_ms, arguments, repeats=True)


def _clear(number: Any = UNDEFINED) -> None:
    task = _running.pop(number, None) if isinstance(number, int) else None
    if task is not None:
        task.cancel()


def _queue_microtask(callback: Any) -> None:
    asyncio.get_running_loop().call_soon(jsmembers.invoke, callback)


TIMERS: Final = {
    "clearInterval": NativeFunction("clearInterval", _clear),
    "clearTimeout": NativeFunction("clearTimeout", _clear),
    "queueMicrotask": NativeFunction("queueMicrotask", _queue_microtask),
    "setInterval": NativeFunction("setInterval", _set_interval),
    "setTimeout": NativeFunction("setTimeout", _set_timeout),
}
