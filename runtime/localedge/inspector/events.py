"""What happens, as it happens: server-sent events."""

from __future__ import annotations

import asyncio
import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Final

from starlette.requests import Request
from starlette.responses import Response, StreamingResponse

from localedge.inspector.inspection import Inspection

_QUIET_S: Final = 10.0
_PAUSE_S: Final = 0.05
_MOST_AT_ONCE: Final = 200
_RETRY_MS: Final = 1000
_NUMBER: Final = re.compile(r"[0-9]{1,15}")


def events(inspection: Inspection) -> Callable[[Request], Awaitable[Response]]:
    """The endpoint of the stream.

    Shape: `after=N` begins behind that number, 0 with all that is kept; without it, with what
    happens next. `kinds=request,console` are beginnings of the kinds that are wanted. A browser
    that comes back says in `last-event-id` what it had.
    """

    async def endpoint(request: Request) -> Response:
        given = request.headers.get("last-event-id") or request.query_params.get("after")
        newest = inspection.history.ring.newest
        after = int(given) if given is not None and _NUMBER.fullmatch(given) else newest
        # A number that is not reached yet is one of another run of the server.
        after = after if after <= newest else 0
        kinds = tuple(filter(None, request.query_params.get("kinds", "").split(",")))
        return StreamingResponse(
            _stream(inspection, after, kinds),
            media_type="text/event-stream",
            headers={"cache-control": "no-store", "x-accel-buffering": "no"},
        )

    return endpoint


async def _stream(
    inspection: Inspection, after: int, kinds: tuple[str, ...]
) -> AsyncIterator[bytes]:
    history, ring = inspection.history, inspection.history.ring
    history.look()
    yield _message("hello", {"server": inspection.server, "newest": ring.newest}, retry=True)
    while not ring.is_closed:
        history.look()
        batch = ring.after(after, _MOST_AT_ONCE)
        if not batch:
            await ring.grows(after, within_s=_QUIET_S)
            if ring.newest == after:
                yield b": still here\n\n"
            continue
        lost = batch[0].number - after - 1
        after = batch[-1].number
        wanted = [one for one in batch if not kinds or one.kind.startswith(kinds)]
        messages = [_message(None, one.shown(), number=one.number) for one in wanted]
        if lost > 0:
            messages.insert(0, _message("lost", {"count": lost}))
        if messages:
            yield b"".join(messages)
        # Many at once cost both sides less than one by one.
        await asyncio.sleep(_PAUSE_S)


def _message(
    event: str | None, data: object, *, number: int | None = None, retry: bool = False
) -> bytes:
    lines = [f"retry: {_RETRY_MS}"] if retry else []
    if event is not None:
        lines.append(f"event: {event}")
    if number is not None:
        lines.append(f"id: {number}")
    # JSON has no line break of its own.
    lines.append(f"data: {json.dumps(data, ensure_ascii=False)}")
    return ("\n".join(lines) + "\n\n").encode("utf-8", "replace")
