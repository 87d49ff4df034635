"""SQLite's binary form of JSON, written from JSON text.

Source: https://sqlite.org/jsonb.html, read 2026-12-01.
"""

# Differs: where the machine's SQLite is older than 3.45, the JSON functions make such values but
# cannot read them back.

from __future__ import annotations

import re
from typing import Final

_TOKEN: Final = re.compile(r'"((?:[^"\\]|\\.)*)"|([\[{])|([\]}])|([^\[\]{}",:\s]+)|[,:\s]+')
_NULL, _TRUE, _FALSE, _INT, _FLOAT = 0, 1, 2, 3, 5
_TEXT, _TEXT_ESCAPED, _ARRAY, _OBJECT = 7, 8, 11, 12
_WORDS: Final = {"null": _NULL, "true": _TRUE, "false": _FALSE}


def encode(text: str) -> bytes:
    """The binary form of `text`, which is valid JSON."""
    open_parts: list[tuple[int, bytearray]] = [(0, bytearray())]
    for match in _TOKEN.finditer(text):
        string, opening, closing, word = match.groups()
        if opening:
            open_parts.append((_ARRAY if opening == "[" else _OBJECT, bytearray()))
        elif closing:
            kind, payload = open_parts.pop()
            open_parts[-1][1].extend(_element(kind, bytes(payload)))
        elif string is not None:
            kind = _TEXT_ESCAPED if "\\" in string else _TEXT
            open_parts[-1][1].extend(_element(kind, string.encode()))
        elif word:
            open_parts[-1][1].extend(_word(word))
    return bytes(open_parts[0][1])


def _word(word: str) -> bytes:
    if word in _WORDS:
        return _element(_WORDS[word], b"")
    is_float = any(character in word for character in ".eE")
    return _element(_FLOAT if is_float else _INT, word.encode())


def _element(kind: int, payload: bytes) -> bytes:
    """`payload` behind its header: a small size is part of the first byte."""
    size = len(payload)
    if size <= 11:
        return bytes([size << 4 | kind]) + payload
    width, mark = (1, 12) if size <= 0xFF else (2, 13) if size <= 0xFFFF else (4, 14)
    return bytes([mark << 4 | kind]) + size.to_bytes(width, "big") + payload
