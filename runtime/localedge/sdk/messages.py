"""Headers as Python sees them."""

from __future__ import annotations

from collections.abc import Mapping
from http.client import HTTPMessage

from localedge.sdk.web.headers import Headers


class HTTPMessageMapping(HTTPMessage, Mapping[str, str]):  # type: ignore[misc]  # both have `get`
    """A message that counts as a mapping, so that libraries take it for headers."""


def http_message(headers: Headers) -> HTTPMessage:
    """`headers` as a new message: `Set-Cookie` lines first, other repeated names joined.

    Source: workers-runtime-sdk `workers/utils.py`, read 2026-12-01.
    """
    message = HTTPMessageMapping()
    for value in headers.get_set_cookie():
        message.add_header("Set-Cookie", value.strip())
    for name, value in headers.entries():
        if name != "set-cookie":
            message.add_header(name, value.strip())
    return message
