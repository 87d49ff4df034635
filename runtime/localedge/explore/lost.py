"""What a worker sees when the answer to one of its calls does not arrive."""

from __future__ import annotations

from localedge.errors import JsException
from localedge.probe import Call


def lost_answer(call: Call) -> Exception:
    """The platform's error for a call whose outcome is unknown."""
    if call.kind == "d1":
        return JsException("D1_ERROR: Network connection lost.")
    if call.kind == "kv":
        method = {"put": "PUT", "delete": "DELETE"}.get(call.operation, "GET")
        return JsException(f"KV {method} failed: 500 Internal Server Error")
    if call.kind == "fetch":
        return JsException("Network connection lost.")
    return ConnectionError("the connection was lost")
