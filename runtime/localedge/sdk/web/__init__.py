"""The platform's side of Fetch: what the objects of `workers` and `js` stand for."""

from localedge.sdk.web.blob import Blob, File
from localedge.sdk.web.buffers import ArrayBuffer
from localedge.sdk.web.form_data import FormData
from localedge.sdk.web.headers import Headers
from localedge.sdk.web.request import Request
from localedge.sdk.web.response import Response
from localedge.sdk.web.search_params import URLSearchParams
from localedge.sdk.web.url import URL
from localedge.stream import ReadableStream

__all__ = [
    "URL",
    "ArrayBuffer",
    "Blob",
    "File",
    "FormData",
    "Headers",
    "ReadableStream",
    "Request",
    "Response",
    "URLSearchParams",
]
