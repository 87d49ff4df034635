"""What D1 lets SQL do: allowed functions, pragmas and modules, and limits.

Source: reference/kv-d1-contract.md 2.12 and 2.13, read 2026-12-01.
"""

from __future__ import annotations

import re
from typing import Final


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


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

FUNCTIONS: Final = _words(
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
    "match highlight bm25 snippet "
    # authorized, and then refused by the engine itself
    "load_extension "
    # what ALTER TABLE calls; SQL text cannot
    "sqlite_rename_table sqlite_rename_column sqlite_rename_test sqlite_rename_quotefix "
    "sqlite_drop_column sqlite_add_constraint sqlite_drop_constraint sqlite_find_constraint "
    "sqlite_fail"
)
ABSENT_FUNCTIONS: Final = _words(
    "soundex sqlite_offset median percentile percentile_cont percentile_disc "
    "sqlite_log fts3_tokenizer matchinfo offsets optimize rtreecheck rtreedepth "
    "rtreenode"
)
"""Functions of some builds of SQLite that the platform's does not have."""
UNAUTHORIZED_FUNCTIONS: Final = _words(
    "if unistr unistr_quote json_pretty json_error_position subtype jsonb_each jsonb_tree"
)
"""Functions that the platform's SQLite has and refuses, and older ones lack."""

MODULES: Final = frozenset({"fts5", "fts5vocab", "rtree", "rtree_i32"})
# Differs: a worker's own table of one of these names cannot be read.
ABSENT_TABLES: Final = frozenset({"dbstat", "sqlite_stmt", "sqlite_dbpage", "bytecode"})

_ANY_READ: Final = re.compile(r"\A\Z")
_NAME: Final = re.compile(r"(?i)(?!_cf_).+\Z", re.DOTALL)
_OPTIONAL_NAME: Final = re.compile(r"(?i)(?!_cf_).*\Z", re.DOTALL)
# Only how it begins counts.
_SWITCH: Final = re.compile(r"(?i)on|off|true|false|yes|no|1|0|\Z")
_NUMBER: Final = re.compile(r"(?i)(-?(0x[0-9a-f]{1,16}|[0-9]{1,19}))?\Z")
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


def is_internal(name: str) -> bool:
    """Whether `name` belongs to the platform."""
    return name[:4].lower() == "_cf_"
