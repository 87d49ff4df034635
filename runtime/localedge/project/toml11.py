"""What TOML 1.1 adds, for a reader of TOML 1.0: wrangler's reader takes it.

Source: https://toml.io/en/v1.1.0 (inline tables over several lines, `\\e`, `\\xHH`) and smol-toml's
changelog, read 2026-12-01.
"""

from __future__ import annotations

import re
from typing import Final

_PIECE: Final = re.compile(
    r'''(?P<basic>"""(?:[^\\]|\\.)*?"""+|"(?:[^"\\\n]|\\.)*")'''
    r"""|(?P<literal>'''.*?'''+|'[^'\n]*')"""
    r"|(?P<comment>\#[^\n]*)|(?P<newline>\r?\n)|(?P<open>[\[{])|(?P<close>[\]}])"
    r"|(?P<comma>,)|(?P<space>[ \t]+)|(?P<other>[^\"'#\r\n\[\]{},\s]+|.)",
    re.DOTALL,
)
_ESCAPE: Final = re.compile(r"\\(?:x([0-9A-Fa-f]{2})|(e)|.)", re.DOTALL)


def as_toml_1_0(text: str) -> str:
    """`text` with the same values in TOML 1.0; unchanged if it is TOML 1.0 already."""
    parts: list[str] = []
    open_brackets: list[str] = []
    comma: int | None = None
    before = ""
    for piece in _PIECE.finditer(text):
        kind, part = piece.lastgroup, piece[0]
        in_table = open_brackets[-1:] == ["{"]
        if kind == "open":
            open_brackets.append(part)
        elif kind == "close":
            if part == "}" and comma is not None:
                parts[comma] = ""
            del open_brackets[-1:]
        elif in_table and kind in ("comment", "newline"):
            part = " "
        elif kind == "basic":
            part = _ESCAPE.sub(_escaped, part)
        if kind == "comma" and in_table and before not in ("open", "comma"):
            comma = len(parts)
        elif kind not in ("space", "comment", "newline"):
            comma = None
        if kind not in ("space", "comment", "newline"):
            before = kind or ""
        parts.append(part)
    return "".join(parts)


def _escaped(found: re.Match[str]) -> str:
    if found[1]:
        return f"\\u00{found[1]}"
    return "\\u001b" if found[2] else found[0]
