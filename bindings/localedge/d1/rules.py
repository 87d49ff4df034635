"""What D1 lets SQL do: allowed functions, pragmas and modules, limits, and the texts of refusal.

Source: reference/kv-d1-contract.md 2.12 and 2.13, read 2026-12-01.
"""

from __future__ import annotations

import re
from typing import Final

ALLOW: Final = 0
DENY: Final = 1

TRANSACTION_TEXT: Final = (
    "To execute a transaction, please use the state.storage.transaction() or "
    "state.storage.transactionSync() APIs instead of the SQL BEGIN TRANSACTION or SAVEPOINT "
    "statements. The JavaScript API is safer because it will automatically roll back on "
    "exceptions, and because it interacts correctly with Durable Objects' automatic atomic "
    "write coalescing."
)
NOT_AUTHORIZED: Final = "not authorized: SQLITE_AUTH"
TOO_LONG: Final = "statement too long: SQLITE_TOOBIG"
NO_STATEMENTS: Final = "No SQL statements detected."
NOT_A_STATEMENT: Final = "SQL code did not contain a statement."
WRONG_BINDINGS: Final = "Wrong number of parameter bindings for SQL query."
ONLY_LAST_BINDS: Final = (
    "When executing multiple SQL statements in a single call, only the last statement can have "
    "parameters."
)
TIMED_OUT: Final = "D1 DB storage operation exceeded timeout which caused object to be reset"

MAX_SQL_BYTES: Final = 100_000
MAX_VALUE_BYTES: Final = 2_000_000
ROW_HEADER_BYTES: Final = 1_000
"""Room for the header of a row whose one value has the greatest allowed length."""
QUERY_TIMEOUT_S: Final = 30.0

LIMITS: Final = {
    "LENGTH": MAX_VALUE_BYTES,
    "SQL_LENGTH": MAX_SQL_BYTES + 100,
    "COLUMN": 100,
    "EXPR_DEPTH": 100,
    "COMPOUND_SELECT": 5,
    "VDBE_OP": 25_000,
    "FUNCTION_ARG": 32,
    "ATTACHED": 0,
    "LIKE_PATTERN_LENGTH": 50,
    "VARIABLE_NUMBER": 100,
    "TRIGGER_DEPTH": 10,
}
"""By the name after SQLITE_LIMIT_. Longer SQL is refused before the engine sees it."""

FUNCTIONS: Final = frozenset(
    # core
    "abs changes char coalesce concat concat_ws format glob hex ifnull iif instr "
    "last_insert_rowid length like likelihood likely lower ltrim max min nullif octet_length "
    "printf quote random randomblob replace round rtrim sign substr substring total_changes "
    "trim typeof unhex unicode unlikely upper zeroblob "
    # date and time
    "date time datetime julianday unixepoch strftime timediff current_date current_time "
    "current_timestamp "
    # aggregate and window
    "avg count group_concat string_agg sum total row_number rank dense_rank percent_rank "
    "cume_dist ntile lag lead first_value last_value nth_value "
    # math
    "acos acosh asin asinh atan atan2 atanh ceil cos cosh degrees exp floor ln log log2 mod pi "
    "pow radians sin sinh sqrt tan tanh trunc "
    # JSON
    "json json_array json_array_length json_extract json_group_array json_group_object "
    "json_insert json_object json_patch json_quote json_remove json_replace json_set json_type "
    "json_valid jsonb jsonb_array jsonb_extract jsonb_group_array jsonb_group_object "
    "jsonb_insert jsonb_object jsonb_patch jsonb_remove jsonb_replace jsonb_set -> ->> "
    # FTS5
    "match highlight bm25 snippet fts5 "
    # authorized, and then refused by the engine itself
    "load_extension "
    # what ALTER TABLE calls; SQL text cannot
    "sqlite_rename_table sqlite_rename_column sqlite_rename_test sqlite_rename_quotefix "
    "sqlite_drop_column sqlite_add_constraint sqlite_drop_constraint sqlite_find_constraint "
    "sqlite_fail".split()
)
ABSENT_FUNCTIONS: Final = frozenset(
    "soundex sqlite_offset median percentile percentile_cont percentile_disc sqlite_log "
    "fts3_tokenizer matchinfo offsets optimize rtreecheck rtreedepth rtreenode".split()
)
"""Functions of some builds of SQLite that the platform's does not have."""
UNAUTHORIZED_FUNCTIONS: Final = frozenset(
    "if unistr unistr_quote json_pretty json_error_position subtype jsonb_each jsonb_tree".split()
)
"""Functions that the platform's SQLite has and refuses, and older ones lack."""

