"""`workers.Response` and `workers.FetchResponse`."""

from __future__ import annotations

import json
from http import HTTPStatus
from typing import Any, Final

import pyodide.http

from localedge.errors import JsException
from localedge.jsproxy import JsProxy
from localedge.sdk import web
from localedge.sdk.web.body import extracted
from localedge.sdk.web.response import json_response, new_response, redirect
from localedge.sdk.web.usv import utf8
from workers.blob import Blob
from workers.fetch_options import body_of
from workers.formdata import FormData
from workers.utils import _headers_of, _js_class, _to_python_exception

_TEXT_TYPE: Final = ("content-type", "text/plain;charset=UTF-8")
_BODY_CLASSES: Final = (
    "ArrayBuffer Blob DataView FormData ReadableStream Response TypedArray URLSearchParams "
    "Int8Array Uint8Array Uint8ClampedArray Int16Array Uint16Array Int32Array Uint32Array "
    "Float16Array Float32Array Float64Array BigInt64Array BigUint64Array"
)
_BODIES: Final = frozenset(_BODY_CLASSES.split())


class FetchResponse(pyodide.http.FetchResponse):
    """A response that came from a fetch or a binding.

    Source: reference/python-workers.md 1.4, read 2026-12-01.
    """

    __slots__ = ()

    @property
    def js_object(self) -> JsProxy:
        """The platform's Response."""
        return JsProxy(self._js)

    @property
    def body(self) -> Any:
        """The body as a ReadableStream; None when there is none."""
        stream = self._js.stream
        return None if stream is None else JsProxy(stream)

    async def form_data(self) -> FormData:
        """The form in the body.

        Errors: TypeError when it is none.
        """
        self._raise_if_failed()
        try:
            return FormData(JsProxy(await self._js.form_data()))
        except JsException as error:
            raise _to_python_exception(error) from error

    async def formData(self) -> FormData:
        """The form in the body, under its old name."""
        return await self.form_data()

    async def blob(self) -> Blob:
        """The body as a Blob."""
        self._raise_if_failed()
        return Blob(JsProxy(await self._js.blob()))

    def replace_body(self, body: Any) -> Response:
        """A new response with the same status and headers and another body."""
        return _of(new_response(body_of(body), self._js))

    @staticmethod
    def redirect(url: str, status: HTTPStatus | int = HTTPStatus.FOUND) -> JsProxy:
        """A redirect to `url`, as the platform's own Response.

        Errors: ValueError for a status that is no redirect, TypeError for a URL that is none.
        """
        try:
            return JsProxy(redirect(str(url), int(status)))
        except JsException as error:
            raise _to_python_exception(error) from error

    @staticmethod
    def from_json(
        data: Any,
        status: HTTPStatus | int = HTTPStatus.OK,
        status_text: str = "",
        headers: Any = None,
    ) -> Response:
        """A response with `data` as JSON, of type application/json unless `headers` say else.

        Errors: TypeError for data that has no JSON.
        """
        pairs = _headers_of(headers).raw() if headers else []
        code = int(status) if status else 200
        if isinstance(data, JsProxy):
            try:
                init = {"status": code, "statusText": status_text, "headers": web.Headers(pairs)}
                return _of(json_response(data._js, init))
            except JsException as error:
                raise _to_python_exception(error) from error
        if not any(name == "content-type" for name, _ in pairs):
            pairs.append(("content-type", "application/json"))
        try:
            return _of(web.Response(json.dumps(data).encode(), code, status_text, pairs))
        except JsException as error:
            raise _to_python_exception(error) from error

    def json(self: Any, *args: Any, **kwargs: Any) -> Any:
        """On an instance: the parsed body, to be awaited. On the class: `from_json`."""
        if isinstance(self, pyodide.http.FetchResponse):
            return pyodide.http.FetchResponse.json(self)
        return Response.from_json(self, *args, **kwargs)


class Response(FetchResponse):
    """The response to a request.

    Errors: TypeError for a body or headers of another type, ValueError for options beside a
    `js.Response`; JsException for a status out of range or a body where there can be none.
    """

    __slots__ = ()

    def __init__(
        self,
        body: Any = None,
        status: HTTPStatus | int | None = None,
        status_text: str = "",
        headers: Any = None,
        web_socket: Any = None,
    ) -> None:
        self._url = ""
        if isinstance(body, JsProxy) and isinstance(body._js, web.Response):
            if status is not None or status_text or headers is not None:
                raise ValueError(
                    "Expected no options when constructing Response from a js.Response"
                )
            self._js = body._js
            self._url = body._js.url
            return
        pairs = _headers_of(headers).raw() if headers else []
        content: Any
        if isinstance(body, str):
            content, implied = utf8(body), _TEXT_TYPE
        elif body is None or isinstance(body, bytes):
            content, implied = body, None
        else:
            content, implied = _content(body)
        if implied is not None and not any(name == "content-type" for name, _ in pairs):
            pairs.append(implied)
        self._js = web.Response(content, int(status) if status else 200, status_text, pairs)
        if web_socket is not None:
            self._js.web_socket = web_socket

    def __repr__(self) -> str:
        inner = self._js
        parts = [f"status={inner.status}"]
        if inner.status_text:
            parts.append(f"status_text={inner.status_text!r}")
        kind = inner.headers.get("content-type")
        if kind is not None:
            parts.append(f"content_type={kind!r}")
        if inner.url:
            parts.append(f"url={inner.url!r}")
        if inner.type != "default":
            parts.append(f"type={inner.type!r}")
        return f"Response({', '.join(parts)})"


def _content(body: Any) -> tuple[Any, tuple[str, str] | None]:
    kind = _js_class(body)
    if kind is not None and kind not in _BODIES:
        raise TypeError(f"Unsupported type in Response: {kind}")
    if kind is None and not isinstance(body, FormData):
        raise TypeError(f"Unsupported type in Response: {type(body).__name__}")
    content, implied = extracted(body._js)
    return content, None if implied is None else ("content-type", implied)


def _of(inner: web.Response) -> Response:
    made = Response.__new__(Response)
    made._js = inner
    made._url = inner.url
    return made
