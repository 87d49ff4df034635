"""Keeps the values of secrets out of logs and pages."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

_SHORTEST: Final = 4
"""Shorter values are words: masking them would make text unreadable and hide nothing."""
MASK: Final = "***"


class Mask:
    """Replaces the values of secrets in text."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._values = sorted((v for v in values if len(v) >= _SHORTEST), key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """`text` without the values."""
        for value in self._values:
            if value in text:
                text = text.replace(value, MASK)
        return text
