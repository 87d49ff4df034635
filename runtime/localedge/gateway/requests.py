"""What the gateway reads of a request before the worker gets it."""

from __future__ import annotations

import re
import time
from collections.abc import Mapping, MutableMapping
from random import getrandbits
from typing import Any, Final

from localedge.gateway.pages import Line, Trouble
from localedge.isolate.secrets import Mask

Scope = MutableMapping[str, Any]

HOP_BY_HOP: Final = frozenset(
    (b"connection", b"keep-alive", b"proxy-connection", b"transfer-encoding", b"upgrade")
)
REPLAY_OF: Final = "localedge.replay_of"
"""The key of a request's scope that holds the ray of the one that is sent again."""
_LOCATION: Final = b"x-localedge-location"
_LONGEST_LOCATION: Final = 64
_HOST: Final = re.compile(rb"(?:[A-Za-z0-9._~!$&'()*+;=%-]+|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?")
"""What a Host header may be: it becomes part of the URL that the worker sees."""


class BadRequest(Exception):  # noqa: N818  (the client's doing)
    """The request cannot be understood. Shape: the text says why."""


class Request:
    """What the gateway reads of a request before the worker gets it.

    Shape: `lines` are the headers without those that belong to the connection; `size_bytes` is the
    announced size of the body, None when it has none, -1 when it is not announced; `location` the
    one that the request names; `secrets` what nobody is shown; `body` is kept for whoever sends it
    again, None when there is none or it is too large; `replay_of` the ray of the one that it is.
    """

    __slots__ = (
        "began",
        "body",
        "lines",
        "location",
        "method",
        "ray",
        "replay_of",
        "secrets",
        "size_bytes",
        "url",
    )

    def __init__(self, scope: Scope, secrets: Mapping[str, str]) -> None:
        host: bytes | None = None
        self.size_bytes: int | None = None
        self.location: str | None = None
        lines: list[Line] = scope["headers"]
        for name, value in lines:
            if name == b"host":
                if host is not None:
                    raise BadRequest("the request has two Host headers")
                host = value
            elif name == b"content-length":
                self.size_bytes = int(value)
            elif name == _LOCATION:
                self.location = value.decode("latin-1")[:_LONGEST_LOCATION]
            elif name in HOP_BY_HOP:
                if name == b"transfer-encoding":
                    _check_coding(value, scope)
                    self.size_bytes = -1
                lines = [line for line in lines if line[0] not in HOP_BY_HOP]
        if host is None:
            raise BadRequest("the request has no Host header")
        if _HOST.fullmatch(host) is None:
            raise BadRequest("the Host header is not a name and a port")
        self.began = time.perf_counter()
        self.secrets = secrets
        self.lines = lines
        self.method: str = scope["method"]
        query = scope["query_string"]
        target = scope["raw_path"] + b"?" + query if query else scope["raw_path"]
        self.url = (b"http://" + host + target).decode("latin-1")
        self.ray = f"{getrandbits(64):016x}"
        self.body: bytes | None = None
        self.replay_of: str | None = scope.get(REPLAY_OF)

    def header(self, wanted: bytes) -> str:
        """The value of a header, "" when there is none."""
        return next((v.decode("latin-1") for n, v in self.lines if n == wanted), "")

    @property
    def shown_url(self) -> str:
        """The URL without the values of secrets."""
        return Mask(self.secrets.values())(self.url)

    def trouble(self, outcome: str, **known: Any) -> Trouble:
        """Why this request has no response."""
        return Trouble(outcome, self.method, self.shown_url, self.ray, **known)


def _check_coding(coding: bytes, scope: Scope) -> None:
    if coding.lower() != b"chunked":
        raise BadRequest("its Transfer-Encoding is not chunked")
    if scope["http_version"] == "1.0":
        raise BadRequest("HTTP/1.0 has no Transfer-Encoding")
