"""`import asgi`: the adapter under its old name."""

from __future__ import annotations

from typing import Any

from workers import asgi as _asgi
from workers.asgi import entrypoint, fetch, websocket

__all__ = ["entrypoint", "fetch", "websocket"]


def __getattr__(name: str) -> Any:
    return getattr(_asgi, name)
