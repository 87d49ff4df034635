"""Offers `workers`, `asgi`, `js` and `pyodide` to the code of a worker, in isolates only."""

from __future__ import annotations

import sys
from collections.abc import Sequence
from importlib.abc import MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from pathlib import Path
from types import ModuleType
from typing import Final

from localedge.sdk import upstream

MODULES: Final = Path(__file__).parent / "modules"
OFFERED: Final = frozenset({"workers", "asgi", "wsgi", "js", "pyodide"})
"""Names that a bundle cannot have for itself: the platform's own come first there too."""


MISSING: Final = {
    "micropip": "Declare the package in pyproject.toml; it comes from your own environment here.",
    "pyodide.webloop": "The event loop is asyncio's own here.",
    "pyodide_js": "There is no JavaScript interpreter here.",
    "workers.htmlrewriter": "Parse the body in Python.",
    "workers.gateway.options": "Import BaseOptions from workers.gateway.",
}
"""Modules that exist on the platform and not here, with what works in both places."""


class _Finder(MetaPathFinder):
    def find_spec(
        self,
        fullname: str,
        path: Sequence[str] | None,
        target: ModuleType | None = None,
    ) -> ModuleSpec | None:
        if path is None and fullname in OFFERED:
            return _telling(PathFinder.find_spec(fullname, [str(MODULES)]))
        if fullname in upstream.KNOWN:
            return _telling(PathFinder.find_spec(fullname, path))
        remedy = MISSING.get(fullname)
        if remedy is not None:
            raise ModuleNotFoundError(
                f"{fullname} exists on the platform, not in localedge. {remedy}", name=fullname
            )
        return None


def _telling(spec: ModuleSpec | None) -> ModuleSpec | None:
    if spec is not None and spec.name in upstream.KNOWN and spec.origin is not None:
        spec.loader = upstream.TellingLoader(spec.name, spec.origin)
    return spec


def install() -> None:
    """Imports of the offered names in this process find ours, whatever else is installed."""
    if not any(isinstance(finder, _Finder) for finder in sys.meta_path):
        sys.meta_path.insert(0, _Finder())


def remove() -> None:
    """The offered names are no longer found, and those imported from here are forgotten."""
    sys.meta_path[:] = [finder for finder in sys.meta_path if not isinstance(finder, _Finder)]
    for name in [name for name in sys.modules if name.partition(".")[0] in OFFERED]:
        spec = sys.modules[name].__spec__
        if spec is not None and spec.origin and Path(spec.origin).is_relative_to(MODULES):
            del sys.modules[name]
