"""`workers.Response` and `workers.FetchResponse`."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any

import pyodide.http

from localedge.boundary import JsProxy
from localedge.sdk import web


class FetchResponse(pyodide.http.FetchResponse):
    """A response that came from a fetch or a binding."""

    __slots__ = ()

    @property
    def js_object(self) -> JsProxy:
        """The platform's Response."""
        return JsProxy(self._js)


class Response(FetchResponse):
    """The response to a request."""

    __slots__ = ()

    def __init__(
        self,
        body: Any = None,
        status: HTTPStatus | int | None = None,
        status_text: str = "",
        headers: Any = None,
        web_socket: Any = None,
    ) -> None:
        pairs: list[tuple[str, str]] = []
        if headers:
            pairs = web.Headers(headers.items() if isinstance(headers, dict) else headers).raw()
        if isinstance(body, str):
            if not any(name == "content-type" for name, _ in pairs):
                pairs.append(("content-type", "text/plain;charset=UTF-8"))
            body = body.encode()
        elif isinstance(body, JsProxy):
            body = body._js
        elif body is not None and not isinstance(body, bytes):
            raise TypeError(f"Unsupported type in Response: {type(body).__name__}")
        self._js = web.Response(body, int(status or 200), status_text, pairs)
        self._url = ""

    @staticmethod
    def from_json(
        data: Any, status: HTTPStatus | int = 200, status_text: str = "", headers: Any = None
    ) -> Response:
        """A response with `data` as JSON."""
        made = Response(json.dumps(data), status, status_text, headers)
        if headers is None or "content-type" not in {name.lower() for name, _ in headers}:
            made._js.headers.set("content-type", "application/json")
        return made

    def json(self: Any, *args: Any, **kwargs: Any) -> Any:
        """On an instance: the parsed body. On the class: `from_json`."""
        if isinstance(self, Response):
            return super().json()
        return Response.from_json(self, *args, **kwargs)
