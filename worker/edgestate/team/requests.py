"""Work that takes a while, done once for each request id, whoever asks and however often."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Any, Final

from pydantic import JsonValue

from edgestate import clock
from edgestate.d1_call import GuardRefused
from edgestate.d1_leases import positive_ttl
from edgestate.errors import FenceLost
from edgestate.keys import check_id
from edgestate.team.desk import Desk
from edgestate.team.record import says
from edgestate.team.sql import writing
from edgestate.team.tracing import trace_id
from edgestate.team.writes import Write, fingerprint, new_id, text_of

CLAIM_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class RequestClaim:
    """A request that is ours to carry out, until its time is over."""

    request_id: str
    fence: int


class Requests:
    """Requests that were seen, by id."""

    def __init__(self, desk: Desk) -> None:
        self._desk = desk

    async def once(
        self,
        request_id: str,
        operation: str,
        body: JsonValue,
        work: Callable[[], Awaitable[tuple[JsonValue, tuple[Write, ...]]]],
        *,
        ttl_s: float = CLAIM_S,
    ) -> Any:
        """What `work` answered, once for all callers with this id.

        Shape: `work` returns the answer and the writes that go with it in one batch.
        Errors: RequestMismatch (422) for another body, RequestInProgress (409) while another
        carries it out; FenceLost if it took longer than `ttl_s` and another took over.
        """
        claim = await self.claim(request_id, operation, body, ttl_s=ttl_s)
        if not isinstance(claim, RequestClaim):
            return claim.answer
        answer, writes = await work()
        await self.finish(claim, answer, *writes)
        return answer

    async def claim(
        self, request_id: str, operation: str, body: JsonValue, *, ttl_s: float = CLAIM_S
    ) -> RequestClaim | Answered:
        """The request is ours, or it was answered before. Errors: as for `once`.

        A claim whose answer was lost is sent again and is still this one claim. If no answer comes
        at all (StoreUnavailable), it may be there: then others get 409 until its time is over.
        """
        check_id("request", request_id)
        now = clock.now()
        write = Write(operation, request_id, body, ())
        values = (
            self._desk.me,
            operation,
            fingerprint(write),
            int((now + positive_ttl(ttl_s)) * 1000),
            int(now * 1000),
            trace_id(),
            new_id("claim"),
        )
        (rows,) = await self._desk.send(says(writing.CLAIM_REQUEST, request_id, *values))
        if rows:
            return RequestClaim(request_id, rows[0]["fence"])
        return Answered(await self._desk.earlier(request_id, write, anyone=True))

    async def finish(self, claim: RequestClaim, answer: JsonValue, *writes: Write) -> None:
        """The answer is stored, with all that `writes` change, in one batch.

        Errors: FenceLost if another carries the request out by now; nothing was written.
        """
        whole = Write("finish", claim.request_id, claim.request_id, (), effects=writes)
        statements = [
            *self._desk.guards(*whole.all),
            says(writing.FINISH_REQUEST, claim.request_id, claim.fence, text_of(answer)),
            says(writing.GUARD_REQUEST),
            *(statement for write in whole.all for statement in write.statements),
        ]
        try:
            await self._desk.send(*statements)
        except GuardRefused as error:
            if error.reason != "request_lost":
                raise await self._desk.refusal(whole, error.reason) from error
            (rows,) = await self._desk.read(says(writing.SELECT_REQUEST, claim.request_id))
            fence = rows[0]["fence"] if rows else None
            # Sent again because its answer was lost, it finds what it stored itself.
            if fence != claim.fence or rows[0]["status"] != "done":
                await self._desk.count_refusal(error.reason)
                raise FenceLost(claim.request_id, claim.fence, fence) from error

    async def sweep(self, *, older_than_s: float, limit: int = 500) -> int:
        """How many answers, older than that, are forgotten now."""
        before = int((clock.now() - older_than_s) * 1000)
        (rows,) = await self._desk.send(says(writing.SWEEP_REQUESTS, before, limit))
        return len(rows)


@dataclass(frozen=True, slots=True)
class Answered:
    """The request was carried out before, and this was the answer."""

    answer: Any
