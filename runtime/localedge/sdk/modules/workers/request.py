"""`workers.Request`."""

from __future__ import annotations

import builtins
import json
from http import HTTPMethod
from http.client import HTTPMessage
from typing import Any

from localedge.errors import JsException
from localedge.jsproxy import JsProxy, proxy
from localedge.sdk import web
from localedge.sdk.messages import http_message
from localedge.sdk.web.request import new_request
from workers.blob import Blob
from workers.fetch_options import options_of
from workers.formdata import FormData
from workers.utils import _to_python_exception


class Request:
    """A request of the platform, its values in Python's form.

    Errors: ValueError for options beside a `js.Request`; OSError for a second read of the body.
    Source: reference/python-workers.md 1.3, read 2026-12-01.
    """

    __slots__ = ("__dict__", "_js")

    _js: web.Request

    def __init__(self, input: Any, **options: Any) -> None:
        if isinstance(input, JsProxy) and isinstance(input._js, web.Request):
            if options:
                raise ValueError("Expected no options when constructing Request from a js.Request")
            self._js = input._js
            return
        source = input._js if isinstance(input, Request) else input
        self._js = new_request(source, options_of(options))

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
    def body(self) -> Any:
        """The body as a ReadableStream; `jsnull` when there is none."""
        return proxy(self._js.stream)

    @property
    def body_used(self) -> bool:
        """Whether the body was read."""
        return self._js.body_used

    @property
    def cf(self) -> Any:
        """What the platform knows about the connection; None when there is nothing."""
        return None if self._js.cf is None else JsProxy(self._js.cf)

    @property
    def cache(self) -> str:
        """The cache mode."""
        return self._js.cache

    @property
    def credentials(self) -> str:
        """The credentials mode."""
        return self._js.credentials

    @property
    def destination(self) -> str:
        """What the request is for."""
        return self._js.destination

    @property
    def integrity(self) -> str:
        """The expected hash."""
        return self._js.integrity

    @property
    def is_history_navigation(self) -> bool:
        """Whether a browser went back or forward."""
        return self._js.is_history_navigation

    @property
    def keepalive(self) -> bool:
        """Whether it outlives its page."""
        return self._js.keepalive

    @property
    def mode(self) -> str:
        """The request mode."""
        return self._js.mode

    @property
    def redirect(self) -> str:
        """What happens at a redirect: "follow" or "manual"."""
        return self._js.redirect

    @property
    def referrer(self) -> str:
        """Where the request came from."""
        return self._js.referrer

    @property
    def referrer_policy(self) -> str:
        """The referrer policy."""
        return self._js.referrer_policy

    def _raise_if_failed(self) -> None:
        if self._js.body_used:
            raise OSError("Body already used")

    def clone(self) -> Request:
        """A second request with the same body."""
        self._raise_if_failed()
        return Request._of(self._js.clone())

    async def text(self) -> str:
        """The body as text."""
        self._raise_if_failed()
        return await self._js.text()

    async def json(self, **kwargs: Any) -> Any:
        """The body parsed by `json.loads`, which takes the keyword arguments."""
        return json.loads(await self.text(), **kwargs)

    async def bytes(self) -> builtins.bytes:
        """The body as bytes."""
        self._raise_if_failed()
        return await self._js.read()

    async def buffer(self) -> JsProxy:
        """The body as an ArrayBuffer."""
        self._raise_if_failed()
        return JsProxy(await self._js.array_buffer())

    async def blob(self) -> Blob:
        """The body as a Blob."""
        self._raise_if_failed()
        return Blob(JsProxy(await self._js.blob()))

    async def form_data(self) -> FormData:
        """The form in the body.

        Errors: TypeError when it is none.
        """
        self._raise_if_failed()
        try:
            return FormData(JsProxy(await self._js.form_data()))
        except JsException as error:
            raise _to_python_exception(error) from error
