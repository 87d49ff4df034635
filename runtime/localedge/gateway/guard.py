"""Who may speak to the control endpoints: this machine, under our own names, with the token.

A page of a stranger in the same browser can send requests here (cross-site), and can give its own
name our address (DNS rebinding): the first shows in Origin, the second in Host.
"""

from __future__ import annotations

import hmac
import ipaddress
from collections.abc import Iterable
from typing import Any, Final

from localedge.gateway.application import Application, Message, Receive, Scope, Send
from localedge.supervisor.supervisor import Supervisor

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
        hosts = [value.decode("latin-1").lower() for n, value in scope["headers"] if n == b"host"]
        if len(hosts) != 1 or hosts[0] not in self._hosts:
            return "The Host header is not this server's own name."
        headers: dict[bytes, bytes] = dict(scope["headers"])
        origin = headers.get(b"origin")
        if origin is not None and origin.decode("latin-1").lower() not in self._origins:
            return "The Origin header is not this server's own."
        if headers.get(b"sec-fetch-site", b"none") not in (b"none", b"same-origin"):
            return "Another site's page sent this request."
        if scope["method"] in _SAFE or scope["path"] in self._open:
            return None
        given = headers.get(b"authorization", b"").removeprefix(b"Bearer ")
        if not hmac.compare_digest(given, self._token):
            return "This changes something and needs the token from .localedge/run.json."
        return None


def guarded_control(supervisor: Supervisor, *, port: int, token: str) -> Application:
    """The control endpoints of `supervisor`, open to us only."""
    # Imported here: the server does not wait for Starlette at its start.
    from localedge.gateway.control import SCHEDULED, control

    return Guard(control(supervisor), port=port, token=token, open_paths=[SCHEDULED])


def _is_loopback(client: Any) -> bool:
    return client is not None and ipaddress.ip_address(client[0]).is_loopback
