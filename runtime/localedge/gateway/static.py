"""Static files in front of the worker."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, MutableMapping
from typing import Any

from localedge.gateway.requests import Request, Scope
from localedge.isolate.assets import Answer, StaticSite, pieces
from localedge.project.attached import Assets
from localedge.supervisor.history import Closing

Noted = Callable[[Request, Closing], None]
Send = Callable[[MutableMapping[str, Any]], Awaitable[None]]


async def answered_by_files(
    settings: Assets, request: Request, scope: Scope, send: Send, noted: Noted
) -> bool:
    """Whether a file, a redirect to one or its refusal has answered; else the worker has to."""
    path = scope["raw_path"].decode("latin-1")
    headers = {name.decode("latin-1"): value.decode("latin-1") for name, value in request.lines}
    site = StaticSite(settings)
    if not site.is_first(path, request.method, headers):
        return False
    query = scope["query_string"].decode("latin-1")
    answer = site.answer(path, f"?{query}" if query else "", request.method, headers)
    await _send(answer, request.method, send)
    lines = [(name.encode(), value.encode("latin-1")) for name, value in answer.headers]
    noted(request, Closing(answer.status, lines=lines))
    return True


async def _send(answer: Answer, method: str, send: Send) -> None:
    lines = [(name.encode(), value.encode("latin-1")) for name, value in answer.headers]
    is_file = answer.file is not None or (method == "HEAD" and answer.size_bytes)
    if answer.status != 304:
        size = answer.size_bytes if is_file else 0
        lines.append((b"content-length", b"%d" % size))
    await send({"type": "http.response.start", "status": answer.status, "headers": lines})
    left = answer.size_bytes
    if answer.file is not None:
        async for piece in pieces(answer.file):
            # A file that grows meanwhile must not break the length that was told.
            part = piece[:left]
            left -= len(part)
            if part:
                await send({"type": "http.response.body", "body": part, "more_body": True})
    await send({"type": "http.response.body", "body": b"", "more_body": False})
