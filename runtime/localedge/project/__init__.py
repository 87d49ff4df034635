"""A project's configuration: found, read, checked, and given as frozen models."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from localedge.project.loading import load

__all__ = ["load"]


def __getattr__(name: str) -> object:
    # Isolates need the models only: what reads files is imported by whoever asks for it.
    if name == "load":
        from localedge.project.loading import load

        return load
    raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
