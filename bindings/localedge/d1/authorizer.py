"""The authorizer: SQLite asks it about each thing that a statement is about to do.

Source: reference/kv-d1-contract.md 2.12, read 2026-12-01.
"""

from __future__ import annotations

from typing import Final

from localedge.d1 import rules, texts

ALLOW: Final = 0
DENY: Final = 1

# Action codes of sqlite3_set_authorizer.
# Source: https://sqlite.org/c3ref/c_alter_table.html, read 2026-12-01.
_PRAGMA, _READ, _SELECT, _TRANSACTION, _UPDATE, _ATTACH, _DETACH, _ALTER = range(19, 27)
_CREATE_VTABLE, _DROP_VTABLE, _FUNCTION, _SAVEPOINT, _RECURSIVE = range(29, 34)
_DELETE: Final = 9
_TEMP_SCHEMA: Final = frozenset({"sqlite_temp_master", "sqlite_temp_schema"})


class Authorizer:
    """Answers SQLite's question for each thing that a statement is about to do.

    Shape: while `is_trusted` everything is allowed (statements of ours); `text` is the full text
    of the last refusal when it differs from the engine's own.
    """

    __slots__ = ("is_trusted", "text")

    def __init__(self) -> None:
        self.is_trusted = False
        self.text: str | None = None

    def __call__(
        self,
        action: int,
        first: str | None,
        second: str | None,
        schema: str | None,
        _trigger: str | None,
    ) -> int:
        if self.is_trusted or action == _SELECT:
            return ALLOW
        if action == _FUNCTION:
            return ALLOW if (second or "").lower() in rules.FUNCTIONS else DENY
        if action == _PRAGMA:
            return _pragma((first or "").lower(), second, schema)
        if action in (_TRANSACTION, _SAVEPOINT):
            self.text = texts.TRANSACTION
            return DENY
        if action in (_ATTACH, _DETACH):
            return DENY
        return self._object(action, first or "", second or "", schema)

    def _object(self, action: int, first: str, second: str, schema: str | None) -> int:
        if action == _ALTER:
            return DENY if rules.is_internal(second) or first == "temp" else ALLOW
        if schema == "temp":
            # ALTER TABLE looks through the (empty) temporary schema; user text cannot write to it.
            is_own = first in _TEMP_SCHEMA and action in (_READ, _UPDATE)
            return ALLOW if is_own else DENY
        if rules.is_internal(first) or (action != _READ and rules.is_internal(second)):
            return DENY
        if action == _CREATE_VTABLE:
            return ALLOW if second.lower() in rules.MODULES else DENY
        if action == _READ and first.lower() in rules.ABSENT_TABLES:
            self.text = f"no such table: {first}: SQLITE_ERROR"
            return DENY
        return ALLOW


def _pragma(name: str, argument: str | None, schema: str | None) -> int:
    allowed = rules.PRAGMAS.get(name)
    if allowed is None or schema == "temp":
        return DENY
    # An empty text is an argument: a name that nothing has, and no switch or number.
    given = "''" if argument == "" else argument or ""
    return ALLOW if allowed.match(given) else DENY
