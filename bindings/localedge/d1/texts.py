"""The engine's error texts as D1 shows them.

Source: reference/kv-d1-contract.md 2.7, 2.12 and 2.13, read 2026-12-01.
"""

from __future__ import annotations

from typing import Final

from localedge.d1.rules import ABSENT_FUNCTIONS, UNAUTHORIZED_FUNCTIONS

TRANSACTION: Final = (
    "To execute a transaction, please use the state.storage.transaction() or "
    "state.storage.transactionSync() APIs instead of the SQL BEGIN TRANSACTION or SAVEPOINT "
    "statements. The JavaScript API is safer because it will automatically roll back on "
    "exceptions, and because it interacts correctly with Durable Objects' automatic atomic "
    "write coalescing."
)
NOT_AUTHORIZED: Final = "not authorized: SQLITE_AUTH"
TOO_LONG: Final = "statement too long: SQLITE_TOOBIG"
TOO_BIG: Final = "string or blob too big: SQLITE_TOOBIG"
NO_MEMORY: Final = "out of memory: SQLITE_NOMEM"
NO_STATEMENTS: Final = "No SQL statements detected."
NO_TEXT: Final = "Failed to parse body as JSON, got: ZodError"
"""Of SQL that is no text. Source: what workerd 2026-11-17 answered, read 2026-12-01."""
NOT_A_STATEMENT: Final = "SQL code did not contain a statement."
WRONG_BINDINGS: Final = "Wrong number of parameter bindings for SQL query."
ONLY_LAST_BINDS: Final = (
    "When executing multiple SQL statements in a single call, only the last statement can have "
    "parameters."
)
TIMED_OUT: Final = "D1 DB storage operation exceeded timeout which caused object to be reset"
CLOSED: Final = "Network connection lost."

# Source: https://sqlite.org/rescode.html, read 2026-12-01.
_PRIMARY: Final = (
    "OK ERROR INTERNAL PERM ABORT BUSY LOCKED NOMEM READONLY INTERRUPT IOERR CORRUPT NOTFOUND "
    "FULL CANTOPEN PROTOCOL EMPTY SCHEMA TOOBIG CONSTRAINT MISMATCH MISUSE NOLFS AUTH FORMAT "
    "RANGE NOTADB"
)
_PRIMARY_NAMES: Final = dict(enumerate(_PRIMARY.split()))
# Codes that an older Python's driver has no name for.
_EXTENDED: Final = {3091: "SQLITE_CONSTRAINT_DATATYPE", 2835: "SQLITE_CONSTRAINT_PINNED"}


def describe(text: str, code: int | None, name: str, *, offset: int | None = None) -> str:
    """`text` with its place and the names of its codes.

    Shape: `code` is None for an error of the driver's own.
    """
    if code is None:
        # Python refuses such a text before the engine sees it.
        return TOO_LONG if text == "query string is too large" else f"{text}: SQLITE_ERROR"
    primary = f"SQLITE_{_PRIMARY_NAMES.get(code & 0xFF, 'ERROR')}"
    extended = _EXTENDED.get(code, name)
    suffix = f" (extended: {extended})" if code > 0xFF else ""
    place = "" if offset is None else f" at offset {offset}"
    text = _NEWER.get(text) or _function_text(text)
    return f"{text}{place}: {primary}{suffix}"


_REFUSED_FUNCTION: Final = "not authorized to use function: "
_UNKNOWN_FUNCTION: Final = "no such function: "
_WRONG_COUNT: Final = "wrong number of arguments to function "

_NEWER: Final = {"too many levels of trigger recursion": "triggers nested too deep"}
"""Texts of older versions of SQLite and those of the platform's (3.54)."""


def _function_text(text: str) -> str:
    """The builds differ in which functions they have: say what the platform's build says."""
    if text.startswith(_REFUSED_FUNCTION):
        name = text.removeprefix(_REFUSED_FUNCTION)
        return f"{_UNKNOWN_FUNCTION}{name}" if name.lower() in ABSENT_FUNCTIONS else text
    if text.startswith(_UNKNOWN_FUNCTION):
        name = text.removeprefix(_UNKNOWN_FUNCTION)
        return f"{_REFUSED_FUNCTION}{name}" if name.lower() in UNAUTHORIZED_FUNCTIONS else text
    if text.startswith(_WRONG_COUNT):
        name = text.removeprefix(_WRONG_COUNT).removesuffix("()")
        return f"{_UNKNOWN_FUNCTION}{name}" if name.lower() in ABSENT_FUNCTIONS else text
    return text
