"""The types that `workers` exports for annotations."""

from __future__ import annotations

from collections.abc import Awaitable
from http import HTTPMethod
from typing import Any, Protocol, TypedDict

JSBody = "js.Blob | JsBuffer | js.FormData | js.ReadableStream | js.URLSearchParams"
Body = "str | bytes | FormData | JSBody"
Headers = "dict[str, str] | list[tuple[str, str]] | js.Headers"
BlobValue = "str | bytes | js.ArrayBuffer | js.TypedArray | js.DataView | js.Blob | Blob | File"
FormDataValue = "str | js.Blob | Blob"


class Context(Protocol):
    """What `self.ctx` offers."""

    def waitUntil(self, other: Awaitable[Any], /) -> None:
        """`other` runs on after the response."""


class RequestInitCfProperties(TypedDict, total=False):
    """The `cf` option of a request; it has no effect here."""

    apps: bool | None
    cacheEverything: bool | None
    cacheKey: str | None
    cacheTags: list[str] | None
    cacheTtl: int
    cacheTtlByStatus: dict[str, int]
    image: Any
    mirage: bool | None
    polish: str | None
    resolveOverride: str | None
    scrapeShield: bool | None
    webp: bool | None


class FetchKwargs(TypedDict, total=False):
    """The options of `fetch` and `Request`."""

    headers: Any
    body: Any
    method: HTTPMethod | str | None
    redirect: str | None
    cf: RequestInitCfProperties | None
    fetcher: Any
    signal: Any
