"""Headers as Python sees them."""

from __future__ import annotations

from http.client import HTTPMessage

from localedge.sdk.web.headers import Headers


def http_message(headers: Headers) -> HTTPMessage:
    """`headers` as a new message: `Set-Cookie` lines first, other repeated names joined.

    Source: workers-runtime-sdk `workers/utils.py`, read 2026-12-01.
    """
    message = HTTPMessage()
    for value in headers.get_set_cookie():
        message.add_header("Set-Cookie", value.strip())
    for name, value in headers.entries():
        if name != "set-cookie":
            message.add_header(name, value.strip())
    return message
