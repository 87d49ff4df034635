"""What can be said of SQL text without an engine: its statements, parameters and kind."""

from __future__ import annotations

import re
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

from localedge.coercion import JS_SPACE
from localedge.d1 import rules, texts
from localedge.d1.tokens import Token, numbered, parameter_numbers, renumbered, tokens_of

OWN_MARK: Final = "/*localedge:own*/"
"""In every statement of ours. User text with it is refused: an equal text would otherwise be
taken from the driver's statement cache and get past the authorizer."""

# SQLite's own machine for the end of a statement: state -> (state after each kind of token).
# Source: https://sqlite.org/c3ref/complete.html (sqlite3_complete), read 2026-12-01.
_SEMI, _SPACE, _OTHER, _EXPLAIN, _CREATE, _TEMP, _TRIGGER, _END = range(8)
_MACHINE: Final = (
    (1, 0, 2, 3, 4, 2, 2, 2),
    (1, 1, 2, 3, 4, 2, 2, 2),
    (1, 2, 2, 2, 2, 2, 2, 2),
    (1, 3, 3, 2, 4, 2, 2, 2),
    (1, 4, 2, 2, 2, 4, 5, 2),
    (6, 5, 5, 5, 5, 5, 5, 5),
    (6, 6, 5, 5, 5, 5, 5, 7),
    (1, 7, 5, 5, 5, 5, 5, 5),
)
_MACHINE_WORDS: Final = {
    "EXPLAIN": _EXPLAIN,
    "CREATE": _CREATE,
    "TEMP": _TEMP,
    "TEMPORARY": _TEMP,
    "TRIGGER": _TRIGGER,
    "END": _END,
}
_MAIN_VERBS: Final = frozenset({"SELECT", "VALUES", "INSERT", "UPDATE", "DELETE", "REPLACE"})
_READING_VERBS: Final = frozenset({"SELECT", "VALUES", "EXPLAIN"})


