"""D1's failures in the platform's form.

Source: reference/kv-d1-contract.md 2.7, read 2026-12-01.
"""

from __future__ import annotations

from localedge.errors import JsException


def d1_error(text: str, *, prefix: str = "D1_ERROR") -> JsException:
    """The error whose message is `text` behind `prefix` and whose cause is `text` alone."""
    return JsException(f"{prefix}: {text}", cause=JsException(text))


def exec_error(first_line: str, text: str) -> JsException:
    """What `exec` raises: it always names the first line, whichever failed."""
    return d1_error(f"Error in line 1: {first_line}: {text}", prefix="D1_EXEC_ERROR")


def column_not_found(column: str) -> JsException:
    """What `first(column)` raises when the first row has no such column."""
    cause = JsException("Column not found")
    return JsException(f"D1_COLUMN_NOTFOUND: Column not found ({column})", cause=cause)


def type_not_supported(kind: str, text: str) -> JsException:
    """What `bind` raises for a value that D1 cannot hold."""
    return d1_error(f"Type '{kind}' not supported for value '{text}'", prefix="D1_TYPE_ERROR")
