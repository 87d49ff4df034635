"""What the views look at."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Final
from uuid import uuid4

from starlette.responses import JSONResponse

from localedge.gateway.application import Application
from localedge.supervisor.history import History
from localedge.supervisor.supervisor import Supervisor

PREFIX: Final = "/cdn-cgi/localedge"


@dataclass(frozen=True, slots=True)
class Inspection:
    """A running server, as the page sees it.

    Shape: `gateway` answers requests as the port does; `server` names this run of the server, so
    that a page notices another.
    """

    supervisor: Supervisor
    gateway: Application
    server: str = field(default_factory=lambda: uuid4().hex)

    @property
    def history(self) -> History:
        """What has happened."""
        return self.supervisor.history


def api(path: str) -> str:
    """The address of `path` in the API."""
    return f"{PREFIX}/api/{path}"


def answer(content: Mapping[str, Any], status: int = 200) -> JSONResponse:
    """`content` as the answer of the API, which nobody keeps."""
    return JSONResponse(content, status, headers={"cache-control": "no-store"})
