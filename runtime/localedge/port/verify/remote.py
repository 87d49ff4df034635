"""The worker at a URL: deployed, or served by pywrangler dev."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Final
from urllib.parse import urlsplit

from localedge.errors import Exit, OperatorError
from localedge.port.verify.answers import NOT_SENT, Answer, Outgoing, ask, plain_client
from localedge.port.verify.stored import State

# A proxy in between may compress what is asked for so; the worker's answer is what is compared.
_NOT_SENT: Final = frozenset({"host", "accept-encoding", "connection", "content-length"})


class Remote:
    """A server that others run: only its answers can be seen."""

    def __init__(self, url: str, headers: Mapping[str, str], patience_s: float) -> None:
        self.name = url
        self._headers = headers
        self._patience_s = patience_s
        self._client = plain_client()
        self._has_answered = False

    async def send(self, outgoing: Outgoing) -> Answer:
        """The answer to one request.

        Errors: TimeoutError when there is none in time; OperatorError (exit 4) when nobody has
        answered yet.
        """
        lines = tuple(line for line in outgoing.headers if line[0].lower() not in _NOT_SENT)
        passed = Outgoing(outgoing.method, outgoing.target, lines, outgoing.body)
        async with asyncio.timeout(self._patience_s):
            answer = await ask(self._client, self.name, passed, self._headers)
        if answer.failure is not None and not self._has_answered:
            raise OperatorError(
                "verify/unreachable",
                f"nobody answers at {self.name}: {answer.failure}.",
                "Start it, or correct --url.",
                exit=Exit.UNREACHABLE,
            )
        self._has_answered = True
        return answer

    async def cron(self, expression: str) -> str:
        """Nothing: a cron cannot be fired from outside."""
        return NOT_SENT

    async def restart(self) -> None:
        """Nothing: its process is not ours."""

    async def state(self) -> State | None:
        """None: what it has stored cannot be seen."""
        return None

    async def close(self) -> None:
        """No connection is left."""
        await self._client.aclose()


@asynccontextmanager
async def remote_side(
    url: str, headers: Mapping[str, str], *, patience_s: float
) -> AsyncIterator[Remote]:
    """What answers at `url`.

    Errors: OperatorError (exit 2) for a URL that is none.
    """
    parts = urlsplit(url)
    if parts.scheme not in ("http", "https") or not parts.netloc or parts.query or parts.fragment:
        raise OperatorError(
            "verify/bad-url",
            f"{url!r} is not the address of a worker.",
            "Give its origin, such as https://name.account.workers.dev.",
            exit=Exit.USAGE,
        )
    side = Remote(url.rstrip("/"), headers, patience_s)
    try:
        yield side
    finally:
        await side.close()
