"""`pyodide.ffi`: what crosses between Python and the platform's side."""

from __future__ import annotations

from localedge.boundary import JsProxy
from localedge.errors import JsException

__all__ = ["JsException", "JsProxy"]
