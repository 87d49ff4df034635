"""`pyodide.http.FetchResponse`: a Response read from Python."""

from __future__ import annotations

import json
from http.client import HTTPMessage
from typing import Any

from localedge.boundary import JsProxy
from localedge.sdk import web
from localedge.sdk.messages import http_message
from pyodide.http._errors import BodyUsedError, HttpStatusError


class FetchResponse:
    """A response of the platform, its values in Python's form.

    Source: reference/python-workers.md 1.4, read 2026-12-01.
    """

    __slots__ = ("__dict__", "_js", "_url")

    def __init__(self, url: str, js_response: JsProxy, *_signals: Any) -> None:
        self._url = url
        self._js: web.Response = js_response._js

    @property
    def js_response(self) -> JsProxy:
        """The platform's Response."""
        return JsProxy(self._js)

    @property
    def body_used(self) -> bool:
        """Whether the body was read."""
        return self._js.body_used

    @property
    def headers(self) -> HTTPMessage:
        """The headers, in a message of their own: changing it does not change the response."""
        return http_message(self._js.headers)

    @property
    def ok(self) -> bool:
        """Whether the status is a success."""
        return self._js.ok

    @property
    def redirected(self) -> bool:
        """Whether a redirect was followed on the way here."""
        return self._js.redirected

    @property
    def status(self) -> int:
        """The status code."""
        return self._js.status

    @property
    def status_text(self) -> str:
        """The reason phrase."""
        return self._js.status_text

    @property
    def type(self) -> str:
        """The platform's type of the response: "default" or "basic"."""
        return self._js.type

    @property
    def url(self) -> str:
        """Where the response came from; empty for one that was made here."""
        return self._js.url

    def _raise_if_failed(self) -> None:
        if self._js.body_used:
            raise BodyUsedError

    def raise_for_status(self) -> None:
        """Raise HttpStatusError when the status is 400 or more."""
        if 400 <= self.status < 600:
            raise HttpStatusError(self.status, self.status_text, self.url)

    def clone(self) -> FetchResponse:
        """A second response with the same body."""
        self._raise_if_failed()
        return FetchResponse(self._url, JsProxy(self._js.clone()))

    async def buffer(self) -> Any:
        """The body as an ArrayBuffer."""
        self._raise_if_failed()
        return JsProxy(await self._js.array_buffer())

    async def text(self) -> str:
        """The body as text."""
        self._raise_if_failed()
        return await self._js.text()

    async def string(self) -> str:
        """The body as text, under its old name."""
        return await self.text()

    async def json(self, **kwargs: Any) -> Any:
        """The body parsed by `json.loads`, which takes the keyword arguments."""
        return json.loads(await self.text(), **kwargs)

    async def bytes(self) -> bytes:
        """The body as bytes."""
        self._raise_if_failed()
        return await self._js.read()

    async def memoryview(self) -> memoryview:
        """The body as a memoryview."""
        return memoryview(await self.bytes())
