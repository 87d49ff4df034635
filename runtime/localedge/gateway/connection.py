"""One HTTP connection: uvicorn's protocol, with the limits and hooks that it lacks."""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable
from typing import Final

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

logger = logging.getLogger(__name__)

MOST_HEADER_BYTES: Final = 128 * 1024
"""URL and headers of a request. Source: kv-d1-contract section 5, read 2026-12-01."""
MOST_URL_BYTES: Final = 16 * 1024
SLOW_HEADERS_S: Final = 30.0

CONNECTION: Final = "localedge.connection"
"""The key of a request's scope that holds its connection."""


_BODY: Final = (b"content-length", b"transfer-encoding")
_VERSIONS: Final = ("1.1", "1.0")


class Refused(Exception):  # noqa: N818  (what we did)
    """The request was answered already: nothing of it is read on."""


class _Dropped(list[tuple[bytes, bytes]]):
    """Takes the trailers of a chunked body, which are no headers, and keeps none."""

    def append(self, _line: tuple[bytes, bytes], /) -> None:
        return


_TRAILERS: Final = _Dropped()


class Connection(HttpToolsProtocol):
    """A connection that says when its client left, and does not wait for ever for headers.

    Shape: `on_disconnect` is called once when the client is gone; whoever answers a request sets
    it and takes it off again. `is_lost` once it is gone.
    """

    on_disconnect: Callable[[], None] | None = None
    is_lost: bool = False
    waits_since: float | None = None
    _header_bytes: int = 0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Called by the loop with a new client."""
        super().connection_made(transport)
        self.waits_since = time.monotonic()

    def connection_lost(self, exc: Exception | None) -> None:
        """Called by the loop when the client is gone."""
        self.is_lost = True
        on_disconnect, self.on_disconnect = self.on_disconnect, None
        if on_disconnect is not None:
            on_disconnect()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Called by the loop with what the client sent."""
        if self.waits_since is not None:
            self._header_bytes += len(data)
            if self._header_bytes > MOST_HEADER_BYTES + MOST_URL_BYTES:
                self.refuse(b"431 Request Header Fields Too Large")
                return
        super().data_received(data)

    def on_message_begin(self) -> None:
        """Called by the parser at the first byte of a request."""
        super().on_message_begin()
        self.scope[CONNECTION] = self  # type: ignore[typeddict-unknown-key]
        if self.waits_since is None:
            self.waits_since = time.monotonic()

    def on_headers_complete(self) -> None:
        """Called by the parser when the headers of a request are whole."""
        self.waits_since = None
        self._header_bytes = 0
        refusal = self._refusal()
        if refusal is not None:
            self.refuse(refusal)
            raise Refused
        super().on_headers_complete()
        # The parser goes on to call `on_header` for trailers: a second Host, a token.
        self.headers = _TRAILERS
        if self.parser.should_upgrade():
            # We stay with HTTP, but the parser does not: it would lose what follows.
            self.cycle.keep_alive = False

    def _refusal(self) -> bytes | None:
        if len(self.url) > MOST_URL_BYTES:
            return b"414 URI Too Long"
        if self.parser.get_http_version() not in _VERSIONS:
            return b"505 HTTP Version Not Supported"
        if self.url[:1] != b"/" and self.url[:7].lower() != b"http://":
            return b"400 Bad Request"
        if self.parser.should_upgrade() and any(name in _BODY for name, _ in self.headers):
            # Where another protocol is offered the parser reads no body: it would take that for
            # the next request.
            return b"400 Bad Request"
        return None

    def send_400_response(self, msg: str) -> None:
        """Called by the parser's owner for what cannot be read on."""
        if not self.transport.is_closing():
            super().send_400_response(msg)

    def _unsupported_upgrade_warning(self) -> None:
        if (b"upgrade", b"websocket") in self.scope["headers"]:
            logger.warning("a WebSocket was asked for, localedge has none: answered as plain HTTP")

    def refuse(self, status: bytes) -> None:
        """The connection ends with an empty answer of that status."""
        self.transport.write(
            b"HTTP/1.1 " + status + b"\r\ncontent-length: 0\r\nconnection: close\r\n\r\n"
        )
        self.transport.close()

    def cut(self) -> None:
        """The connection ends where it is: the client sees that the response is not whole."""
        if self.cycle is not None:
            self.cycle.disconnected = True
        if not self.transport.is_closing():
            self.transport.abort()

    def is_slow(self, now: float, limit_s: float) -> bool:
        """Whether the client has been sending one request's headers for too long."""
        return self.waits_since is not None and now - self.waits_since > limit_s
