"""Errors for the two readers that `bindings` and `runtime` speak to: worker code, operators."""

from __future__ import annotations

from enum import IntEnum


class JsException(Exception):  # noqa: N818  (the platform's own name, `pyodide.ffi.JsException`)
    """A JavaScript error as worker code catches it.

    Shape: `name` is the JavaScript class ("Error", "TypeError"), `message` has no prefix,
    `stack` is text, `cause` is another JsException or None; `str(e)` is "<name>: <message>".
    Source: reference/kv-d1-contract.md section 0, read 2026-12-01.
    """

    def __init__(
        self, message: str, *, name: str = "Error", cause: JsException | None = None
    ) -> None:
        super().__init__(message)
        self.name = name
        self.message = message
        self.cause = cause

    @property
    def stack(self) -> str:
        """The text of the error; there are no JavaScript frames to show."""
        return str(self)

    def __str__(self) -> str:
        return f"{self.name}: {self.message}"


def js_type_error(message: str) -> JsException:
    """A JavaScript TypeError with `message`."""
    return JsException(message, name="TypeError")


class Exit(IntEnum):
    """What a command's exit code means."""

    DONE = 0
    FAILED = 1
    USAGE = 2
    CONFIG = 3
    UNREACHABLE = 4


class OperatorError(Exception):
    """Something that the person at the keyboard can put right.

    Shape: `code` is "<area>/<kind>" ("config/unknown-key"), `message` says what happened and
    what was allowed, `hint` what to do, `exit` the exit code of a command that ends with it.
    """

    def __init__(self, code: str, message: str, hint: str = "", *, exit: Exit = Exit.FAILED):
        super().__init__(message)
        self.code = code
        self.message = message
        self.hint = hint
        self.exit = exit

    def __str__(self) -> str:
        hint = f"  {self.hint}" if self.hint else ""
        return f"{self.code}: {self.message}{hint}"
