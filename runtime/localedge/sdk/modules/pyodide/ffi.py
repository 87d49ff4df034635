"""`pyodide.ffi`: what crosses between Python and the platform's side."""

from __future__ import annotations

from localedge.boundary import JsProxy
from localedge.errors import JsException
from localedge.jsproxy import JSNULL as jsnull
from localedge.jsproxy import JsNull

__all__ = ["JsException", "JsNull", "JsProxy", "jsnull"]
