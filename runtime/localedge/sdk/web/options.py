"""Options objects of JavaScript's own functions."""

from __future__ import annotations

from typing import Any

from localedge.jsproxy import raw_to_js
from localedge.sdk.host import edge_python
from localedge.values import JsMap, PyObject


def members_of(init: Any) -> dict[str, Any]:
    """What an options argument says; nothing for one that is no object.

    Shape: a Python dict that was passed as it is counts since the Pyodide of Python 3.14, its
    values stay Python's; a Map, which `to_js` made of a dict until then, has no such members.
    Source: recorded on Pyodide 314.0.7.
    """
    if isinstance(init, PyObject) and isinstance(init.value, dict) and edge_python() >= (3, 14):
        return {name: raw_to_js(v) for name, v in init.value.items() if isinstance(name, str)}
    return init if isinstance(init, dict) and not isinstance(init, JsMap) else {}
