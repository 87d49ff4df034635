"""The port, bound before anything starts."""

from __future__ import annotations

import errno
import socket
from typing import Final

from localedge.errors import Exit, OperatorError

BACKLOG: Final = 2048


def bind(host: str, port: int) -> socket.socket:
    """A listening socket on that address; port 0 takes a free one.

    Errors: OperatorError (exit 4) when the port is in use or not allowed.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        listener.bind((host, port))
        listener.listen(BACKLOG)
    except OSError as exc:
        listener.close()
        reason = "is in use" if exc.errno == errno.EADDRINUSE else f"cannot be used ({exc})"
        raise OperatorError(
            "port/unavailable",
            f"port {port} on {host} {reason}.",
            f"Stop what has it, or choose another: localedge dev --port {port + 1}.",
            exit=Exit.UNREACHABLE,
        ) from exc
    return listener
