"""The API of the data views is the one that docs/inspector-data.md describes."""

from __future__ import annotations

import re
from pathlib import Path
from typing import cast

from starlette.routing import Route

from localedge.inspector import agents_view, d1_view, kv_view
from localedge.inspector.inspection import Inspection, api

PAGE = Path(__file__).parents[2] / "docs" / "inspector-data.md"
_CALL = re.compile(r"^\| `(GET|POST|PUT|DELETE) ([^?`]+)", re.MULTILINE)


def test_every_call_is_described_and_every_description_is_a_call() -> None:
    nobody = cast(Inspection, object())
    routes = [
        cast(Route, route)
        for view in (kv_view, d1_view, agents_view)
        for route in view.routes(nobody)
    ]

    offered = {
        (method, route.path)
        for route in routes
        for method in route.methods or ()
        if method != "HEAD"
    }

    described = {(method, api(path)) for method, path in _CALL.findall(PAGE.read_text("utf-8"))}
    assert offered == described