@dataclass(frozen=True, slots=True)
class Statement:
    """One statement of a text.

    Shape: `text` is what the driver gets, `source` what the worker wrote; `verb` the keyword that
    decides what it does ("SELECT" for a WITH that selects); `parameters` how many values it
    takes; `is_named` when they are all named (`:a`, `@a`, `$a`); `sets_pragma` when it may change
    a setting of the connection;
    `is_refused` when it does what the engine's authorizer is not asked about and D1 denies.
    """

    text: str
    source: str
    verb: str
    parameters: int
    is_named: bool
    is_read_only: bool
    sets_pragma: bool
    is_refused: bool


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text as `prepare` takes it.

    Shape: `is_blank` when it holds nothing but space and `--` lines; `has_tail` when something
    that is no statement follows the last one (a comment, `;`); `refusal` is why none of it may
    run, or None.
    """

    statements: tuple[Statement, ...]
    refusal: str | None
    is_blank: bool
    has_tail: bool
    is_read_only: bool
    sets_pragma: bool


_CACHED_LENGTH: Final = 20_000


def parse(sql: str) -> Parsed:
    """`sql` taken apart. Texts that a worker repeats are taken apart once."""
    return _parse_cached(sql) if len(sql) <= _CACHED_LENGTH else _parse(sql)


# Indented or not, such a line is dropped before anything else looks at the text.
# Source: reference/kv-d1-contract.md 2.7, 2.9 and 2.10 (v5), read 2026-12-01.
_LINE_END: Final = "\n\r\u2028\u2029"
_COMMENT_LINE: Final = re.compile(rf"(?:\A|(?<=[{_LINE_END}]))[{JS_SPACE}]*--[^{_LINE_END}]*")
_LONE_SURROGATE: Final = re.compile("[\ud800-\udfff]")


def _parse(sql: str) -> Parsed:
    is_blank = not _COMMENT_LINE.sub("", sql).strip(JS_SPACE)
    # SQLite reads up to the first NUL; what follows is then no statement.
    sql, nul, _ = sql.partition("\0")
    sql = _LONE_SURROGATE.sub("\ufffd\ufffd\ufffd", sql)
    if len(sql) > rules.MAX_SQL_BYTES or len(sql.encode()) > rules.MAX_SQL_BYTES:
        return _refused(texts.TOO_LONG, is_blank=is_blank)
    if OWN_MARK in sql:
        return _refused(texts.NOT_AUTHORIZED, is_blank=is_blank)
    pieces, has_tail = _split(sql)
    if not pieces:
        return _refused(texts.NOT_A_STATEMENT, is_blank=is_blank)
    # Space before a later statement is no part of it: offsets count from its first character.
    later = [_without_leading_space(piece) for piece in pieces[1:]]
    statements = tuple(_statement(piece) for piece in [pieces[0], *later])
    return Parsed(
        statements=statements,
        refusal=None,
        is_blank=is_blank,
        has_tail=has_tail or nul != "",
        is_read_only=all(statement.is_read_only for statement in statements),
        sets_pragma=any(statement.sets_pragma for statement in statements),
    )


def _refused(refusal: str, *, is_blank: bool) -> Parsed:
    return Parsed((), refusal, is_blank, has_tail=False, is_read_only=True, sets_pragma=False)


_parse_cached = lru_cache(maxsize=1024)(_parse)


def _split(sql: str) -> tuple[list[list[Token]], bool]:
    """The tokens of each statement, its `;` included, and whether something is left over."""
    pieces: list[list[Token]] = []
    piece: list[Token] = []
    state, is_empty = 1, True
    for token in tokens_of(sql):
        piece.append(token)
        if token.kind == "semi":
            state = _MACHINE[state][_SEMI]
            if state == 1 and not is_empty:
                pieces.append(piece)
                piece, is_empty = [], True
        elif token.kind not in ("space", "comment"):
            is_empty = False
            word = token.text.upper() if token.kind == "word" else ""
            state = _MACHINE[state][_MACHINE_WORDS.get(word, _OTHER)]
    if not is_empty:
        pieces.append(piece)
        return pieces, False
    return pieces, any(token.kind != "space" for token in piece)


def _without_leading_space(tokens: list[Token]) -> list[Token]:
    return tokens[1:] if tokens[0].kind == "space" else tokens


def _without_space_around(tokens: list[Token]) -> list[Token]:
    """`tokens` from the first to the last that is no space.

    What an unfinished text or BLOB ends with belongs to it, and to the error that names it.
    """
    said = [place for place, token in enumerate(tokens) if token.kind != "space"]
    return tokens[said[0] : said[-1] + 1] if said else []


def _statement(tokens: list[Token]) -> Statement:
    meaningful = [t for t in tokens if t.kind not in ("space", "comment", "semi")]
    verb, is_explained = _verb(meaningful)
    text, parameters, is_named = _parameters(tokens)
    return Statement(
        text=text,
        source="".join([token.text for token in tokens]),
        verb="EXPLAIN" if is_explained else verb,
        parameters=parameters,
        is_named=is_named,
        is_read_only=is_explained or verb in _READING_VERBS,
        sets_pragma=verb == "PRAGMA",
        is_refused=verb == "ALTER" and rules.is_internal(_new_name(meaningful)),
    )


def _verb(tokens: list[Token]) -> tuple[str, bool]:
    """The deciding keyword, and whether the statement is only explained."""
    words = [t.text.upper() if t.kind == "word" else t.text for t in tokens]
    is_explained = words[:1] == ["EXPLAIN"]
    if is_explained:
        words = words[3:] if words[1:3] == ["QUERY", "PLAN"] else words[1:]
    first = words[0] if words else ""
    if first != "WITH":
        return first, is_explained
    depth = 0
    for word in words:
        depth += (word == "(") - (word == ")")
        if depth == 0 and word in _MAIN_VERBS:
            return word, is_explained
    return first, is_explained


def _new_name(tokens: list[Token]) -> str:
    """The name that `ALTER TABLE … RENAME TO` gives, which the authorizer is not told."""
    for before, to, name in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if before.text.upper() == "RENAME" and to.text.upper() == "TO":
            return name.text.strip("\"'`[]")
    return ""


def _parameters(tokens: list[Token]) -> tuple[str, int, bool]:
    """The text for the driver, how many values it takes, and whether all of them are named.

    The driver fills a list of values by number only, and names by name only: beside a name `?`
    gets its number, which the driver takes for a name. With numbers left out in between all
    become numbers.
    """
    # Differs: a column without an alias is then called by the number of the `?` in it.
    tokens = _without_space_around(tokens)
    numbers = parameter_numbers(tokens)
    kinds = {token.kind for token in tokens}
    is_named = "named" in kinds
    if not is_named or "numbered" not in kinds:
        text = "".join([token.text for token in tokens])
    elif set(numbers) == set(range(1, max(numbers) + 1)):
        text = numbered(tokens, numbers)
    else:
        text = renumbered(tokens, numbers, frozenset())
        is_named = False
    return text, max(numbers, default=0), is_named
