"""One request to a side, and what came back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final, Protocol

import httpx

from localedge.errors import Exit, OperatorError
from localedge.port.verify.plan import Lines
from localedge.port.verify.stored import State

OUTCOME: Final = "x-localedge-outcome"
LATE: Final = "no answer in time"
NOT_SENT: Final = "not sent"


@dataclass(frozen=True, slots=True)
class Outgoing:
    """A request as one side gets it."""

    method: str
    target: str
    headers: Lines
    body: bytes


@dataclass(frozen=True, slots=True)
class Answer:
    """What one side answered.

    Shape: `outcome` is how the event went where the side says so; `is_cut` when the connection
    ended before the body did; `failure` is why there is no answer at all.
    """

    status: int = 0
    headers: Lines = ()
    body: bytes = b""
    outcome: str | None = None
    is_cut: bool = False
    failure: str | None = None


class Side(Protocol):
    """The worker somewhere: on our server, on the real parts, at a URL."""

    @property
    def name(self) -> str:
        """What people call it."""

    async def send(self, outgoing: Outgoing) -> Answer:
        """The answer to one request. Errors: TimeoutError when there is none in time."""

    async def cron(self, expression: str) -> str:
        """How the `scheduled` handler ended. Errors: TimeoutError."""

    async def restart(self) -> None:
        """Another process serves, over the same stores."""

    async def state(self) -> State | None:
        """All that is stored, once nothing is left to do; None where it cannot be seen."""


async def ask(
    client: httpx.AsyncClient, url: str, outgoing: Outgoing, extra: Mapping[str, str]
) -> Answer:
    """The answer of the server at `url`; `extra` headers are for the server, not the worker.

    Shape: nothing is added to the request, no cookie of an earlier answer either; no redirect is
    followed, no body is decoded.
    Errors: OperatorError (exit 2) for a request that HTTP does not allow.
    """
    client.cookies.clear()
    headers = [*outgoing.headers, *extra.items()]
    request = client.build_request(
        outgoing.method, url + outgoing.target, headers=headers, content=outgoing.body or None
    )
    try:
        response = await client.send(request, stream=True)
    except (httpx.LocalProtocolError, httpx.UnsupportedProtocol) as error:
        raise OperatorError(
            "verify/cannot-send",
            f"{outgoing.method} {outgoing.target} cannot be sent: {error}.",
            "Correct that step of the plan: HTTP has no such request.",
            exit=Exit.USAGE,
        ) from error
    except httpx.TransportError as error:
        return Answer(failure=f"{type(error).__name__}: {error}")
    pieces, is_cut = [], False
    try:
        async for piece in response.aiter_raw():
            pieces.append(piece)
    except httpx.TransportError:
        is_cut = True
    finally:
        await response.aclose()
    return Answer(
        status=response.status_code,
        headers=tuple(response.headers.multi_items()),
        body=b"".join(pieces),
        outcome=response.headers.get(OUTCOME),
        is_cut=is_cut,
    )


def plain_client() -> httpx.AsyncClient:
    """A client that sends what it is told to and nothing of its own; deadlines are the caller's."""
    client = httpx.AsyncClient(trust_env=False, timeout=None)
    client.headers.clear()
    return client
