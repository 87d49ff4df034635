"""A request that is sent again, as it came."""

from __future__ import annotations

import asyncio
from typing import Any, Final
from urllib.parse import unquote_to_bytes

from localedge.gateway.application import Application, Message
from localedge.gateway.requests import REPLAY_OF, Scope
from localedge.supervisor.stories import Sent

REPLAY_S: Final = 60.0


async def replay(gateway: Application, sent: Sent, ray: str) -> dict[str, Any]:
    """What `gateway` answers to `sent`, the request of `ray`: status, outcome, size.

    Units: it is waited for `REPLAY_S` seconds; then `outcome` is "canceled".
    """
    answered = _Answered()
    body = _Body(sent.body)
    try:
        async with asyncio.timeout(REPLAY_S):
            await gateway(_scope(sent, ray), body.receive, answered.send)
    except TimeoutError:
        answered.outcome = "canceled"
    return {
        "replayOf": ray,
        "status": answered.status,
        "outcome": answered.outcome,
        "bytes": answered.size_bytes,
    }


class _Answered:
    """What came of it."""

    def __init__(self) -> None:
        self.status: int | None = None
        self.outcome = "ok"
        self.size_bytes = 0

    async def send(self, message: Message) -> None:
        """Take note of a part of the response."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            for name, value in message["headers"]:
                if name == b"x-localedge-outcome":
                    self.outcome = value.decode("latin-1")
        else:
            self.size_bytes += len(message.get("body", b""))


class _Body:
    """The request's body, once; its client never leaves."""

    def __init__(self, body: bytes | None) -> None:
        self._body = body or b""
        self._is_given = False

    async def receive(self) -> Message:
        """The body, whole."""
        if self._is_given:
            await asyncio.Event().wait()
        self._is_given = True
        return {"type": "http.request", "body": self._body, "more_body": False}


def _scope(sent: Sent, ray: str) -> Scope:
    _, _, rest = sent.url.partition("://")
    target = f"/{rest.partition('/')[2]}"
    path, _, query = target.partition("?")
    lines = [line for line in sent.lines if line[0] != b"content-length"]
    if sent.body is not None:
        lines.append((b"content-length", b"%d" % len(sent.body)))
    return {
        "type": "http",
        "http_version": "1.1",
        "scheme": "http",
        "method": sent.method,
        "path": unquote_to_bytes(path).decode("utf-8", "replace"),
        "raw_path": path.encode("latin-1"),
        "query_string": query.encode("latin-1"),
        "headers": lines,
        "client": ("127.0.0.1", 0),
        REPLAY_OF: ray,
    }
