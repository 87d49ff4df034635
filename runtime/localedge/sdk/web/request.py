"""The Fetch standard's Request."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from localedge.sdk.web.body import Body
from localedge.sdk.web.headers import Headers
from localedge.stream import ReadableStream


class Request(Body):
    """One request: method, URL, headers, body.

    Shape: `headers` given as pairs are trusted: lower-case names, one pair per header line.
    """

    __slots__ = ("_headers", "_pairs", "cf", "method", "redirect", "url")
    js_class = "Request"

    def __init__(
        self,
        method: str,
        url: str,
        headers: Sequence[tuple[str, str]] = (),
        body: bytes | ReadableStream | None = None,
        cf: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(body)
        self.method = method
        self.url = url
        self._pairs = headers
        self._headers: Headers | None = None
        self.cf = cf
        self.redirect = "follow"

    @property
    def headers(self) -> Headers:
        """The headers, made from the pairs when first asked for."""
        headers = self._headers
        if headers is None:
            headers = self._headers = Headers.trusted(list(self._pairs))
        return headers
