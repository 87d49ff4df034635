"""The platform's side of Fetch: what the objects of `workers` and `js` stand for."""

from localedge.sdk.web.buffers import ArrayBuffer
from localedge.sdk.web.headers import Headers
from localedge.sdk.web.request import Request
from localedge.sdk.web.response import Response
from localedge.stream import ReadableStream

__all__ = ["ArrayBuffer", "Headers", "ReadableStream", "Request", "Response"]
