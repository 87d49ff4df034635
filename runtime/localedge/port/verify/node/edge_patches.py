"""Runs on Pyodide: a stand-in for `_cloudflare`, with which the SDK patches packages.

The SDK patches packages around their import: `anyio.to_thread` calls inline, since there are no
threads; `requests` and others do without `ssl` for a moment. What the patches do about entropy and
snapshots has nothing to act on here.

Source: workers_runtime_sdk 1.9.5, `_workers_sdk_package_patches.py` and
`_workers_sdk_entropy_import_context.py`, read 2026-12-01.
"""

from __future__ import annotations

import importlib
import importlib.util
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from importlib.abc import Loader, MetaPathFinder
from importlib.machinery import ModuleSpec, PathFinder
from types import ModuleType
from typing import Any

Patch = Callable[[ModuleType], AbstractContextManager[None]]
_PATCHES: dict[str, Patch] = {}


def install() -> None:
    """The SDK's patches are in force for packages that are imported from now on."""
    _module("_cloudflare")
    _module("_cloudflare.allow_entropy").__dict__["allow_bad_entropy_calls"] = _allowed
    manager = _module("_cloudflare.import_patch_manager").__dict__
    manager["block_calls"] = _ignored
    manager["register_after_snapshot"] = _ignored
    manager["register_before_first_request"] = _ignored
    manager["register_create_patch"] = _registered
    manager["register_exec_patch"] = _registered
    sys.meta_path.insert(0, _Patching())
    if importlib.util.find_spec("_workers_sdk_patch_loader") is not None:
        importlib.import_module("_workers_sdk_patch_loader")


def _module(name: str) -> ModuleType:
    module = sys.modules[name] = ModuleType(name)
    module.__spec__ = ModuleSpec(name, None)
    return module


@contextmanager
def _allowed(_count: int) -> Iterator[None]:
    yield


def _ignored(*_arguments: Any, **_options: Any) -> Callable[[Any], Any]:
    return lambda function: function


def _registered(name: str) -> Callable[[Patch], Patch]:
    def register(patch: Patch) -> Patch:
        _PATCHES[name] = patch
        return patch

    return register


class _Patching(MetaPathFinder):
    """Finds what is to be patched, and has its patch around its import."""

    def find_spec(
        self, name: str, path: Sequence[str] | None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        """The spec of a module that has a patch."""
        if name not in _PATCHES:
            return None
        spec = PathFinder.find_spec(name, path, target)
        if spec is not None and spec.loader is not None:
            spec.loader = _Patched(spec.loader, _PATCHES[name])
        return spec


class _Patched(Loader):
    """Loads as `loader` does, inside the patch."""

    def __init__(self, loader: Loader, patch: Patch) -> None:
        self._loader = loader
        self._patch = patch

    def __getattr__(self, name: str) -> Any:
        return getattr(self._loader, name)

    def create_module(self, spec: ModuleSpec) -> ModuleType | None:
        """The module, not executed yet."""
        return self._loader.create_module(spec)

    def exec_module(self, module: ModuleType) -> None:
        """The module is executed, and patched."""
        with self._patch(module):
            self._loader.exec_module(module)
