"""Sentences about a worker that will surprise its author on the platform, or does so here."""

from __future__ import annotations

from collections.abc import Iterator

from localedge.sdk import discovery
from localedge.sdk.discovery import Entrypoints

_MODERN = "the modern form is class Default(WorkerEntrypoint), or the decorator @handler"
_RAW = "(results are JsProxy, null is jsnull, None is undefined)"


def surprises(found: Entrypoints, *, is_legacy: bool) -> Iterator[str]:
    """What the author of a worker with these entrypoints should know.

    Shape: `is_legacy` when its classes get the raw env of the older world.
    """
    yield from _unset(found)
    yield from _raw(found)
    if found.default is None and not found.legacy and not found.muted:
        named = f" ({', '.join(sorted(found.classes))} can be called by other workers only)"
        yield (
            "nothing answers: the main module has no class Default(WorkerEntrypoint)"
            f"{named if found.classes else ''}"
        )
    if found.muted:
        names = ", ".join(f"on_{name}" for name in found.muted)
        yield (
            f"{names}: functions of the main module handle nothing since compatibility date "
            "2025-08-14; the modern form is class Default(WorkerEntrypoint), and the flag "
            '"disable_python_no_global_handlers" brings the older one back'
        )
    if is_legacy and found.classes:
        yield (
            f"env holds raw objects of the platform {_RAW}, because the compatibility date is "
            "before 2026-04-21 and no SDK comes with the bundle; the modern form, with native "
            "values, comes with a later compatibility_date or with the flag "
            '"enable_python_external_sdk"'
        )


def _unset(found: Entrypoints) -> Iterator[str]:
    for class_name, cls in found.classes.items():
        for name in discovery.CLASS_HANDLERS:
            for parameter in discovery.unset_parameters(getattr(cls, name, None)):
                yield (
                    f"{class_name}.{name} reads its parameter {parameter!r}, which is None for "
                    f"a class handler: use self.{'env' if 'env' in parameter else 'ctx'}"
                )


def _raw(found: Entrypoints) -> Iterator[str]:
    for name, function in found.legacy.items():
        if not hasattr(function, "__wrapped__"):
            yield f"on_{name} gets raw objects of the platform {_RAW}; {_MODERN}"
