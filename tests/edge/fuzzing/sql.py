"""SQL texts that ask for the corners: where statements end, and functions that we supply."""

from __future__ import annotations

from hypothesis import strategies as st

_PIECES = st.sampled_from(
    [
        *("SELECT 1", "SELECT 'a' AS b", "SELECT ?", "SELECT", "select nope", "SELEC", "x", "1"),
        *(";", ";", ";;", " ", "\n", "\t", "\r\n", "\x0c", "\xa0", "\ufeff", "\x00"),
        *("-- c", "-- c\n", "/* c */", "/* ; */", "/*", "*/", "--", "#", "/**/"),
        *("'", '"', "`", "[", "]", "';'", '"a;b"', "[a;b]", "`a;b`", "'it''s'", "x'00'", "x'0"),
        *("BEGIN", "END", "END;", "COMMIT;", "EXPLAIN", "PRAGMA foreign_keys", "VALUES (1)"),
        *("CREATE TABLE w (x)", "INSERT INTO w VALUES (1)", "DROP TABLE w", "SELECT * FROM w"),
        *("CREATE TRIGGER a AFTER INSERT ON w BEGIN SELECT 1; END", "create temp trigger"),
        *(
            "CASE WHEN 1 THEN 2 END",
            ", 2",
            "(",
            ")",
            "?1",
            "?0",
            ":n",
            "@n",
            "$n",
            "$n::a(b)",
            "?x",
        ),
        *(
            "1e",
            "1.",
            ".5",
            "''''",
            "é",
            "😀",
            "->",
            "->>",
            "||",
            "==",
            "<>",
        ),
    ]
)
TEXTS = st.one_of(
    st.lists(_PIECES, max_size=5).map(" ".join), st.lists(_PIECES, max_size=5).map("".join)
)

_LITERALS = st.one_of(
    st.sampled_from(
        [
            *("NULL", "0", "1", "-1", "2", "3.5", "1e308", "1e-5", "9223372036854775807", "-0.0"),
            *("''", "'a'", "'abc'", "'1'", "' 12 '", "'-3.5e2x'", "'é😀'", "','", "x''", "x'41ff'"),
            *("'[1,2,{\"a\":null}]'", '\'{"a":[1,2.5,"x"],"b":true}\'', "'[1,'", "'null'"),
            *("'$'", "'$.a'", "'$[1]'", "'$.a[#-1]'", "'$.b.c'", "'a'", "'$.'", "'[#-1]'"),
            *("'2024-02-29'", "'2024-02-29 12:34:56.789'", "'12:00'", "'2024-13-01'", "2460000.5"),
            *("'+1 day'", "'start of month'", "'-1 month'", "'weekday 0'", "'unixepoch'"),
            *("'%Y-%m-%d %H:%M:%S'", "'%j %w %s %f'", "'%d %5.2f %s'", "'%q'", "'%05d|%-4s|%x'"),
            *("'616263'", "'6162zz'", "'61 62'", "'%'", "'_b%'", "'[a-c]*'", "'a*'", "'*'"),
        ]
    ),
    st.integers(-10, 10).map(str),
    st.integers(-(10**6), 10**6).map(lambda n: repr(n / 1000)),
)
_FUNCTIONS = (
    *("concat", "concat_ws", "octet_length", "unhex", "timediff", "string_agg", "jsonb", "iif"),
    *("format", "printf", "substr", "substring", "instr", "replace", "round", "hex", "quote"),
    *("char", "unicode", "trim", "ltrim", "rtrim", "upper", "lower", "length", "typeof", "glob"),
    *("like", "coalesce", "nullif", "ifnull", "max", "min", "abs", "sign", "likely", "zeroblob"),
    *("date", "time", "datetime", "julianday", "unixepoch", "strftime", "json", "json_array"),
    *("json_extract", "json_object", "json_set", "json_insert", "json_remove", "json_type"),
    *("json_valid", "json_quote", "json_patch", "json_array_length", "json_replace", "json_error"),
    *("sum", "total", "avg", "count", "group_concat", "json_group_array", "json_group_object"),
    *(
        "sqrt",
        "pow",
        "power",
        "mod",
        "ln",
        "log",
        "log2",
        "log10",
        "exp",
        "ceil",
        "ceiling",
        "floor",
    ),
    *("trunc", "pi", "degrees", "radians", "sin", "acos", "atan2", "changes"),
    *(
        "total_changes",
        "last_insert_rowid",
        "sqlite_version",
        "soundex",
        "median",
        "nope",
        "likelihood",
    ),
)
# With fewer arguments these are about now, which is not the same second on both sides.
_FEWEST = {
    **dict.fromkeys(("date", "time", "datetime", "julianday", "unixepoch"), 1),
    "strftime": 2,
}
CALLS = (
    st.tuples(st.sampled_from(_FUNCTIONS), st.lists(_LITERALS, max_size=3))
    .filter(lambda p: len(p[1]) >= _FEWEST.get(p[0], 0))
    .map(lambda p: f"SELECT {p[0]}({', '.join(p[1])})")
)
_OPERATORS = st.sampled_from(
    [
        *(
            "+",
            "-",
            "*",
            "/",
            "%",
            "||",
            "<<",
            ">>",
            "&",
            "|",
            "=",
            "<>",
            "<",
            ">=",
            "IS",
            "IS NOT",
        ),
        *("AND", "OR", "LIKE", "GLOB", "NOT LIKE", "COLLATE", "IN", "BETWEEN", "ESCAPE"),
    ]
)
OPERATIONS = st.tuples(_LITERALS, _OPERATORS, _LITERALS).map(lambda p: f"SELECT {' '.join(p)}")
