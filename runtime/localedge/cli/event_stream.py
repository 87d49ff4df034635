"""What happens in a running server, followed from a command line."""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterable, Iterator
from queue import Empty, SimpleQueue
from typing import Any, Final, TypeVar

import httpx
import typer

from localedge.errors import Exit, OperatorError
from localedge.supervisor.state import Run

T = TypeVar("T")
_QUIET_S: Final = 40.0
"""The server says every 10 seconds that it is still there."""
_CONNECT_S: Final = 5.0


def happenings(
    run: Run,
    *,
    after: int | None,
    follow: bool = True,
    on_connected: Callable[[], None] = lambda: None,
) -> Iterator[dict[str, Any]]:
    """What happens from now on, or behind the number `after`, until the server ends.

    Shape: `on_connected` is called when nothing is missed any more. Without `follow`, up to the
    newest that there was at the beginning. What was missed because this reader was too slow is
    told on stderr.
    Errors: OperatorError (exit 4) when the server does not answer.
    """
    parameters = {} if after is None else {"after": after}
    newest = 0
    try:
        with httpx.stream(
            "GET",
            f"{run.url}/cdn-cgi/localedge/api/events",
            params=parameters,
            timeout=httpx.Timeout(_QUIET_S, connect=_CONNECT_S),
            trust_env=False,
        ) as response:
            _check(run, response)
            for event, data in messages(response.iter_lines()):
                if event == "hello":
                    newest = data["newest"]
                    on_connected()
                elif event == "lost":
                    typer.echo(f"Missed {data['count']} happenings: too many at once.", err=True)
                else:
                    yield data
                if not follow and (newest == 0 or data.get("number", 0) >= newest):
                    return
    except httpx.RemoteProtocolError:
        # It ended in the middle of a message, as by SIGKILL.
        return
    except httpx.HTTPError as exc:
        raise OperatorError(
            "server/no-answer",
            f"the server at {run.url} (pid {run.pid}) does not answer: {exc}.",
            "Look whether it still runs: localedge dev.",
            exit=Exit.UNREACHABLE,
        ) from exc


def ticking(items: Iterator[T], *, every_s: float) -> Iterator[T | None]:
    """The `items` as they come, and None whenever there was none for `every_s` seconds.

    Errors: those of `items`.
    """
    arrived: SimpleQueue[T | BaseException | None] = SimpleQueue()

    def read() -> None:
        try:
            for item in items:
                arrived.put(item)
        except BaseException as error:  # noqa: BLE001  (raised where it is waited for)
            arrived.put(error)
        else:
            arrived.put(None)

    threading.Thread(target=read, daemon=True).start()
    while True:
        try:
            item = arrived.get(timeout=every_s)
        except Empty:
            yield None
            continue
        if item is None:
            return
        if isinstance(item, BaseException):
            raise item
        yield item


def messages(lines: Iterable[str]) -> Iterator[tuple[str, dict[str, Any]]]:
    """The messages of a stream of server-sent events: the name, "" without one, and the data.

    Source: html.spec.whatwg.org/multipage/server-sent-events.html section 9.2.6, read 2026-12-01.
    """
    event, data = "", ""
    for line in lines:
        if not line:
            if data:
                yield event, json.loads(data)
            event, data = "", ""
            continue
        name, _, value = line.partition(":")
        if name == "event":
            event = value.removeprefix(" ")
        elif name == "data":
            data += value.removeprefix(" ")


def _check(run: Run, response: httpx.Response) -> None:
    if response.is_error:
        response.read()
        raise OperatorError(
            "server/refused",
            f"{run.url}: {response.text.strip()}",
            "An older localedge may run there: end it, and start it again with localedge dev.",
        )
