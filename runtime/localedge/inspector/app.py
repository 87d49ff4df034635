"""The page and its API as one application, for the guard to stand in front of."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from starlette.applications import Starlette
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, RedirectResponse, Response
from starlette.routing import BaseRoute, Mount, Route
from starlette.staticfiles import StaticFiles

from localedge.errors import Exit, OperatorError
from localedge.gateway.application import Application, Message, Receive, Send
from localedge.gateway.requests import Scope
from localedge.inspector.events import events
from localedge.inspector.inspection import PREFIX, Inspection, answer, api
from localedge.inspector.shell import address, page
from localedge.inspector.views import View, views

logger = logging.getLogger(__name__)

_STATIC: Final = Path(__file__).parent / "static"
_STATUS: Final = {Exit.USAGE: 400, Exit.CONFIG: 400, Exit.UNREACHABLE: 503}
SECURITY: Final = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self'; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
}


def inspector(inspection: Inspection) -> Application:
    """The page and its API over `inspection`. Nothing here checks who asks: the guard does."""
    application = Starlette(
        routes=[*_routes(inspection)],
        exception_handlers={
            HTTPException: _refused,
            OperatorError: _told,
            Exception: _failed,
        },
    )
    return _Secured(application)


def _routes(inspection: Inspection) -> Iterator[BaseRoute]:
    yield Route(PREFIX, _to_first)
    for view in views():
        yield Route(address(view), _Page(inspection, view).show)
        yield from view.routes(inspection)
    yield Route(api("events"), events(inspection))
    yield Mount(f"{PREFIX}/static", StaticFiles(directory=_STATIC))


class _Page:
    """One view as a page."""

    def __init__(self, inspection: Inspection, view: View) -> None:
        self._inspection = inspection
        self._view = view

    async def show(self, _request: Request) -> Response:
        self._inspection.history.look()
        content = await self._view.render(self._inspection)
        shown = page(self._inspection, self._view, content)
        return HTMLResponse(shown, headers={"cache-control": "no-store"})


async def _to_first(_request: Request) -> Response:
    return RedirectResponse(f"{PREFIX}/", 308)


async def _refused(_request: Request, error: Exception) -> Response:
    assert isinstance(error, HTTPException)
    return answer({"error": {"code": "request", "message": error.detail}}, error.status_code)


async def _told(_request: Request, error: Exception) -> Response:
    assert isinstance(error, OperatorError)
    told = {"code": error.code, "message": error.message, "hint": error.hint}
    return answer({"error": told}, _STATUS.get(error.exit, 400))


async def _failed(request: Request, error: Exception) -> Response:
    """What nobody foresaw; Starlette raises it again, and the server logs it."""
    logger.error("the inspector failed", extra={"path": request.url.path}, exc_info=error)
    told = {"code": "internal", "message": f"{type(error).__name__}: {error}"}
    return answer({"error": told}, 500)


class _Secured:
    """Every answer says what a browser may do with it: next to nothing."""

    def __init__(self, application: Application) -> None:
        self._application = application

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on."""

        async def secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=_as_dict(message))
                headers.update(SECURITY)
                if scope["path"].startswith(f"{PREFIX}/static/"):
                    headers["cache-control"] = "no-cache"
            await send(message)

        await self._application(scope, receive, secured)


def _as_dict(message: Message) -> dict[str, Any]:
    assert isinstance(message, dict)
    return message
