"""What can be said of SQL text without an engine: its statements, parameters and kind."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Final

OWN_MARK: Final = "/*localedge:own*/"
"""In every statement of ours. User text with it is refused: an equal text would otherwise be
taken from the driver's statement cache and get past the authorizer."""

_ID: Final = r"A-Za-z0-9_$\x80-\U0010ffff"
_TOKEN: Final = re.compile(
    rf"""
      (?P<space>[ \t\n\f\r]+)
    | (?P<comment>--[^\n]* | /\*(?:.*?\*/|.*))
    | (?P<quoted>'[^']*(?:''[^']*)*'? | "[^"]*(?:""[^"]*)*"? | `[^`]*(?:``[^`]*)*`? | \[[^\]]*\]?)
    | (?P<numbered>\?[0-9]*)
    | (?P<named>[:@\#$](?:::)*[{_ID}](?:[{_ID}]|::)*(?:\([^\s)]*\))?)
    | (?P<word>[A-Za-z_\x80-\U0010ffff][{_ID}]*)
    | (?P<number>[0-9][{_ID}.]*)
    | (?P<semi>;)
    | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)

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

    Shape: `text` is what the driver gets; `verb` the keyword that decides what it does ("SELECT"
    for a WITH that selects); `parameters` how many values it takes; `is_named` when they are all
    named (`:a`, `@a`, `$a`); `sets_pragma` when it may change a setting of the connection.
    """

    text: str
    verb: str
    parameters: int
    is_named: bool
    is_read_only: bool
    sets_pragma: bool
    renames_to: str | None


@dataclass(frozen=True, slots=True)
class Parsed:
    """A text as `prepare` takes it.

    Shape: `is_blank` when it holds nothing but space and `--` lines; `has_tail` when something
    that is no statement follows the last one (a comment, `;`).
    """

    sql: str
    statements: tuple[Statement, ...]
    is_blank: bool
    has_tail: bool
    is_read_only: bool
    sets_pragma: bool


@dataclass(frozen=True, slots=True)
class _Token:
    kind: str
    text: str


_CACHED_LENGTH: Final = 20_000


def parse(sql: str) -> Parsed:
    """`sql` taken apart. Texts that a worker repeats are taken apart once."""
    return _parse_cached(sql) if len(sql) <= _CACHED_LENGTH else _parse(sql)


# Indented or not, such a line is dropped before anything else looks at the text.
# Source: reference/kv-d1-contract.md 2.7, 2.9 and 2.10 (v5), read 2026-12-01.
_COMMENT_LINE: Final = re.compile(r"^\s*--.*", re.MULTILINE)


def _parse(sql: str) -> Parsed:
    sql = sql.partition("\0")[0]
    pieces, has_tail = _split(sql)
    statements = tuple(_statement(piece) for piece in pieces)
    return Parsed(
        sql=sql,
        statements=statements,
        is_blank=not _COMMENT_LINE.sub("", sql).strip(),
        has_tail=has_tail,
        is_read_only=all(statement.is_read_only for statement in statements),
        sets_pragma=any(statement.sets_pragma for statement in statements),
    )


_parse_cached = lru_cache(maxsize=1024)(_parse)


def _tokens(sql: str) -> Iterator[_Token]:
    for match in _TOKEN.finditer(sql):
        yield _Token(match.lastgroup or "other", match.group())


def _split(sql: str) -> tuple[list[list[_Token]], bool]:
    """The tokens of each statement, its `;` included, and whether something is left over."""
    pieces: list[list[_Token]] = []
    piece: list[_Token] = []
    state, is_empty = 1, True
    for token in _tokens(sql):
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


def _statement(tokens: list[_Token]) -> Statement:
    meaningful = [t for t in tokens if t.kind not in ("space", "comment", "semi")]
    verb, is_explained = _verb(meaningful)
    text, parameters, is_named = _parameters(tokens)
    return Statement(
        text=text,
        verb="EXPLAIN" if is_explained else verb,
        parameters=parameters,
        is_named=is_named,
        is_read_only=is_explained or verb in _READING_VERBS,
        sets_pragma=verb == "PRAGMA",
        renames_to=_renames_to(meaningful) if verb == "ALTER" else None,
    )


def _verb(tokens: list[_Token]) -> tuple[str, bool]:
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


def _renames_to(tokens: list[_Token]) -> str | None:
    for before, to, name in zip(tokens, tokens[1:], tokens[2:], strict=False):
        if before.text.upper() == "RENAME" and to.text.upper() == "TO":
            return name.text.strip("\"'`[]")
    return None


def _parameters(tokens: list[_Token]) -> tuple[str, int, bool]:
    """The text for the driver, how many values it takes, and whether all of them are named.

    SQLite counts as follows: `?` is one more than the greatest so far, `?N` is N, a name is one
    more when it is new. Names beside numbers become numbers, because the driver fills a list of
    values by number only.
    """
    greatest = 0
    numbers: dict[str, int] = {}
    has_numbers = False
    parts = []
    for token in tokens:
        part = token.text
        if token.kind == "numbered":
            has_numbers = True
            greatest = max(greatest, int(part[1:])) if part != "?" else greatest + 1
        elif token.kind == "named":
            if part not in numbers:
                greatest += 1
                numbers[part] = greatest
            part = f"?{numbers[part]}"
        parts.append(part)
    is_named = bool(numbers) and not has_numbers
    text = "".join(token.text for token in tokens) if is_named else "".join(parts)
    return text.strip(" \t\n\f\r"), greatest, is_named
