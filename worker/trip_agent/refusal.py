"""What a client is told when a request cannot be served."""

from __future__ import annotations


class Refusal(Exception):  # noqa: N818  (an answer, not a fault of the worker)
    """Ends a request with a JSON error.

    Shape: `status` is the HTTP status, `code` a word that programs can compare, `message` a
    sentence for people; `allow` lists the methods that a route knows, for status 405.
    """

    def __init__(self, status: int, code: str, message: str, *, allow: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.code = code
        self.message = message
        self.allow = allow


def bad_request(code: str, message: str) -> Refusal:
    """A refusal of what the client sent."""
    return Refusal(400, code, message)


def not_found(code: str, message: str) -> Refusal:
    """A refusal because there is no such thing."""
    return Refusal(404, code, message)