MODULES: Final = frozenset({"fts5", "fts5vocab", "rtree", "rtree_i32"})
ABSENT_TABLES: Final = frozenset({"dbstat", "sqlite_stmt", "sqlite_dbpage", "bytecode"})

_ANY_READ: Final = re.compile(r"\A\Z")
_NAME: Final = re.compile(r"(?i)(?!_cf_).+\Z", re.DOTALL)
_OPTIONAL_NAME: Final = re.compile(r"(?i)(?!_cf_).*\Z", re.DOTALL)
_SWITCH: Final = re.compile(r"(?i)(on|off|true|false|yes|no|1|0)?\Z")
_NUMBER: Final = re.compile(r"(?i)((0x)?[0-9a-f]+)?\Z")
PRAGMAS: Final = {
    "table_list": _OPTIONAL_NAME,
    "table_info": _NAME,
    "table_xinfo": _NAME,
    "index_list": _NAME,
    "index_info": _NAME,
    "index_xinfo": _NAME,
    "foreign_key_list": _NAME,
    "foreign_key_check": _OPTIONAL_NAME,
    "quick_check": _OPTIONAL_NAME,
    "optimize": _NUMBER,
    "data_version": _ANY_READ,
    "page_size": _ANY_READ,
    "case_sensitive_like": _SWITCH,
    "foreign_keys": _SWITCH,
    "defer_foreign_keys": _SWITCH,
    "ignore_check_constraints": _SWITCH,
    "legacy_alter_table": _SWITCH,
    "recursive_triggers": _SWITCH,
    "reverse_unordered_selects": _SWITCH,
}
"""Each allowed pragma with the arguments it may have; "" stands for none."""
RESETS: Final = (
    "PRAGMA case_sensitive_like=0",
    "PRAGMA ignore_check_constraints=0",
    "PRAGMA legacy_alter_table=0",
    "PRAGMA recursive_triggers=0",
    "PRAGMA reverse_unordered_selects=0",
)

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
            return self._function((second or "").lower())
        if action == _PRAGMA:
            return _pragma((first or "").lower(), second, schema)
        if action in (_TRANSACTION, _SAVEPOINT):
            self.text = TRANSACTION_TEXT
            return DENY
        if action in (_ATTACH, _DETACH):
            # VACUUM asks for '' first; the engine then refuses it in its own words.
            return ALLOW if action == _ATTACH and first == "" else DENY
        return self._object(action, first or "", second or "", schema)

    def _function(self, name: str) -> int:
        if name in FUNCTIONS:
            return ALLOW
        if name in ABSENT_FUNCTIONS:
            self.text = f"no such function: {name}: SQLITE_ERROR"
        return DENY

    def _object(self, action: int, first: str, second: str, schema: str | None) -> int:
        if action == _ALTER:
            return DENY if is_internal(second) or first == "temp" else ALLOW
        if schema == "temp":
            # ALTER TABLE looks through the (empty) temporary schema; user text cannot write to it.
            is_own = first in _TEMP_SCHEMA and action in (_READ, _UPDATE)
            return ALLOW if is_own else DENY
        if is_internal(first) or (action != _READ and is_internal(second)):
            return DENY
        if action == _CREATE_VTABLE:
            return ALLOW if second.lower() in MODULES else DENY
        if action == _READ and first.lower() in ABSENT_TABLES:
            self.text = f"no such table: {first}: SQLITE_ERROR"
            return DENY
        return ALLOW


def is_internal(name: str) -> bool:
    """Whether `name` belongs to the platform."""
    return name[:4].lower() == "_cf_"


def _pragma(name: str, argument: str | None, schema: str | None) -> int:
    allowed = PRAGMAS.get(name)
    if allowed is None or schema == "temp":
        return DENY
    return ALLOW if allowed.match(argument or "") else DENY
