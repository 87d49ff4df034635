"""A file of the requests that came to the port, with their answers: `localedge dev --record`."""

from __future__ import annotations

import base64
import logging
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Literal, TextIO

from pydantic import BaseModel, ConfigDict, TypeAdapter

from localedge.errors import Exit, OperatorError
from localedge.gateway.application import CONTROL_PREFIX, Application, Message, Receive, Send
from localedge.gateway.requests import Scope

logger = logging.getLogger(__name__)

LONGEST_BODY_BYTES: Final = 4 * 1024 * 1024
"""A request whose body, or answer, is longer is left out: it would be held in memory."""
_SCHEDULED: Final = "/cdn-cgi/handler/scheduled"


class _Line(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class Head(_Line):
    """The first line of the file."""

    localedge: Literal["session"] = "session"
    version: Literal[1] = 1


class Body(_Line):
    """A body: as text, or in base64 when it is none."""

    text: str = ""
    base64: str | None = None

    @classmethod
    def of(cls, data: bytes) -> Body:
        """The body `data`."""
        try:
            return cls(text=data.decode())
        except UnicodeDecodeError:
            return cls(base64=base64.b64encode(data).decode())

    @property
    def data(self) -> bytes:
        """Its bytes. Errors: ValueError when the base64 is none."""
        if self.base64 is None:
            return self.text.encode()
        return base64.b64decode(self.base64, validate=True)


class Exchanged(_Line):
    """A request and its answer; `target` is the path with the query."""

    method: str
    target: str
    headers: list[tuple[str, str]] = []
    body: Body = Body()
    status: int
    answer_headers: list[tuple[str, str]] = []
    answer: Body = Body()


LINE: Final[TypeAdapter[Head | Exchanged]] = TypeAdapter(Head | Exchanged)


@dataclass(slots=True)
class _Seen:
    """What has passed of one request."""

    body: bytearray = field(default_factory=bytearray)
    status: int = 0
    headers: list[tuple[bytes, bytes]] = field(default_factory=list)
    answer: bytearray = field(default_factory=bytearray)
    is_whole: bool = False

    @property
    def is_long(self) -> bool:
        return max(len(self.body), len(self.answer)) > LONGEST_BODY_BYTES


class Recording:
    """`application`, each request to the worker written to `file` once it is answered."""

    def __init__(self, application: Application, file: TextIO) -> None:
        self._application = application
        self._file = file

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        path = scope["path"]
        if path.startswith(CONTROL_PREFIX) and path != _SCHEDULED:
            await self._application(scope, receive, send)
            return
        seen = _Seen()

        async def received() -> Message:
            message = await receive()
            if message["type"] == "http.request" and not seen.is_long:
                seen.body += message.get("body", b"")
            return message

        async def sent(message: Message) -> None:
            if message["type"] == "http.response.start":
                seen.status, seen.headers = message["status"], [*message["headers"]]
            elif not seen.is_long:
                seen.answer += message.get("body", b"")
            seen.is_whole = message["type"] == "http.response.body" and not message.get("more_body")
            await send(message)

        await self._application(scope, received, sent)
        if seen.is_long or not seen.is_whole:
            logger.warning("a request was not recorded", extra={"path": path})
            return
        self._file.write(_exchanged(scope, seen).model_dump_json() + "\n")
        self._file.flush()


def _exchanged(scope: Scope, seen: _Seen) -> Exchanged:
    query = scope["query_string"]
    target = scope["raw_path"] + (b"?" + query if query else b"")
    return Exchanged(
        method=scope["method"],
        target=target.decode("latin-1"),
        headers=_as_text(scope["headers"]),
        body=Body.of(bytes(seen.body)),
        status=seen.status,
        answer_headers=_as_text(seen.headers),
        answer=Body.of(bytes(seen.answer)),
    )


def _as_text(lines: Any) -> list[tuple[str, str]]:
    return [(name.decode("latin-1"), value.decode("latin-1")) for name, value in lines]


@contextmanager
def recorded(path: Path | None) -> Iterator[TextIO | None]:
    """The new file at `path`, which only its owner can read: cookies and tokens are in it.

    Errors: OperatorError when it cannot be written, or is there already.
    """
    if path is None:
        yield None
        return
    try:
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except OSError as error:
        raise OperatorError(
            "record/cannot-write",
            f"{path}: {error.strerror}.",
            "Name a file that is not there yet.",
            exit=Exit.USAGE,
        ) from error
    with open(descriptor, "w", encoding="utf-8") as file:
        file.write(Head().model_dump_json() + "\n")
        file.flush()
        yield file
