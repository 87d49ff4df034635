"""Where in a text an error is: the platform's " at offset N".

SQLite knows, and Python's driver does not tell. So it is found again from the message: a syntax
error by asking how much of the text can still be read, a name by looking for it.

Source: reference/kv-d1-contract.md 2.7, read 2026-12-01; which messages have an offset: SQLite
3.53.4, tried 2026-12-01.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Callable, Iterator
from itertools import pairwise
from typing import Final, TypeAlias

from localedge.d1 import rules
from localedge.d1.tokens import Token, parameter_numbers, tokens_of

IsSyntaxError: TypeAlias = Callable[[str], bool]
"""Whether a text, which is only prepared, fails with a syntax error."""

_SYNTAX: Final = re.compile(r'near ".*": syntax error\Z', re.DOTALL)
_RENUMBERED: Final = re.compile(r'near "\?\d+": syntax error\Z')
_ILLEGAL: Final = re.compile(r'unrecognized token: "(.*)"\Z', re.DOTALL)
_TOO_MANY: Final = re.compile(r"too many SQL variables\Z|variable number must be between ")
_FUNCTION: Final = re.compile(
    r"(?:no such function: |not authorized to use function: "
    r"|wrong number of arguments to function |too many arguments on function "
    r"|misuse of (?:aggregate|aggregate function|window function):? )(\w+)(?:\(\))?\Z"
)
_COLUMN: Final = re.compile(r"(?:no such column|ambiguous column name): (.+)\Z", re.DOTALL)
_OBJECT: Final = re.compile(r"(?:table|view|trigger) (.+) already exists\Z", re.DOTALL)


def located(message: str, text: str, is_syntax_error: IsSyntaxError) -> tuple[str, int | None]:
    """`message`, and how many bytes of `text` stand before its place, if that is known.

    Shape: `text` is one statement as the worker wrote it, with the space that stood before it. A
    parameter that the driver was given by its number is called in `message` what it is in `text`.
    """
    tokens = list(tokens_of(text))
    if _SYNTAX.match(message):
        place: int | None = _syntax_error(tokens, is_syntax_error)
    elif found := _ILLEGAL.match(message):
        place = _only(i for i, token in enumerate(tokens) if token.text == found[1])
    elif _TOO_MANY.match(message):
        place = _excess_parameter(tokens)
    else:
        place = _name(message, tokens)
    if place is None:
        return message, None
    if _RENUMBERED.match(message) and tokens[place].kind in ("numbered", "named"):
        message = f'near "{tokens[place].text}": syntax error'
    return message, sum(len(token.text.encode()) for token in tokens[:place])


def _syntax_error(tokens: list[Token], is_syntax_error: IsSyntaxError) -> int | None:
    """The token at which the parser stops: the text up to it is the shortest that it refuses."""
    texts = [token.text for token in tokens]
    kinds = ("space", "comment", "semi")
    first = next((i for i, token in enumerate(tokens) if token.kind not in kinds), len(tokens))
    # Explained, nothing of it runs.
    lead = "" if texts[first:] and texts[first].upper() == "EXPLAIN" else "EXPLAIN "
    place = bisect_left(
        range(len(tokens)),
        True,
        lo=first,
        key=lambda last: is_syntax_error(lead + "".join(texts[first : last + 1])),
    )
    return place if place < len(tokens) else None


def _excess_parameter(tokens: list[Token]) -> int | None:
    places = [i for i, token in enumerate(tokens) if token.kind in ("numbered", "named")]
    for place, number in zip(places, parameter_numbers(tokens), strict=True):
        if not 1 <= number <= rules.LIMITS["VARIABLE_NUMBER"]:
            return place
    return None


def _name(message: str, tokens: list[Token]) -> int | None:
    words = [(i, t) for i, t in enumerate(tokens) if t.kind not in ("space", "comment")]
    if found := _FUNCTION.match(message):
        return _only(
            i
            for (i, token), (_, following) in pairwise(words)
            if token.text.lower() == found[1].lower() and following.text == "("
        )
    if found := _OBJECT.match(message):
        name = found[1].strip("\"'`[]")
        return _only(i for i, token in words if _unquoted(token) == name)
    if found := _COLUMN.match(message):
        return _column(found[1].strip('"').split("."), words)
    return None


def _column(parts: list[str], words: list[tuple[int, Token]]) -> int | None:
    """The place of `a.b` with all its dots, and of nothing but it."""
    wanted = [part for name in parts for part in (name, ".")][:-1]
    width = len(wanted)
    texts = ["", *(_unquoted(token) for _, token in words), ""]
    at = _only(at for at in range(1, len(words) + 1) if texts[at : at + width] == wanted)
    if at is None:
        return None
    # SQLite does not keep the place of a column that is set.
    is_set = "SET" in {text.upper() for text in texts[:at]}
    is_listed = texts[at - 1].upper() in ("SET", ",", "(") and texts[at + width] in ("=", ",", ")")
    return None if is_set and is_listed else words[at - 1][0]


def _unquoted(token: Token) -> str:
    return token.text[1:-1] if token.kind == "quoted" and token.text[0] != "'" else token.text


# Differs: a name that stands in several places of the text gets no offset.
def _only(places: Iterator[int]) -> int | None:
    first = next(places, None)
    return first if next(places, None) is None else None
