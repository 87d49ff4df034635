"""`workers.workflows`: the error that stops a step's retries."""

from __future__ import annotations


class NonRetryableError(Exception):
    """A step that raises it is not tried again."""
