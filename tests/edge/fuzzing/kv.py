"""Programs of KV calls, drawn at random, as the recorded vectors write them."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "a/", "a/b", "b", "é", "😀", "\uffff", "%20", "A", " ", "a\x00b"])
ODD_NAMES = st.sampled_from(
    ["", ".", "..", "...", {"$repeat": ["k", 512]}, {"$repeat": ["é", 257]}]
)
# Names that look like array indices vanish from the platform's bulk reads, which is a known
# difference: none of them is drawn.
COERCED = st.sampled_from([None, True, 1.5, {"$float": "nan"}, ["a", "b"], {"x": 1}])
KEYS = st.one_of(NAMES, NAMES, NAMES, NAMES, ODD_NAMES, COERCED)
TEXTS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
NUMBERS = st.one_of(
    st.integers(-3, 3),
    st.sampled_from([2**31, -(2**31) - 1, 2**53, 0.5, -0.5, 1e21, 1e-7, -0.0]),
    st.sampled_from([{"$float": "nan"}, {"$float": "inf"}, {"$int": str(2**60)}]),
)
JSON: st.SearchStrategy[Any] = st.recursive(
    st.none() | st.booleans() | NUMBERS | TEXTS,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(TEXTS, inner, max_size=3),
    max_leaves=4,
)
ODD = st.sampled_from(
    [
        {"$bytes": "00ff"},
        {"$bytes": "7b7d"},
        {"$bytearray": "00"},
        {"$tuple": [1]},
        {"$repeat": ["x", 1025]},
    ]
)
_JSON_PIECES = st.sampled_from(
    [
        *("{", "}", "[", "]", ",", ":", '"', '"a"', '"a":', "1", "-", "0", "1.", ".5", "1e", "e5"),
        *("true", "tru", "null", "nul", "NaN", " ", "\n", "\t", "\x0b", "\x00", "\\", "\\u12"),
        *('"\\x"', '"\n"', "'", "é", "😀", "\ufeff", "\u2028", "1,2,3,4,5,6,7,8,9,10,11,12,13,14"),
    ]
)
JSON_TEXTS = st.lists(_JSON_PIECES, max_size=6).map("".join)
VALUES = st.one_of(
    TEXTS,
    JSON,
    ODD,
    JSON_TEXTS,
    JSON_TEXTS,
    st.floats(allow_nan=False, allow_infinity=False),
    st.sampled_from(['{"a": [1, 2.5, null]}', "[1", "", "null", "1e3", '"x"', '{"a":1,}', "tru"]),
    st.sampled_from([" 1 ", "NaN", "-0", "01", '"\\ud800"', "[1,]", "{'a':1}", "1 2", "\ufeff1"]),
)
SECONDS = st.one_of(
    st.sampled_from([60, 61, 3600, 59, 0, -1, 59.9, 60.9, "60", "x", "", True, None]),
    NUMBERS,
)
MOMENTS = st.one_of(
    st.sampled_from([{"$now": n} for n in (70, 3600, 50, -5)]),
    st.sampled_from([0, "x", None, 2**31, -1, True]),
)
PUT_OPTIONS = st.fixed_dictionaries(
    {},
    optional={"expirationTtl": SECONDS, "expiration": MOMENTS, "metadata": JSON | ODD, "odd": JSON},
)
TYPES = st.sampled_from(["text", "json", "arrayBuffer", "Text", "", None, 1])
GET_OPTIONS = st.fixed_dictionaries(
    {}, optional={"type": TYPES, "cacheTtl": SECONDS, "odd": st.none()}
)
BULK = st.lists(NAMES, max_size=4) | st.just({"$keys": ["k", 101]}) | st.just(["a", ""])
LIST_OPTIONS = st.fixed_dictionaries(
    {},
    optional={
        "prefix": NAMES | st.sampled_from(["", None, "a", 5, {"$repeat": ["p", 513]}]),
        "limit": st.sampled_from([1, 2, 3, 1000, 1001, 0, -1, 1.9, "2", "x", None, True]),
        "cursor": st.sampled_from(["", None]),
    },
)


def _given(
    method: str, first: st.SearchStrategy[list[Any]], options: st.SearchStrategy[dict[str, Any]]
) -> st.SearchStrategy[list[Any]]:
    """A call with its options as keywords, as one trailing object, or without any."""
    by_keyword = st.tuples(first, options).map(lambda p: ["KV", [method, p[0], p[1]]])
    by_object = st.tuples(first, options).map(lambda p: ["KV", [method, [*p[0], p[1]], {}]])
    return by_keyword | by_object


def _one(strategy: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return strategy.map(lambda value: [value])


def _call(method: str, *arguments: st.SearchStrategy[Any]) -> st.SearchStrategy[list[Any]]:
    return st.tuples(*arguments).map(lambda given: ["KV", [method, list(given), {}]])


PUT = _given("put", st.tuples(KEYS, VALUES).map(list), PUT_OPTIONS)
GET = st.sampled_from(["get", "getWithMetadata"]).flatmap(
    lambda method: st.one_of(
        _given(method, _one(KEYS), GET_OPTIONS),
        _call(method, KEYS, TYPES),
        _given(method, _one(BULK), GET_OPTIONS),
        _call(method, BULK, TYPES),
    )
)
LIST = _given("list", st.just([]), LIST_OPTIONS) | st.just(["KV", ["list", [None], {}]])
DELETE = _call("delete", KEYS)
# The next page, where the call before was a list that had one.
NEXT = st.fixed_dictionaries(
    {"cursor": st.just({"$answer": [-1, "cursor"]}), "limit": st.integers(1, 3)},
    optional={"prefix": NAMES},
).map(lambda options: ["KV", ["list", [], options]])
FIRST = st.integers(1, 2).map(lambda limit: ["KV", ["list", [], {"limit": limit}]])
CALLS = st.one_of(PUT, PUT, GET, GET, LIST, FIRST, NEXT, NEXT, DELETE)
PROGRAMS = st.lists(CALLS, min_size=1, max_size=10)
