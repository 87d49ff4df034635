"""`pyodide.http.pyfetch`."""

from __future__ import annotations

from typing import Any

from localedge.errors import JsException
from localedge.jsproxy import JsProxy, raw_to_js
from localedge.sdk.host import edge_python
from localedge.sdk.web.fetching import fetch
from localedge.sdk.web.request import new_request
from pyodide.http._errors import AbortError
from pyodide.http._response import FetchResponse


async def pyfetch(
    url: Any, /, *, signal: Any = None, fetcher: Any = None, **options: Any
) -> FetchResponse:
    """The response to a request for `url`; `fetcher` replaces the network.

    Errors: AbortError, an OSError, when the network fails; for a bad request JsException, and
    AbortError too on an edge before Python 3.14.
    Source: pyodide.org/en/stable/usage/api/python-api/http.html, read 2026-12-01.
    """
    from workers.fetch_options import options_of

    given = options_of(options if signal is None else {**options, "signal": signal})
    shown = url.url if isinstance(url, JsProxy) else str(url)
    if isinstance(url, str) and edge_python() >= (3, 14):
        new_request(url, given)
    try:
        if fetcher is not None:
            answer = await fetcher(url, JsProxy(given))
        else:
            answer = JsProxy(await fetch(raw_to_js(url), given))
    except JsException as error:
        raise AbortError(error.message) from error
    return FetchResponse(shown, answer)
