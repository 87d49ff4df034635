"""The Fetch standard's Request."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, Final

from localedge.coercion import js_string
from localedge.errors import js_type_error
from localedge.sdk.web import url as urls
from localedge.sdk.web.body import Body, Content, extracted
from localedge.sdk.web.headers import Headers, headers_from
from localedge.sdk.web.options import members_of
from localedge.values import UNDEFINED, JsObject

_METHOD_NAMES: Final = (
    "ACL BASELINE-CONTROL BIND CHECKIN CHECKOUT CONNECT COPY DELETE GET HEAD LABEL LINK LOCK "
    "MERGE MKACTIVITY MKCALENDAR MKCOL MKREDIRECTREF MKWORKSPACE MOVE MSEARCH NOTIFY OPTIONS "
    "ORDERPATCH PATCH POST PROPFIND PROPPATCH PURGE PUT REBIND REPORT SEARCH SUBSCRIBE TRACE "
    "UNBIND UNCHECKOUT UNLINK UNLOCK UNSUBSCRIBE UPDATE UPDATEREDIRECTREF VERSION-CONTROL "
)
METHODS: Final = frozenset(_METHOD_NAMES.split())
"""The methods that workerd's HTTP library knows."""


class Request(Body):
    """One request: method, URL, headers, body.

    Shape: `headers` given as pairs are trusted: lower-case names, one pair per header line.
    """

    __slots__ = ("_headers", "_pairs", "cf", "method", "redirect", "signal", "url")
    js_class = "Request"
    # Differs: these six are constants; workerd does not have them, Node's Fetch does.
    cache: ClassVar[str] = "default"
    credentials: ClassVar[str] = "same-origin"
    destination: ClassVar[str] = ""
    mode: ClassVar[str] = "cors"
    referrer: ClassVar[str] = "about:client"
    referrer_policy: ClassVar[str] = ""
    integrity: ClassVar[str] = ""
    keepalive: ClassVar[bool] = False
    is_history_navigation: ClassVar[bool] = False
    js_properties: ClassVar[Mapping[str, str]] = {
        **Body.js_properties,
        "cache": "cache",
        "cf": "cf",
        "credentials": "credentials",
        "destination": "destination",
        "integrity": "integrity",
        "isHistoryNavigation": "is_history_navigation",
        "keepalive": "keepalive",
        "method": "method",
        "mode": "mode",
        "redirect": "redirect",
        "referrer": "referrer",
        "referrerPolicy": "referrer_policy",
        "signal": "signal",
    }

    def __init__(
        self,
        method: str,
        url: str,
        headers: Sequence[tuple[str, str]] = (),
        body: Content = None,
        cf: dict[str, Any] | None = None,
    ) -> None:
        self.body = body
        self._used = False
        self.method = method
        self.url = url
        self._pairs = headers
        self._headers: Headers | None = None
        self.cf = cf
        self.redirect = "follow"
        self.signal: JsObject | None = None

    @property
    def headers(self) -> Headers:
        """The headers, made from the pairs when first asked for."""
        headers = self._headers
        if headers is None:
            headers = self._headers = Headers.trusted(list(self._pairs))
        return headers

    def clone(self) -> Request:
        """A second request with the same body."""
        copy = Request(self.method, self.url, list(self.headers.raw()), self.copied_body(), self.cf)
        copy.redirect, copy.signal = self.redirect, self.signal
        return copy


def new_request(input: Any, init: Any = UNDEFINED) -> Request:
    """`new Request(input, init)`: `input` is a URL or a request whose parts are taken over.

    Errors: a JavaScript TypeError for a bad URL, method or redirect mode, for a body with GET or
    HEAD, and for a body that was used.
    Source: fetch.spec.whatwg.org and workerd src/workerd/api/http.c++, read 2026-12-01.
    """
    given = members_of(init)
    content, implied = extracted(given.get("body", UNDEFINED))
    if isinstance(input, Request):
        made = Request(input.method, input.url, list(input.headers.raw()), None, input.cf)
        made.redirect, made.signal = input.redirect, input.signal
        made.body = content if content is not None else input.taken_body()
    else:
        made = Request("GET", urls.normalized(js_string(input)), (), content)
    _apply(made, given)
    if implied is not None and not made.headers.has("content-type"):
        made.headers.append("content-type", implied)
    if made.body is not None and made.method in ("GET", "HEAD"):
        raise js_type_error("Request with a GET or HEAD method cannot have a body.")
    return made


def _apply(request: Request, given: Mapping[str, Any]) -> None:
    method = given.get("method", UNDEFINED)
    if method not in (UNDEFINED, None):
        request.method = _method(js_string(method))
    headers = given.get("headers", UNDEFINED)
    if headers not in (UNDEFINED, None):
        request._headers = headers_from(headers)
    redirect = given.get("redirect", UNDEFINED)
    if redirect not in (UNDEFINED, None):
        request.redirect = _redirect(js_string(redirect))
    cf = given.get("cf", UNDEFINED)
    if isinstance(cf, dict):
        request.cf = cf
    signal = given.get("signal", UNDEFINED)
    if isinstance(signal, JsObject):
        request.signal = signal


def _method(text: str) -> str:
    if text.upper() not in METHODS:
        raise js_type_error(f"Invalid HTTP method string: {text}")
    return text.upper()


def _redirect(text: str) -> str:
    if text not in ("follow", "manual"):
        raise js_type_error(
            'Invalid redirect value, must be one of "follow" or "manual" ("error" won\'t be '
            'implemented since it does not make sense at the edge; use "manual" and check the '
            "response status code)."
        )
    return text
