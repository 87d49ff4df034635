"""SQL text as SQLite's tokenizer sees it, as far as its statements and parameters need."""

from __future__ import annotations

import re
from collections.abc import Container, Iterator, Sequence
from typing import Final, NamedTuple

# Sets of what is not in them: everything beyond ASCII belongs to names, and a set that counts up
# to there takes 9 ms to compile.
_ID: Final = r"[^\x00-\x23\x25-\x2f\x3a-\x40\x5b-\x5e\x60\x7b-\x7f]"  # [A-Za-z0-9_$ and beyond]
_FIRST: Final = r"[^\x00-\x40\x5b-\x5e\x60\x7b-\x7f]"  # [A-Za-z_ and beyond]
_DECIMAL: Final = r"(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]+)?"
_TOKEN: Final = re.compile(
    rf"""
      (?P<space>[ \t\n\f\r]+ | \ufeff)
    | (?P<comment>--[^\n]* | /\*(?:.*?\*/|.*))
    | (?P<quoted>'[^']*(?:''[^']*)*'? | "[^"]*(?:""[^"]*)*"? | `[^`]*(?:``[^`]*)*`? | \[[^\]]*\]?)
    | (?P<numbered>\?[0-9]*)
    | (?P<named>[:@\#$](?:::)*{_ID}(?:{_ID}|::)*(?:\([^\s)]*\))?)
    | (?P<blob>[xX]'[^']*'?)
    | (?P<word>{_FIRST}{_ID}*)
    | (?P<number>(?:0[xX][0-9a-fA-F]+ | {_DECIMAL}){_ID}*)
    | (?P<semi>;)
    | (?P<other>->>? | \|\| | <[<=>] | >[>=] | == | != | .)
    """,
    re.VERBOSE | re.DOTALL,
)


class Token(NamedTuple):
    """A piece of a text; `kind` is the name of its group above."""

    kind: str
    text: str


def tokens_of(sql: str) -> Iterator[Token]:
    """`sql` in pieces that together are all of it."""
    for match in _TOKEN.finditer(sql):
        yield Token(match.lastgroup or "other", match.group())


def parameter_numbers(tokens: list[Token]) -> list[int]:
    """The number of each parameter, in order.

    SQLite counts as follows: `?` is one more than the greatest so far, `?N` is N, a name is one
    more when it is new.
    """
    greatest = 0
    names: dict[str, int] = {}
    numbers = []
    for token in tokens:
        if token.kind not in ("numbered", "named"):
            continue
        if token.kind == "named":
            number = names.setdefault(token.text, greatest + 1)
        else:
            # More digits than any number of parameters has are refused by the engine.
            number = int(token.text[1:10]) if token.text != "?" else greatest + 1
        greatest = max(greatest, number)
        numbers.append(number)
    return numbers


def numbered(tokens: list[Token], numbers: list[int]) -> str:
    """The text with every `?` as `?N`; what has a number or a name already keeps it."""
    remaining = iter(numbers)
    parts = []
    for token in tokens:
        number = next(remaining) if token.kind in ("numbered", "named") else 0
        parts.append(f"?{number}" if token.text == "?" else token.text)
    return "".join(parts)


def renumbered(tokens: list[Token], numbers: list[int], texts: Container[int]) -> str:
    """The text with every parameter as `?N`, cast to TEXT where N is in `texts`."""
    remaining = iter(numbers)
    parts = []
    for token in tokens:
        part = token.text
        if token.kind in ("numbered", "named"):
            number = next(remaining)
            part = f"CAST(?{number} AS TEXT)" if number in texts else f"?{number}"
        parts.append(part)
    return "".join(parts)


def cast_to_text(text: str, values: Sequence[object]) -> tuple[str, tuple[object, ...]]:
    """`text` and `values` with every str as its bytes, which the text casts back.

    For values with lone surrogates, which the driver does not encode.
    """
    tokens = list(tokens_of(text))
    strings = {number for number, value in enumerate(values, 1) if isinstance(value, str)}
    encoded = tuple(
        value.encode("utf-8", "surrogatepass") if isinstance(value, str) else value
        for value in values
    )
    return renumbered(tokens, parameter_numbers(tokens), strings), encoded
