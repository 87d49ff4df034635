"""`workers.fetch`."""

from __future__ import annotations

from typing import Any

from pyodide.http import pyfetch

from workers.request import Request
from workers.response import Response


async def fetch(resource: Any, **other_options: Any) -> Response:
    """The response to a request for `resource`, a URL or a Request.

    Shape: options are keyword arguments: method, headers, body, redirect, cf, fetcher.
    Errors: OSError when the request is bad or the network fails.
    Source: reference/python-workers.md 1.5, read 2026-12-01.
    """
    target = resource.js_object if isinstance(resource, Request) else resource
    answer = await pyfetch(target, **other_options)
    return Response(answer.js_response)
