"""One isolate: takes events from the parent, runs the worker's handlers, streams both ways."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from typing import Any, Final, overload

from localedge.binding import EnvWrapper
from localedge.isolate.connection_facts import FACTS
from localedge.isolate.ownership import EVENT, Event
from localedge.isolate.rpc_values import pack, unpack
from localedge.isolate.secrets import Mask
from localedge.isolate.tracebacks import failure_of
from localedge.isolate.wire import (
    CANCEL,
    CHUNK_BYTES,
    CREDIT,
    DATA,
    END,
    OPEN,
    OVER,
    Channel,
    Frame,
    Inbox,
    Window,
)
from localedge.sdk import web
from localedge.sdk.dispatch import Worker
from localedge.stream import ReadableStream

logger = logging.getLogger(__name__)

WAIT_UNTIL_S: Final = 30.0
"""How long `waitUntil` goes on after the response. Source: kv-d1-contract section 5."""


class HeaderPairs(Sequence[tuple[str, str]]):
    """Header lines as they came, decoded when somebody looks: many workers never do."""

    __slots__ = ("_lines",)

    def __init__(self, lines: tuple[tuple[bytes, bytes], ...]) -> None:
        self._lines = lines

    def __iter__(self) -> Iterator[tuple[str, str]]:
        for name, value in self._lines:
            yield name.decode("latin-1"), value.decode("utf-8", "replace")

    def __len__(self) -> int:
        return len(self._lines)

    @overload
    def __getitem__(self, index: int) -> tuple[str, str]: ...
    @overload
    def __getitem__(self, index: slice) -> Sequence[tuple[str, str]]: ...
    def __getitem__(self, index: int | slice) -> tuple[str, str] | Sequence[tuple[str, str]]:
        return list(self)[index]


class _Streams:
    """The two bodies of one event."""

    __slots__ = ("inbox", "window")

    def __init__(self) -> None:
        self.inbox: Inbox | None = None
        self.window: Window | None = None


class Serving:
    """The worker's side of the channel.

    Shape: `events` holds what is under way, `waitUntil` included.
    """

    def __init__(self, worker: Worker, env: EnvWrapper, channel: Channel, mask: Mask) -> None:
        self._worker = worker
        self._env = env
        self._send = channel.send
        self._mask = mask
        self._loop = asyncio.get_running_loop()
        self.events: dict[int, Event] = {}
        self._streams: dict[int, _Streams] = {}
        self._actions: dict[int, Callable[[Frame], None]] = {
            OPEN: self._open,
            DATA: self._data,
            END: self._end,
            CANCEL: self._cancel,
            CREDIT: self._credit,
        }

    def received(self, frame: Frame) -> None:
        """Act on a frame of the parent."""
        self._actions[frame[0]](frame)

    def _open(self, frame: Frame) -> None:
        number = frame[1]
        if frame[2] == "fetch":
            event = Event(number, frame[7], frame[5])
            # The body's first frames may come before the task has run its first line.
            body = self._incoming(number) if frame[6] is True else frame[6]
            work = self._fetch(event, frame, body)
        elif frame[2] == "service":
            event = Event(number, frame[7], frame[5], props=frame[9])
            body = self._incoming(number) if frame[6] is True else frame[6]
            work = self._fetch(event, frame[:8], body, entrypoint=frame[8])
        elif frame[2] == "call":
            event = Event(number, frame[6], frame[8], props=frame[7])
            work = self._call(event, frame)
        else:
            event = Event(number, frame[5])
            work = self._scheduled(event, frame)
        self.events[number] = event
        event.main = asyncio.Task(work, loop=self._loop)

    def _data(self, frame: Frame) -> None:
        streams = self._streams.get(frame[1])
        if streams is not None and streams.inbox is not None:
            streams.inbox.put(frame[2])

    def _end(self, frame: Frame) -> None:
        streams = self._streams.get(frame[1])
        if streams is not None and streams.inbox is not None:
            streams.inbox.close()

    def _cancel(self, frame: Frame) -> None:
        event = self.events.get(frame[1])
        if event is None or event.main is None or event.has_ended:
            return
        event.main.cancel()
        if not event.has_begun:
            # A task that is cancelled before its first step never runs: we answer in its place.
            del self.events[event.number]
            self._streams.pop(event.number, None)
            self._send((END, event.number, "canceled", None))
            self._send((OVER, event.number))

    def _credit(self, frame: Frame) -> None:
        streams = self._streams.get(frame[1])
        if streams is not None and streams.window is not None:
            streams.window.add(frame[2])

    async def _fetch(
        self,
        event: Event,
        frame: Frame,
        body: bytes | ReadableStream | None,
        *,
        entrypoint: str | None = None,
    ) -> None:
        _, number, _, method, url, lines, _, _ = frame
        event.has_begun = True
        EVENT.set(event)
        try:
            request = web.Request(method, url, HeaderPairs(lines), body, FACTS.copy())
            # Whoever passes it on passes redirects on too, as on the platform.
            request.redirect = "manual"
            response = await self._worker.fetch(request, self._env, event.context, entrypoint)
            if isinstance(response.body, ReadableStream) or (
                response.body is not None and len(response.body) > CHUNK_BYTES
            ):
                await self._stream(event, response)
            else:
                self._answer(event, response)
                if not event.tasks and not event.context.has_tasks():
                    del self.events[number]
                    if self._streams:
                        self._streams.pop(number, None)
                    return
        except BaseException as error:  # noqa: BLE001  (the boundary of worker code)
            self._send((END, number, *self._ending(error)))
        await self._finish(event)

    def _answer(self, event: Event, response: web.Response) -> None:
        is_over = not event.tasks and not event.context.has_tasks()
        self._send(
            (OPEN, event.number, response.status, _lines(response), response.body or b"", is_over)
        )

    async def _stream(self, event: Event, response: web.Response) -> None:
        number = event.number
        window = self._streams_of(number).window = Window()
        self._send((OPEN, number, response.status, _lines(response), None, False))
        async for chunk in _chunks(response.body):
            for start in range(0, len(chunk), CHUNK_BYTES):
                piece = chunk[start : start + CHUNK_BYTES]
                await window.take(len(piece))
                self._send((DATA, number, piece))
        self._send((END, number, "ok", None))

    async def _scheduled(self, event: Event, frame: Frame) -> None:
        _, number, _, cron, time_ms, _ = frame
        event.has_begun = True
        EVENT.set(event)
        outcome: str = "ok"
        detail: dict[str, Any] | None = None
        try:
            controller = await self._worker.scheduled(cron, time_ms, self._env, event.context)
            detail = {"noRetry": not controller.retries}
        except BaseException as error:  # noqa: BLE001  (the boundary of worker code)
            outcome, detail = self._ending(error)
        self._send((END, number, outcome, detail))
        await self._finish(event)

    async def _call(self, event: Event, frame: Frame) -> None:
        _, number, _, entrypoint, method, arguments, _, _, _ = frame
        event.has_begun = True
        EVENT.set(event)
        outcome: str = "ok"
        detail: Any = None
        try:
            given = unpack(arguments)
            detail = pack(
                await self._worker.call(entrypoint, method, given, self._env, event.context)
            )
        except BaseException as error:  # noqa: BLE001  (the boundary of worker code)
            outcome, detail = self._ending(error)
        self._send((END, number, outcome, detail))
        await self._finish(event)

    def _ending(self, error: BaseException) -> tuple[str, dict[str, Any] | None]:
        """The outcome of an event that ended with `error`, and what is told of it."""
        task = asyncio.current_task()
        # A worker can raise CancelledError too: a task that it waited for was cancelled.
        if isinstance(error, asyncio.CancelledError) and task is not None and task.cancelling():
            return "canceled", None
        return "exception", failure_of(error, self._mask).model_dump()

    async def _finish(self, event: Event) -> None:
        """What outlives the response goes on for at most `WAIT_UNTIL_S`; the rest is cancelled."""
        event.has_ended = True
        event.cancel_strays()
        try:
            if event.context.has_tasks():
                await event.context.drain(WAIT_UNTIL_S)
        finally:
            event.cancel_all()
            self.events.pop(event.number, None)
            self._streams.pop(event.number, None)
            self._send((OVER, event.number))

    def _incoming(self, number: int) -> ReadableStream:
        def consumed(size: int) -> None:
            self._send((CREDIT, number, size))

        inbox = self._streams_of(number).inbox = Inbox(consumed)
        return ReadableStream(_pieces(inbox))

    def _streams_of(self, number: int) -> _Streams:
        return self._streams.setdefault(number, _Streams())


def _lines(response: web.Response) -> list[tuple[bytes, bytes]]:
    return [
        (name.encode("latin-1"), value.encode("utf-8")) for name, value in response.headers.raw()
    ]


async def _pieces(inbox: Inbox) -> AsyncIterator[bytes]:
    while (piece := await inbox.get()) is not None:
        yield piece


async def _chunks(body: bytes | ReadableStream | None) -> AsyncIterator[bytes]:
    if isinstance(body, ReadableStream):
        async for chunk in body:
            yield bytes(chunk)
    elif body:
        yield body
