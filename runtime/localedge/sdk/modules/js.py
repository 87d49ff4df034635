"""`js`: the platform's global scope.

Source: reference/python-workers.md 2.4 (the names that public workers import), read 2026-12-01.
"""

from __future__ import annotations

from typing import Any

from localedge.jsproxy import JsProxy, proxy
from localedge.sdk.web.globals import GLOBALS

__all__ = sorted(GLOBALS)


# Differs: has what public workers import; the rest of JavaScript's globals (BigInt, RegExp, Intl …)
# is an AttributeError that names those that there are.
def __getattr__(name: str) -> Any:
    if name == "globalThis":
        return JsProxy(GLOBALS)
    if name in GLOBALS:
        return proxy(GLOBALS[name])
    raise AttributeError(
        f"module 'js' has no attribute {name!r}: localedge has {', '.join(sorted(GLOBALS))}"
        if not name.startswith("__")
        else name
    )


def __dir__() -> list[str]:
    return sorted(GLOBALS)
