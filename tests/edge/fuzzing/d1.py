"""Programs of D1 calls, drawn at random, as the recorded vectors write them."""

from __future__ import annotations

import re
from typing import Any

from hypothesis import strategies as st
from tests.edge.fuzzing import sql

SCHEMAS = st.sampled_from(
    [
        "CREATE TABLE t (id INTEGER PRIMARY KEY, a, b TEXT, c REAL, d BLOB)",
        "CREATE TABLE t (id INTEGER PRIMARY KEY AUTOINCREMENT, a UNIQUE, b NUMERIC NOT NULL)",
        "CREATE TABLE t (a INT PRIMARY KEY, b TEXT DEFAULT 'x' CHECK (b < 'm')) WITHOUT ROWID",
        "CREATE TABLE t (a INTEGER, b TEXT, c ANY) STRICT",
        "CREATE TABLE t (a, b, c AS (a || b), PRIMARY KEY (a, b))",
    ]
)
MORE = st.sampled_from(
    [
        "CREATE TABLE u (t REFERENCES t ON DELETE CASCADE, x)",
        "CREATE UNIQUE INDEX i ON t (b)",
        "CREATE INDEX i ON t (a) WHERE b > 1",
        "CREATE VIEW v AS SELECT a, b AS a, count(*) OVER () n FROM t",
        "CREATE TABLE log (x); CREATE TRIGGER r AFTER INSERT ON t BEGIN INSERT INTO log"
        " VALUES (new.a); END",
        "CREATE TRIGGER n BEFORE DELETE ON t BEGIN SELECT RAISE(ABORT, 'no way'); END",
        "DROP TABLE t",
        "DROP TABLE IF EXISTS nope",
        "ALTER TABLE t ADD COLUMN e DEFAULT 7",
        "ALTER TABLE t RENAME COLUMN a TO f",
        "ALTER TABLE t RENAME TO s",
        "CREATE VIRTUAL TABLE f USING fts5(x)",
        "ANALYZE",
        "REINDEX",
        "VACUUM",
    ]
)
VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(-3, 9),
    st.sampled_from([0.5, -0.0, 1e20, 1.5e300, 2**31]),
    st.sampled_from([{"$float": "nan"}, {"$float": "inf"}, {"$int": str(2**53)}]),
    st.text(st.characters(exclude_categories=["Cs"]), max_size=4),
    st.sampled_from(["1", "1.0", "0x1", " 2 ", "abc", "1e2", "a\x00b", "é😀"]),
    st.sampled_from([{"$bytes": ""}, {"$bytes": "0061ff"}, [1, 2, 255], [], [1.5], [256], ["a"]]),
    st.sampled_from([{"$bytearray": "00"}, {"$tuple": [1]}, {"a": 1}, {}, [[1]], [None]]),
)
TERMS = st.sampled_from(
    [
        *("?", "?1", "?2", ":a", "@b", "$c", "?3", "NULL", "1", "2.0", "'x'", "x'00ff'", "-7"),
        *("9007199254740993", "a", "b", "id", "t.a", "rowid", "nope", '"a"', '"lit"'),
    ]
)
_WRAPPED = (
    *(
        "typeof({})",
        "abs({})",
        "upper({})",
        "hex({})",
        "length({})",
        "quote({})",
        "coalesce({}, 1)",
    ),
    *("CAST({} AS TEXT)", "CAST({} AS INTEGER)", "CAST({} AS BLOB)", "CAST({} AS NUMERIC)"),
    *("round({}, 1)", "substr({}, 2)", "json_array({})", "json({})", "instr({}, 'x')", "-{}"),
    *("{} || 'a'", "{} + 1", "{} / 2", "5 / {}", "{} % 3", "NOT {}", "{} IS NULL", "{} = 1"),
    *("{} BETWEEN 0 AND 5", "{} IN (1, 'x')", "{} LIKE 'x%'", "{} GLOB '*'", "max({}, 2)"),
    *("iif({}, 1, 2)", "nullif({}, 1)", "unicode({})", "char({})", "trim({})", "sign({})"),
    *("printf('%d %s', {}, 1)", "json_extract({}, '$')", "json_type({})", "json_valid({})"),
    *("replace({}, 'x', 'y')", "date({})", "unixepoch({})", "julianday({})", "sqrt({})", "ln({})"),
    *("total({})", "sum({})", "count({})", "group_concat({})", "min({})", "avg({})"),
    *("json_group_array({})", "json_quote({})", "json_object('k', {})", "zeroblob({})"),
    *("sqlite_version()", "random() IS {}", "last_insert_rowid()", "changes()", "exp({})"),
    *("strftime('%Y', {})", "load_extension({})", "ltrim({}, 'x')", "mod({}, 2)"),
    *("{} COLLATE NOCASE", "CASE {} WHEN 1 THEN 'a' ELSE 'b' END", "EXISTS (SELECT {})", "({})"),
)
EXPRESSIONS = st.recursive(
    TERMS,
    lambda inner: st.tuples(st.sampled_from(_WRAPPED), inner).map(lambda p: p[0].format(p[1])),
    max_leaves=3,
)
_FROM = (
    "",
    "",
    " FROM t",
    " FROM t ORDER BY 1",
    " FROM t WHERE a > ?",
    " FROM t LIMIT ?",
    " FROM nope",
)


