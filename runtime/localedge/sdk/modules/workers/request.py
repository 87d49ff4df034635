"""`workers.Request`."""

from __future__ import annotations

import json
from http import HTTPMethod
from http.client import HTTPMessage
from typing import Any

from localedge.boundary import JsProxy
from localedge.sdk import web
from localedge.sdk.messages import http_message


class Request:
    """A request of the platform, its values in Python's form.

    Source: reference/python-workers.md 1.3, read 2026-12-01.
    """

    __slots__ = ("__dict__", "_js")

    _js: web.Request

    def __init__(self, input: Any, **options: Any) -> None:
        raise NotImplementedError

    @classmethod
    def _of(cls, inner: web.Request) -> Request:
        request = cls.__new__(cls)
        request._js = inner
        return request

    def __repr__(self) -> str:
        return f"Request(method={self._js.method!r}, url={self._js.url!r})"

    @property
    def js_object(self) -> JsProxy:
        """The platform's Request."""
        return JsProxy(self._js)

    @property
    def url(self) -> str:
        """The whole URL."""
        return self._js.url

    @property
    def method(self) -> HTTPMethod:
        """The method; it also equals its text."""
        return HTTPMethod[self._js.method]

    @property
    def headers(self) -> HTTPMessage:
        """The headers, in a message of their own."""
        return http_message(self._js.headers)

    @property
    def body_used(self) -> bool:
        """Whether the body was read."""
        return self._js.body_used

    def _raise_if_failed(self) -> None:
        if self._js.body_used:
            raise OSError("Body already used")

    async def text(self) -> str:
        """The body as text."""
        self._raise_if_failed()
        return await self._js.text()

    async def json(self, **kwargs: Any) -> Any:
        """The body parsed by `json.loads`, which takes the keyword arguments."""
        return json.loads(await self.text(), **kwargs)

    async def bytes(self) -> bytes:
        """The body as bytes."""
        self._raise_if_failed()
        return await self._js.array_buffer()
