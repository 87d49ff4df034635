"""Who may speak to the control endpoints: this machine, under our own names, with the token.

A page of a stranger in the same browser can send requests here (cross-site), and can give its own
name our address (DNS rebinding): the first shows in Origin, the second in Host.
"""

from __future__ import annotations

import asyncio
import hmac
import ipaddress
from collections.abc import Awaitable, Callable, Iterable
from typing import Any, Final

from localedge.gateway.application import Application, Message, Receive, Send
from localedge.gateway.requests import Scope
from localedge.supervisor.supervisor import Supervisor

SCHEDULED: Final = "/cdn-cgi/handler/scheduled"
OLD_SCHEDULED: Final = "/__scheduled"
"""Served with `--test-scheduled`, as by wrangler. Source: python-workers 3, read 2026-12-01."""
PAGE_PATHS: Final = ("/cdn-cgi/localedge", "/cdn-cgi/localedge/")
PAGE_PREFIXES: Final = tuple(f"/cdn-cgi/localedge/{name}/" for name in ("view", "api", "static"))
_NAMES: Final = ("localhost", "127.0.0.1", "[::1]")
_SAFE: Final = ("GET", "HEAD")
_PLAIN: Final = [(b"content-type", b"text/plain; charset=utf-8")]


class Guard:
    """Lets requests through to `application` that come from us.

    Shape: `port` is the one we listen on; what changes something needs `token` in the header
    `authorization: Bearer …`, except the paths in `open_paths`, which the platform's own tools
    serve without.
    """

    def __init__(
        self, application: Application, *, port: int, token: str, open_paths: Iterable[str] = ()
    ) -> None:
        self._application = application
        self._hosts = {f"{name}:{port}" for name in _NAMES} | (set(_NAMES) if port == 80 else set())
        self._origins = {f"http://{host}" for host in self._hosts}
        self._token = token.encode()
        self._open = frozenset(open_paths)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on, or answer 403 with the reason."""
        refusal = self._refusal(scope)
        if refusal is None:
            await self._application(scope, receive, send)
            return
        body = f"{refusal}\n".encode()
        start: Message = {"type": "http.response.start", "status": 403, "headers": _PLAIN}
        await send({**start, "headers": [*_PLAIN, (b"content-length", b"%d" % len(body))]})
        await send({"type": "http.response.body", "body": body, "more_body": False})

    def _refusal(self, scope: Scope) -> str | None:
        if not _is_loopback(scope.get("client")):
            return "Control endpoints answer on this machine only."
        hosts = _values(scope, b"host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return "The Host header is not this server's own name."
        if any(origin.lower() not in self._origins for origin in _values(scope, b"origin")):
            return "The Origin header is not this server's own."
        if any(site not in ("none", "same-origin") for site in _values(scope, b"sec-fetch-site")):
            return "Another site's page sent this request."
        if scope["method"] in _SAFE or scope["path"] in self._open:
            return None
        given = "".join(_values(scope, b"authorization")).removeprefix("Bearer ")
        if not hmac.compare_digest(given.encode(), self._token):
            return "This changes something and needs the token from .localedge/run.json."
        return None


def guarded_control(
    supervisor: Supervisor,
    *,
    port: int,
    token: str,
    page: Callable[[], Awaitable[Application]] | None = None,
) -> Application:
    """The control endpoints of `supervisor`, open to us only.

    Shape: `page` makes the application of the page and its API, when one of them is first asked
    for.
    """
    # Imported here: the server does not wait for Starlette at its start.
    from localedge.gateway.control import control

    opened = [SCHEDULED, OLD_SCHEDULED]
    application: Application = control(supervisor)
    if page is not None:
        application = _WithPage(application, page)
    return Guard(application, port=port, token=token, open_paths=opened)


class _WithPage:
    """Control endpoints, and the page beside them: a command that orders does not wait for it."""

    def __init__(
        self, control: Application, make_page: Callable[[], Awaitable[Application]]
    ) -> None:
        self._control = control
        self._make_page = make_page
        self._page: Application | None = None
        self._making = asyncio.Lock()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass the request on to the one that it is for."""
        path = scope["path"]
        if path not in PAGE_PATHS and not path.startswith(PAGE_PREFIXES):
            await self._control(scope, receive, send)
            return
        async with self._making:
            page = self._page = self._page or await self._make_page()
        await page(scope, receive, send)


def _values(scope: Scope, wanted: bytes) -> list[str]:
    """All lines of one header: two of them are not one that is ours."""
    return [value.decode("latin-1") for name, value in scope["headers"] if name == wanted]


def _is_loopback(client: Any) -> bool:
    return client is not None and ipaddress.ip_address(client[0]).is_loopback
