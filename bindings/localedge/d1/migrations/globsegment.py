"""One segment of a glob (what stands between two `/`) as a regular expression.

Source: wrangler 4.164 (minimatch 5.1.9 in its bundle), read 2026-12-01.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

_ANY: Final = "[^/]*?"
_ONE: Final = "[^/]"
_NOT_HIDDEN: Final = r"(?!\.)"
_NOTHING: Final = "(?!)"
_REPEATS: Final = {"?": "?", "*": "*", "+": "+", "@": ""}


def compile_segment(segment: str) -> str | re.Pattern[str]:
    """What `segment` matches: an exact name, or the names that the pattern accepts."""
    parser = _Parser(segment)
    source = parser.alternative(0, is_nested=False).source
    if not parser.has_magic:
        return segment
    starts_with_magic = source[:1] in ("[", "(") and not parser.guards_itself
    guard = _NOT_HIDDEN if starts_with_magic else ""
    return re.compile(f"{guard}(?=.)(?:{source})\\Z")


@dataclass(frozen=True, slots=True)
class _Piece:
    source: str
    end: int


class _Parser:
    """Reads one segment. A `[` or `(` that nothing closes is text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self.has_magic = False
        self.guards_itself = text.startswith(".")

    def alternative(self, at: int, *, is_nested: bool) -> _Piece:
        """The pattern from `at` to the end; in a group, to the `|` or `)` that ends it."""
        text = self._text
        source = ""
        while at < len(text) and not (is_nested and text[at] in "|)"):
            char = text[at]
            if text.startswith("**", at):
                at += 1
                continue
            piece = self._group(at) or self._class(at)
            if piece is None:
                single = {"*": _ANY, "?": _ONE}.get(char)
                self.has_magic = self.has_magic or single is not None
                piece = _Piece(single or re.escape(char), at + 1)
            if char == "!" and piece.end > at + 1:
                return self._with_negated(source, piece, is_nested)
            source += piece.source
            at = piece.end
        return _Piece(source, at)

    def _with_negated(self, before: str, group: _Piece, is_nested: bool) -> _Piece:
        """`!(a|b)` and what follows: names of which no way to read them begins with a or b."""
        after = self.alternative(group.end, is_nested=is_nested)
        end = "" if after.source else r"\Z"
        source = f"{before}(?:(?!{group.source}{after.source}{end}){_ANY}){after.source}"
        return _Piece(source, after.end)

    def _group(self, at: int) -> _Piece | None:
        """`?(a|b)`, `*(…)`, `+(…)`, `@(…)`, `!(…)` at `at`, if there is a whole one."""
        text = self._text
        kind = text[at]
        if kind not in "?*+@!" or text[at + 1 : at + 2] != "(":
            return None
        has_magic, self.has_magic = self.has_magic, True
        is_first = at == 0 and kind != "!"
        alternatives = []
        end = at + 1
        while end < len(text) and text[end] != ")":
            piece = self.alternative(end + 1, is_nested=True)
            is_guarded = is_first and text[end + 1 : end + 2] != "."
            alternatives.append((_NOT_HIDDEN if is_guarded else "") + piece.source)
            end = piece.end
        if end >= len(text):
            self.has_magic = has_magic
            return None
        self.guards_itself = self.guards_itself or is_first
        return _Piece(f"(?:{'|'.join(alternatives)}){_REPEATS.get(kind, '')}", end + 1)

    def _class(self, at: int) -> _Piece | None:
        """`[a-z]`, `[!a]` at `at`, if it is closed."""
        text = self._text
        if text[at] != "[":
            return None
        end = text.find("]", at + 2)
        if end < 0:
            return None
        self.has_magic = True
        return _Piece(_class_source(text[at + 1 : end]), end + 1)


def _class_source(body: str) -> str:
    is_negated = body[0] in "!^"
    body = body[1:] if is_negated else body
    items = []
    at = 0
    while at < len(body):
        low, high = body[at], body[at : at + 3][-1]
        if body[at + 1 : at + 2] == "-" and at + 2 < len(body):
            if low > high:
                return _NOTHING
            items.append(f"{re.escape(low)}-{re.escape(high)}")
            at += 3
        else:
            items.append(re.escape(low))
            at += 1
    if not items:
        return r"[\s\S]"
    return f"[{'^' if is_negated else ''}{''.join(items)}]"
