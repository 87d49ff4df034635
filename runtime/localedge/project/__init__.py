"""A project's configuration: found, read, checked, and given as frozen models."""

from localedge.project.loading import load

__all__ = ["load"]
