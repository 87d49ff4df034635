"""JSON with comments and trailing commas, and nothing else: what wrangler's own reader accepts."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from localedge.project.document import Json, Keys, number, ordered

MAX_DEPTH = 200

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]+)
      | (?P<line_comment>//[^\r\n]*)
      | (?P<block_comment>/\*)
      | (?P<punctuation>[][{}:,])
      | (?P<string>")
      | (?P<number>-?(?:0|[1-9][0-9]*))
      | (?P<word>[^ \t\r\n][^][{}":,/ \t\r\n]*)
    """,
    re.VERBOSE,
)
_FRACTION = re.compile(r"(?P<fraction>\.[0-9]*)?(?P<exponent>[eE][+-]?[0-9]*)?")
_ESCAPES = {'"': '"', "\\": "\\", "/": "/", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t"}
_WORDS: dict[str, Json] = {"true": True, "false": False, "null": None}
_HEX_DIGITS = re.compile(r"[0-9a-fA-F]{4}")
_PLAIN = re.compile(r'[^"\\\x00-\x1f]+')


class JsoncError(ValueError):
    """The first mistake in a text, by the name that wrangler prints, and its offset."""

    def __init__(self, name: str, offset: int) -> None:
        super().__init__(name)
        self.name = name
        self.offset = offset


class Token(NamedTuple):
    kind: str
    text: str
    value: Json
    offset: int


def parse(text: str) -> tuple[Json, dict[Keys, int]]:
    """Return the value of `text` and the offset of the key or item of each part of it.

    Errors: JsoncError for the first mistake.
    Source: node-jsonc-parser src/impl/parser.ts and scanner.ts, read 2026-12-01; wrangler reads
    .json and .jsonc files with it, trailing commas allowed, and prints the first error's name.
    """
    parser = _Parser(text)
    value = parser.document()
    return value, parser.offsets


class _Parser:
    def __init__(self, text: str) -> None:
        self.offsets: dict[Keys, int] = {}
        self._tokens = _tokens(text)
        self._token = next(self._tokens)

    def document(self) -> Json:
        value = self._value((), 0)
        if self._token.kind != "end":
            self._fail("EndOfFileExpected")
        return value

    def _next(self) -> Token:
        taken = self._token
        if taken.kind != "end":
            self._token = next(self._tokens)
        return taken

    def _fail(self, name: str) -> None:
        raise JsoncError(name, self._token.offset)

    def _value(self, keys: Keys, depth: int) -> Json:
        if depth > MAX_DEPTH:
            self._fail("TooDeep")
        match self._token.kind:
            case "{":
                return self._object(keys, depth + 1)
            case "[":
                return self._array(keys, depth + 1)
            case "string" | "literal":
                return self._next().value
        self._fail("ValueExpected")
        raise AssertionError

    def _object(self, keys: Keys, depth: int) -> Json:
        members: dict[str, Json] = {}
        for _ in self._items("}", "CloseBraceExpected"):
            if self._token.kind != "string":
                self._fail("PropertyNameExpected")
            offset = self._token.offset
            name = str(self._next().value)
            if self._token.kind != ":":
                self._fail("ColonExpected")
            self._next()
            self.offsets[(*keys, name)] = offset
            members[name] = self._value((*keys, name), depth)
        # In JavaScript this name sets the prototype and makes no property.
        members.pop("__proto__", None)
        return ordered(members)

    def _array(self, keys: Keys, depth: int) -> Json:
        items: list[Json] = []
        for _ in self._items("]", "CloseBracketExpected"):
            here = (*keys, len(items))
            self.offsets[here] = self._token.offset
            items.append(self._value(here, depth))
        return items

    def _items(self, close: str, unclosed: str) -> Iterator[None]:
        """Stand at the beginning of each member, and behind `close` in the end."""
        self._next()
        is_first = True
        while self._token.kind not in (close, "end"):
            if self._token.kind == ",":
                if is_first:
                    self._fail("ValueExpected")
                self._next()
                if self._token.kind == close:
                    break
            elif not is_first:
                self._fail("CommaExpected")
            yield
            is_first = False
        if self._token.kind != close:
            self._fail(unclosed)
        self._next()


def _tokens(text: str) -> Iterator[Token]:
    position = 0
    while found := _TOKEN.match(text, position):
        kind, offset = str(found.lastgroup), position
        position = found.end()
        match kind:
            case "punctuation":
                yield Token(found[0], found[0], None, offset)
            case "string":
                content, position = _string(text, position, offset)
                yield Token("string", text[offset:position], content, offset)
            case "number":
                value, position = _number(text, offset, position)
                yield Token("literal", text[offset:position], value, offset)
            case "word":
                if found[0] not in _WORDS:
                    raise JsoncError("InvalidSymbol", offset)
                yield Token("literal", found[0], _WORDS[found[0]], offset)
            case "block_comment":
                position = text.find("*/", position) + 2
                if position == 1:
                    raise JsoncError("UnexpectedEndOfComment", offset)
    yield Token("end", "", None, len(text))


def _number(text: str, offset: int, position: int) -> tuple[Json, int]:
    rest = _FRACTION.match(text, position)
    assert rest is not None
    if rest["fraction"] == "." or (rest["exponent"] and not rest["exponent"][-1].isdigit()):
        raise JsoncError("UnexpectedEndOfNumber", offset)
    return number(float(text[offset : rest.end()])), rest.end()


def _string(text: str, position: int, offset: int) -> tuple[str, int]:
    """The string whose opening quote stands at `offset`, and the position behind it."""
    parts: list[str] = []
    mistake = None
    while True:
        if plain := _PLAIN.match(text, position):
            parts.append(plain[0])
            position = plain.end()
        character = text[position : position + 1]
        if character in ("", "\n", "\r"):
            raise JsoncError("UnexpectedEndOfString", offset)
        position += 1
        if character == '"':
            break
        if character != "\\":
            mistake = "InvalidCharacter"
            continue
        part, position, mistake_here = _escaped(text, position)
        parts.append(part)
        mistake = mistake_here or mistake
    if mistake:
        raise JsoncError(mistake, offset)
    units = "".join(parts).encode("utf-16-le", "surrogatepass")
    return units.decode("utf-16-le", "replace"), position


def _escaped(text: str, position: int) -> tuple[str, int, str | None]:
    letter = text[position : position + 1]
    if letter == "u":
        digits = _HEX_DIGITS.match(text, position + 1)
        if digits is None:
            return "", position + 1, "InvalidUnicode"
        return chr(int(digits[0], 16)), digits.end(), None
    if letter in _ESCAPES and letter:
        return _ESCAPES[letter], position + 1, None
    return "", position + len(letter), "InvalidEscapeCharacter" if letter else None
