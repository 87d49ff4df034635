"""The views of the page: each is a module here that has a `VIEW`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import Final, TypeAlias

from starlette.routing import BaseRoute

from localedge.inspector.html import Html
from localedge.inspector.inspection import Inspection

Render: TypeAlias = Callable[[Inspection], Awaitable[Html]]
Routes: TypeAlias = Callable[[Inspection], Sequence[BaseRoute]]

_MODULES: Final = ("live", "isolates", "kv_view", "d1_view", "agents_view", "clock")
"""In the order of the navigation."""


@dataclass(frozen=True, slots=True)
class View:
    """One view of the page.

    Shape: `name` is its address (`view/NAME`) and that of its files: `static/NAME.js`, a module,
    and, where `has_style`, `static/NAME.css`. `render` makes what stands in the page before that
    module runs. `routes` are its part of the API, with paths from `api/` on.
    """

    name: str
    title: str
    render: Render
    routes: Routes
    has_style: bool = False


@cache
def views() -> tuple[View, ...]:
    """All views that there are, in the order of the navigation."""
    names = (f"{__package__}.{name}" for name in _MODULES)
    return tuple(import_module(name).VIEW for name in names if find_spec(name) is not None)
