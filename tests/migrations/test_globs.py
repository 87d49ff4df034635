"""Globs, compared with what minimatch 5.1.9 answered on 2026-12-01."""

from __future__ import annotations

import pytest

from localedge.d1.migrations.braces import expand
from localedge.d1.migrations.glob import Glob

MATCHING = [
    ("*.sql", "a.sql"),
    ("*.sql", "a.b.sql"),
    (".*.sql", ".a.sql"),
    ("????_*.sql", "0001_.sql"),
    ("**", "a/b/c"),
    ("**/*.sql", "a.sql"),
    ("**/a/**/b", "x/a/b"),
    ("a/**", "a/b"),
    ("a**b", "axxb"),
    ("[!a]x", "bx"),
    ("[^a]x", "bx"),
    ("[a-c-]", "-"),
    ("[]a]", "]"),
    ("[!]", "x"),
    ("@(a|b).sql", "b.sql"),
    ("+([0-9])_x", "12_x"),
    ("?(a)b", "b"),
    ("*(ab)c", "ababc"),
    ("m!(*.down).sql", "ma.up.sql"),
    ("!(a).sql", "a.sql"),
    ("a!(b)", "ac"),
    ("!*.txt", "a.sql"),
    ("!!*.sql", "a.sql"),
    ("{a/*,b}.sql", "a/x.sql"),
    ("[a", "[a"),
    ("a(b)", "a(b)"),
    ("@(a", "@(a"),
    ("", ""),
]
NOT_MATCHING = [
    ("*.sql", ".sql"),
    ("*.sql", ".a.sql"),
    ("*.sql", "a/b.sql"),
    ("*.sql", "a.SQL"),
    ("?", ".") ,
    ("[.]a", ".a"),
    ("**", "a/.b"),
    ("**/*.sql", ".git/a.sql"),
    ("a/**", "a"),
    ("a**b", "a/b"),
    ("[z-a]", "m"),
    ("@(a|b)", "ab"),
    ("x!(a).sql", "xa.sql"),
    ("!*.sql", "a.sql"),
    ("#a", "#a"),
    ("", "a"),
    ("a", "ab"),
]  # fmt: skip


@pytest.mark.parametrize(("pattern", "path"), MATCHING)
def test_a_glob_matches(pattern: str, path: str) -> None:
    assert Glob(pattern).matches(path)


@pytest.mark.parametrize(("pattern", "path"), NOT_MATCHING)
def test_a_glob_does_not_match(pattern: str, path: str) -> None:
    assert not Glob(pattern).matches(path)


@pytest.mark.parametrize(
    ("pattern", "folder", "is_entered"),
    [
        ("*.sql", "a", False),
        ("*/x.sql", "a", True),
        ("*/x.sql", "a/b", False),
        ("**/x.sql", "a/b", True),
        ("**/x.sql", "node/.git", False),
        ("a/{b,c}/x", "a/c", True),
        ("a/{b,c}/x", "a/d", False),
    ],
)
def test_only_folders_that_may_hold_a_match_are_entered(
    pattern: str, folder: str, is_entered: bool
) -> None:
    assert Glob(pattern).could_contain(folder) is is_entered


@pytest.mark.parametrize(
    ("pattern", "expanded"),
    [
        ("a{b,c}d", ["abd", "acd"]),
        ("{a,b}{1,2}", ["a1", "a2", "b1", "b2"]),
        ("{a,{b,c}}", ["a", "b", "c"]),
        ("x{,y}", ["x", "xy"]),
        ("{,a}", ["a"]),
        ("{1..3}", ["1", "2", "3"]),
        ("{3..1..2}", ["3", "1"]),
        ("{01..03}", ["01", "02", "03"]),
        ("{-01..1}", ["-01", "000", "001"]),
        ("{a..c}", ["a", "b", "c"]),
        ("{a}", ["{a}"]),
        ("{{a,b}}", ["{a}", "{b}"]),
        ("${a,b}", ["${a,b}"]),
        ("{},a}b", ["{},a}b"]),
        ("a{},b}c", ["a}c", "abc"]),
        ("{a,b", ["{a,b"]),
        ("{a{b,c}", ["{ab", "{ac"]),
        ("{1..a}", ["{1..a}"]),
    ],
)
def test_braces_expand(pattern: str, expanded: list[str]) -> None:
    assert expand(pattern) == expanded


@pytest.mark.slow
def test_braces_never_expand_without_end() -> None:
    assert len(expand("{1..9999999}")) == 100_000
    assert len(expand("{a,b}" * 40)) == 100_000
