"""A command that reads or writes a running server's state does so at that server's time."""

from __future__ import annotations

import http.client
import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

import typer

from localedge.isolate.moved_clock import MovedClock
from localedge.supervisor.state import Run

_DEADLINE_S: Final = 2.0


@contextmanager
def its_clock(run: Run | None) -> Iterator[None]:
    """Inside, it is as late in this process as for the workers of `run`, however it was moved.

    Shape: `run` is None when no server runs: then nothing changes. A server that does not answer
    is named on stderr, and the machine's clock stays.
    """
    clock = MovedClock()
    clock.move(0.0 if run is None else _offset_s(run))
    try:
        yield
    finally:
        clock.move(0.0)


def _offset_s(run: Run) -> float:
    connection = http.client.HTTPConnection(run.host, run.port, timeout=_DEADLINE_S)
    try:
        connection.request("GET", "/cdn-cgi/localedge/clock")
        return float(json.load(connection.getresponse())["offset_s"])
    except ConnectionRefusedError:
        # It does not listen yet, so nobody has moved its clock.
        return 0.0
    except (OSError, http.client.HTTPException, ValueError, KeyError) as exc:
        typer.echo(
            f"The server at {run.url} (process {run.pid}) does not tell its time: {exc}. "
            "This command goes by the machine's clock.",
            err=True,
        )
        return 0.0
    finally:
        connection.close()
