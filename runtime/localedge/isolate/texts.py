"""Texts that are shown, cut to what a person reads."""

from __future__ import annotations

from typing import Final

MOST_CHARACTERS: Final = 2_000
"""How much of one value is shown."""
CUT: Final = "…"


def cut(text: str, most: int = MOST_CHARACTERS) -> str:
    """`text`, or its beginning with how much there is of it."""
    if len(text) <= most:
        return text
    return f"{text[:most]}{CUT} ({len(text):,} characters)"
