"""The Fetch standard's Response."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any, ClassVar, Final

from localedge.coercion import js_number, js_string
from localedge.errors import JsException, js_type_error
from localedge.sdk.web import url
from localedge.sdk.web.body import Body, Content, extracted
from localedge.sdk.web.headers import Headers, headers_from
from localedge.sdk.web.options import members_of
from localedge.values import (
    UNDEFINED,
    BigInt,
    JsDate,
    JsFunction,
    JsMap,
    JsSet,
    NativeFunction,
    PyObject,
    Undefined,
)

NULL_BODY_STATUSES: Final = frozenset({101, 204, 205, 304})
REDIRECT_STATUSES: Final = frozenset({301, 302, 303, 307, 308})


class Response(Body):
    """One answer: status, headers, body.

    Shape: `headers` given as pairs are trusted: lower-case names, one pair per header line.
    Errors: a JavaScript RangeError for a status outside 200…599 (101 is allowed), a TypeError
    for a body where the status has none.
    Source: fetch.spec.whatwg.org, read 2026-12-01.
    """

    __slots__ = (
        "_headers",
        "encode_body",
        "redirected",
        "status",
        "status_text",
        "type",
        "url",
        "web_socket",
    )
    js_class = "Response"
    js_properties: ClassVar[Mapping[str, str]] = {
        **Body.js_properties,
        "ok": "ok",
        "redirected": "redirected",
        "status": "status",
        "statusText": "status_text",
        "type": "type",
        "webSocket": "web_socket",
    }

    def __init__(
        self,
        body: Content = None,
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
        self.body = body
        self._used = False
        self.status = status
        self.status_text = status_text
        self._headers = Headers.trusted(headers if headers is not None else [])
        self.url = ""
        self.type = "default"
        self.redirected = False
        self.web_socket: Any = None
        self.encode_body = "automatic"

    @property
    def headers(self) -> Headers:
        """The headers, which are this response's own."""
        return self._headers

    @property
    def ok(self) -> bool:
        """Whether the status is a success."""
        return 200 <= self.status <= 299

    def clone(self) -> Response:
        """A second response with the same body."""
        copy = Response(
            self.copied_body(), self.status, self.status_text, list(self._headers.raw())
        )
        copy.url, copy.type, copy.redirected = self.url, self.type, self.redirected
        copy.encode_body = self.encode_body
        return copy


def new_response(body: Any = UNDEFINED, init: Any = UNDEFINED) -> Response:
    """`new Response(body, init)`, where `init` may be another Response."""
    if isinstance(init, Response):
        content, _ = extracted(body)
        return Response(content, init.status, init.status_text, list(init.headers.raw()))
    given = members_of(init)
    content, implied = extracted(body)
    headers = headers_from(given.get("headers", UNDEFINED))
    if implied is not None and not headers.has("content-type"):
        headers.append("content-type", implied)
    status = _int_of(given.get("status", UNDEFINED), 200)
    made = Response(content, status, _text_of(given.get("statusText", UNDEFINED)), headers.raw())
    made.encode_body = _encode_body(given.get("encodeBody", UNDEFINED))
    socket = given.get("webSocket", UNDEFINED)
    made.web_socket = None if socket is UNDEFINED else socket
    return made


def _encode_body(value: Any) -> str:
    text = "automatic" if value is UNDEFINED else js_string(value)
    if text not in ("automatic", "manual"):
        raise js_type_error(f"encodeBody: unexpected value: {text}")
    return text


def _int_of(value: Any, default: int) -> int:
    if value is UNDEFINED:
        return default
    number = js_number(value)
    return int(number) if number == number and abs(number) != float("inf") else 0


def _text_of(value: Any) -> str:
    return "" if value is UNDEFINED else js_string(value)


def redirect(location: Any, status: Any = 302) -> Response:
    """`Response.redirect(location, status)`.

    Errors: a JavaScript RangeError for a status that is no redirect, a TypeError for a location
    that is no absolute URL.
    """
    code = _int_of(status, 302)
    target = url.normalized(js_string(location))
    if code not in REDIRECT_STATUSES:
        raise JsException(
            f"{code} is not a redirect status code.",
            name="RangeError",
        )
    return Response(None, code, "", [("location", target)])


def json_response(data: Any, init: Any = UNDEFINED) -> Response:
    """`Response.json(data, init)`.

    Errors: a JavaScript TypeError for a value that has no JSON.
    """
    made = new_response(stringified(data), init)
    given = members_of(init).get("headers", UNDEFINED)
    if not headers_from(given).has("content-type"):
        made.headers.set("content-type", "application/json")
    return made


def error_response() -> Response:
    """`Response.error()`."""
    made = Response()
    made.type, made.status = "error", 0
    return made


def stringified(value: Any, indent: int | str | None = None) -> str:
    """`JSON.stringify(value)`.

    Errors: a JavaScript TypeError for undefined, a function or a BigInt.
    """
    if not has_json(value):
        raise js_type_error("Value is not JSON serializable")
    separators = (",", ":") if not indent else (",", ": ")
    return json.dumps(
        _jsonable(value), ensure_ascii=False, separators=separators, indent=indent or None
    )


def _jsonable(value: Any) -> Any:
    match value:
        case BigInt():
            raise js_type_error("Do not know how to serialize a BigInt")
        case bool() | None | str():
            return value
        case int() | float():
            if value != value or abs(value) == float("inf"):
                return None
            return int(value) if float(value).is_integer() and abs(value) < 1e21 else value
        case JsDate():
            return value.iso()
        case JsSet() | JsMap():
            return {}
        case dict():
            return {key: _jsonable(item) for key, item in value.items() if has_json(item)}
        case list():
            return [_jsonable(item) if has_json(item) else None for item in value]
        case PyObject(inner) if isinstance(inner, dict | list):
            return inner
    return {}


def has_json(value: Any) -> bool:
    """Whether `value` is one that JSON has, not undefined or a function."""
    return not isinstance(value, Undefined | JsFunction | NativeFunction) and not (
        isinstance(value, PyObject) and callable(value.value)
    )
