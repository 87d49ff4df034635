"""`import wsgi`: the adapter under its short name."""

from workers.wsgi import entrypoint, fetch

__all__ = ["entrypoint", "fetch"]
