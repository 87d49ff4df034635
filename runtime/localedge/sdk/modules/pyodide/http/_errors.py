"""The errors of `pyodide.http`."""

from __future__ import annotations


class BodyUsedError(OSError):
    """The body of a response was read before."""

    def __init__(self) -> None:
        super().__init__("Response body is already used")


class AbortError(OSError):
    """A fetch did not reach its end: the network failed, or it was aborted."""


class HttpStatusError(OSError):
    """A response has a status of 400 or more.

    Shape: `status`, `status_text` and `url` are the response's.
    """

    def __init__(self, status: int, status_text: str, url: str) -> None:
        self.status = status
        self.status_text = status_text
        self.url = url
        kind = "Client" if status < 500 else "Server"
        super().__init__(f"{status} {kind} Error: {status_text} for url: {url}")
