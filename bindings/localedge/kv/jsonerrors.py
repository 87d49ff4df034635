"""Why a text is no JSON, in V8's words. Only asked about texts that are none.

Source: V8's messages as node 24 prints them, compared on mutated texts, read 2026-12-01.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final, Never

_SPACE: Final = " \t\n\r"
_SPECIAL: Final = frozenset({"[object Object]", "NaN", "Infinity", "undefined"})
_CONTEXT: Final = 10
_MOST_READ_AGAIN: Final = 2**18
_NUMBER_START: Final = frozenset("-0123456789")
_DIGITS: Final = frozenset("0123456789")
_HEX: Final = frozenset("0123456789abcdefABCDEF")
_ESCAPES: Final = frozenset('"\\/bfnrt')
_PLAIN_STRING: Final = re.compile(r'[^"\\\x00-\x1f]*')
_LITERALS: Final = {"t": "true", "f": "false", "n": "null"}


class _NotJson(Exception):  # noqa: N818  (carries the answer)
    """`str` is what V8 says."""


@dataclass(slots=True)
class _Scanner:
    """Reads a text as V8's parser does, until it stumbles.

    Shape: positions are UTF-16 code units, as in JavaScript: `text` has one character for each.
    """

    text: str
    position: int = 0

    def fail_at(self, position: int, message: str) -> Never:
        before = self.text[:position].replace("\r\n", "\n").replace("\r", "\n")
        line = before.count("\n") + 1
        column = position - max(self.text.rfind(c, 0, position) for c in "\n\r")
        raise _NotJson(f"{message} in JSON at position {position} (line {line} column {column})")

    def fail_after(self) -> Never:
        message = "Unexpected non-whitespace character after JSON"
        try:
            self.fail_at(self.position, message)
        except _NotJson as exc:
            raise _NotJson(str(exc).replace("JSON in JSON", "JSON", 1)) from None

    def unexpected(self) -> Never:
        text, position = self.text, self.position
        if text in _SPECIAL:
            raise _NotJson(f'"{text}" is not valid JSON')
        if position >= len(text):
            raise _NotJson("Unexpected end of JSON input")
        char = text[position]
        if char == '"':
            self.fail_at(position, "Unexpected string")
        if char in _NUMBER_START:
            self.fail_at(position, "Unexpected number")
        start, end = max(position - _CONTEXT, 0), position + _CONTEXT
        if len(text) <= 2 * _CONTEXT:
            shown = f'"{text}"'
        elif position < _CONTEXT:
            shown = f'"{text[:end]}"... '
        elif position < len(text) - _CONTEXT:
            shown = f'..."{text[start:end]}"... '
        else:
            shown = f'..."{text[start:]}"'
        raise _NotJson(f"Unexpected token '{char}', {shown.rstrip()} is not valid JSON")

    def peek(self) -> str:
        while self.position < len(self.text) and self.text[self.position] in _SPACE:
            self.position += 1
        return self.here()

    def here(self) -> str:
        return self.text[self.position : self.position + 1]

    def expect(self, char: str, message: str) -> None:
        if self.peek() != char:
            self.fail_at(self.position, message)
        self.position += 1

    def document(self) -> None:
        """Read one value and nothing after it."""
        closers: list[str] = []
        while True:
            opened = self.value()
            if opened:
                closers.append(opened)
                continue
            while closers and self.after_value(closers[-1]):
                closers.pop()
            if not closers:
                break
        if self.peek():
            self.fail_after()

    def value(self) -> str | None:
        """Read a scalar or an empty container; the closer of a container that has content."""
        char = self.peek()
        if char == '"':
            self.string()
        elif char and char in _NUMBER_START:
            self.number()
        elif char == "{":
            self.position += 1
            if self.peek() != "}":
                self.key("Expected property name or '}'")
                return "}"
            self.position += 1
        elif char == "[":
            self.position += 1
            if self.peek() != "]":
                return "]"
            self.position += 1
        elif char in _LITERALS:
            self.literal(_LITERALS[char])
        else:
            self.unexpected()
        return None

    def key(self, message: str) -> None:
        if self.peek() != '"':
            self.fail_at(self.position, message)
        self.string()
        self.expect(":", "Expected ':' after property name")

    def after_value(self, closer: str) -> bool:
        """Read what follows a value in a container; whether that closed it."""
        if self.peek() == ",":
            self.position += 1
            if closer == "}":
                self.key("Expected double-quoted property name")
            return False
        what = "property value" if closer == "}" else "array element"
        self.expect(closer, f"Expected ',' or '{closer}' after {what}")
        return True

    def literal(self, word: str) -> None:
        for char in word:
            if self.here() != char:
                self.unexpected()
            self.position += 1

    def number(self) -> None:
        if self.here() == "-":
            self.position += 1
            if self.here() not in _DIGITS:
                self.fail_at(self.position, "No number after minus sign")
        if self.here() == "0":
            self.position += 1
            if self.here() in _DIGITS:
                self.fail_at(self.position, "Unexpected number")
        else:
            self.digits()
        if self.here() == ".":
            self.position += 1
            if self.here() not in _DIGITS:
                self.fail_at(self.position, "Unterminated fractional number")
            self.digits()
        if self.here() in ("e", "E"):
            self.position += 1
            if self.here() in ("+", "-"):
                self.position += 1
            if self.here() not in _DIGITS:
                self.fail_at(self.position, "Exponent part is missing a number")
            self.digits()

    def digits(self) -> None:
        while self.here() in _DIGITS:
            self.position += 1

    def string(self) -> None:
        self.position += 1
        while True:
            plain = _PLAIN_STRING.match(self.text, self.position)
            assert plain is not None
            self.position = plain.end()
            char = self.here()
            if char == "":
                self.fail_at(self.position, "Unterminated string")
            if char == '"':
                self.position += 1
                return
            if char != "\\":
                self.fail_at(self.position, "Bad control character in string literal")
            self.escape()

    def escape(self) -> None:
        self.position += 1
        char = self.here()
        if char == "" or char > "\xff":
            self.unexpected()
        if char == "u":
            for _ in range(4):
                self.position += 1
                if self.here() not in _HEX:
                    self.fail_at(self.position, "Bad Unicode escape")
        elif char not in _ESCAPES:
            self.fail_at(self.position, "Bad escaped character")
        self.position += 1


def _code_units(text: str) -> str:
    if text.isascii():
        return text
    units = text.encode("utf-16-le", "surrogatepass")
    return "".join(chr(units[i] | units[i + 1] << 8) for i in range(0, len(units), 2))


def _joined(text: str) -> str:
    return text.encode("utf-16-le", "surrogatepass").decode("utf-16-le", "surrogatepass")


def complaint(text: str, stumbled_at: int) -> str:
    """What `JSON.parse(text)` says of a text that it does not take.

    `stumbled_at` is where Python's reader stopped: the answer for a text too long to be read
    again here, which takes a microsecond for a character.
    """
    try:
        if len(text) > _MOST_READ_AGAIN:
            _Scanner(text, stumbled_at).unexpected()
        _Scanner(_code_units(text)).document()
    except _NotJson as reason:
        return _joined(str(reason))
    # Deeper than Python follows; JavaScript has a limit too, far beyond.
    return "Maximum call stack size exceeded"