def _select(parts: tuple[list[str], str]) -> str:
    text = f"SELECT {', '.join(parts[0])}{parts[1]}"
    # Beside a name, the name of a column in which a `?` stands is a known difference.
    return re.sub(r"[:@$][abc]\b", "?1", text) if "?" in text else text


SELECTS = st.tuples(st.lists(EXPRESSIONS, min_size=1, max_size=3), st.sampled_from(_FROM)).map(
    _select
)
INSERTS = st.sampled_from(
    [
        "INSERT INTO t (a, b) VALUES (?, ?)",
        "INSERT INTO t (a, b) VALUES (1, 'x'), (?, ?)",
        "INSERT OR IGNORE INTO t (a, b) VALUES (?1, ?1)",
        "INSERT OR REPLACE INTO t (a, b) VALUES (?, 'y') RETURNING *",
        "INSERT INTO t (a, b) VALUES (?, ?) ON CONFLICT DO UPDATE SET b = excluded.b RETURNING a",
        "INSERT INTO t (id, a, b) VALUES (?, 1, 2)",
        "INSERT INTO t DEFAULT VALUES",
        "INSERT INTO u VALUES (?, ?)",
        "UPDATE t SET a = ? WHERE b = ?",
        "UPDATE t SET b = b RETURNING a, b, a",
        "UPDATE t SET a = a + 1",
        "DELETE FROM t WHERE a = ?",
        "DELETE FROM t RETURNING *",
        "DELETE FROM t LIMIT 1",
        "REPLACE INTO t (a, b) SELECT a, b FROM t",
        "WITH w(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM w WHERE n < 3)"
        " INSERT INTO t (a, b) SELECT n, n FROM w RETURNING a",
    ]
)
QUERIES = st.sampled_from(
    [
        *(
            "SELECT * FROM t",
            "SELECT a, a, b AS a FROM t",
            "SELECT count(*) FROM t",
            "SELECT * FROM v",
        ),
        *(
            "SELECT rowid, * FROM t ORDER BY rowid",
            'SELECT 1 AS a, 2 AS "", 3',
            "VALUES (1, ?), (2, 3)",
        ),
        *(
            "SELECT * FROM u, t",
            "SELECT name, type FROM sqlite_master ORDER BY name",
            "SELECT x FROM f",
        ),
        *(
            "PRAGMA table_info(t)",
            "PRAGMA foreign_keys",
            "PRAGMA user_version",
            "PRAGMA table_list",
        ),
        *("PRAGMA defer_foreign_keys = on", "PRAGMA foreign_key_check", "PRAGMA journal_mode"),
        *(
            "",
            " ",
            ";",
            "-- c",
            "/* c */",
            "SELECT 1; -- c",
            "SELECT 1;",
            "SELECT",
            "SELEC 1",
            "(",
            "'",
        ),
        *("SELECT 1; SELECT 2", "SELECT 1; SELECT ?", "SELECT ?; SELECT 2", "SELECT 1; nope"),
        *("BEGIN", "COMMIT", "SAVEPOINT s", "ROLLBACK", "ATTACH 'x' AS y", "DETACH main"),
        *("CREATE TEMP TABLE q (x)", "CREATE TABLE _cf_x (y)", "CREATE TABLE sqlite_x (y)"),
        *("SELECT * FROM _cf_METADATA", "SELECT * FROM pragma_table_info('t')", "SELECT ?0"),
        *(
            "SELECT ?101",
            "SELECT * FROM json_each(?)",
            "SELECT value FROM json_each('[1,2.0,null]')",
        ),
        *("SELECT 1 UNION SELECT 2 UNION SELECT 3 UNION SELECT 4 UNION SELECT 5 UNION SELECT 6",),
        *(
            "EXPLAIN SELECT 1 WHERE 0",
            "SELECT [a;b] FROM t",
            "SELECT 'a;b'; SELECT \"c;d\"",
        ),
    ]
)
SQL = st.one_of(
    *(SELECTS, SELECTS, INSERTS, INSERTS, QUERIES, QUERIES, MORE),
    *(sql.TEXTS, sql.CALLS, sql.CALLS, sql.OPERATIONS),
)
BOUND = st.lists(VALUES, max_size=3)
ENDS = st.sampled_from(
    [
        *(["all", [], {}], ["run", [], {}], ["first", [], {}], ["raw", [], {}]),
        *(["first", ["a"], {}], ["first", ["nope"], {}], ["first", [None], {}]),
        *(["raw", [], {"columnNames": True}], ["raw", [{"columnNames": False}], {}]),
        *(["raw", [None], {}], ["all", [], {}], ["all", [], {}], ["all", [], {}]),
    ]
)


