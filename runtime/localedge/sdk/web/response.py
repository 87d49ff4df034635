"""The Fetch standard's Response."""

from __future__ import annotations

from localedge.errors import JsException, js_type_error
from localedge.sdk.web.body import Body
from localedge.sdk.web.headers import Headers
from localedge.stream import ReadableStream

NULL_BODY_STATUSES = frozenset({101, 204, 205, 304})


class Response(Body):
    """One answer: status, headers, body.

    Errors: a JavaScript RangeError for a status outside 200…599 (101 is allowed), a TypeError
    for a body where the status has none.
    """

    __slots__ = ("_headers", "redirected", "status", "status_text", "type", "url")
    js_class = "Response"

    def __init__(
        self,
        body: bytes | ReadableStream | None = None,
        status: int = 200,
        status_text: str = "",
        headers: list[tuple[str, str]] | None = None,
    ) -> None:
        if not 200 <= status <= 599 and status != 101:
            raise JsException(
                "Responses may only be constructed with status codes in the range 200 to 599, "
                "inclusive.",
                name="RangeError",
            )
        if body is not None and status in NULL_BODY_STATUSES:
            raise js_type_error(
                "Response with null body status (101, 204, 205, or 304) cannot have a body."
            )
        super().__init__(body)
        self.status = status
        self.status_text = status_text
        self._headers = Headers.trusted(headers if headers is not None else [])
        self.url = ""
        self.type = "default"
        self.redirected = False

    @property
    def headers(self) -> Headers:
        """The headers, which are this response's own."""
        return self._headers

    @property
    def ok(self) -> bool:
        """Whether the status is a success."""
        return 200 <= self.status <= 299