def _question_marks(text: str) -> int:
    return text.count("?") or sum(text.count(mark) for mark in (":a", "@b", "$c"))


def _bound(text: str) -> st.SearchStrategy[list[Any]]:
    """Values for `text`: most often as many as it has parameters."""
    count = _question_marks(text)
    fitting = st.lists(VALUES, min_size=count, max_size=count)
    return st.one_of(fitting, fitting, fitting, BOUND)


def _statement(text: str) -> st.SearchStrategy[list[Any]]:
    return st.tuples(_bound(text), ENDS).map(
        lambda p: ["DB", ["prepare", [text], {}], *([["bind", p[0], {}]] if p[0] else []), p[1]]
    )


def _item(text: str) -> st.SearchStrategy[dict[str, Any]]:
    return _bound(text).map(lambda bound: {"$stmt": [text, *bound]})


STATEMENTS = SQL.flatmap(_statement)
BATCHES = st.lists(SQL.flatmap(_item), max_size=4).map(lambda items: ["DB", ["batch", [items], {}]])
EXECS = st.lists(SQL, max_size=3).map(lambda lines: ["DB", ["exec", ["\n".join(lines)], {}]])
_NO_TEXTS = st.sampled_from([None, 5, 1.5, True, "", {"a": 1}])
_PREPARED = ["prepare", ["SELECT ? AS a"], {}]
_ALL = ["all", [], {}]
# Calls with arguments of the wrong kind, and in another form than is usual.
FORMS = st.one_of(
    _NO_TEXTS.map(lambda value: ["DB", ["prepare", [value], {}], _ALL]),
    _NO_TEXTS.map(lambda value: ["DB", ["exec", [value], {}]]),
    _NO_TEXTS.map(lambda value: ["DB", ["batch", [value], {}]]),
    st.lists(_NO_TEXTS, max_size=2).map(lambda value: ["DB", ["batch", [value], {}]]),
    st.tuples(BOUND, BOUND).map(
        lambda p: ["DB", _PREPARED, ["bind", p[0], {}], ["bind", p[1], {}], _ALL]
    ),
    st.tuples(VALUES, _NO_TEXTS).map(
        lambda p: ["DB", _PREPARED, ["bind", [p[0]], {}], ["first", [p[1]], {}]]
    ),
    st.tuples(VALUES, _NO_TEXTS).map(
        lambda p: ["DB", _PREPARED, ["bind", [p[0]], {}], ["raw", [p[1]], {}]]
    ),
    VALUES.map(lambda value: ["DB", _PREPARED, ["bind", [], {"a": value}], _ALL]),
    # A session that runs something moves the last row id on the other side, where it keeps its
    # bookmark in a table.
    st.sampled_from([None, "", "first-primary", "x"]).map(
        lambda value: ["DB", ["withSession", [value], {}], ["getBookmark", [], {}]]
    ),
)
CALLS = st.one_of(STATEMENTS, STATEMENTS, STATEMENTS, BATCHES, EXECS, FORMS)


def _program(parts: tuple[str, list[Any]]) -> list[Any]:
    schema, calls = parts
    return [["DB", ["prepare", [schema], {}], ["run", [], {}]], *calls]


PROGRAMS = st.tuples(SCHEMAS, st.lists(CALLS, min_size=1, max_size=8)).map(_program)
