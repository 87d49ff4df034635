"""Keeps the values of secrets out of logs and pages."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from typing import Final
from urllib.parse import quote, quote_plus

_SHORTEST: Final = 4
"""Shorter values are words: masking them would make text unreadable and hide nothing."""
_SHORTEST_LINE: Final = 8
MASK: Final = "***"


class Mask:
    """Replaces the values of secrets in text, also as `repr`, JSON, URLs and lines of print."""

    def __init__(self, values: Iterable[str] = ()) -> None:
        forms = {form for value in values for form in _forms(value) if len(form) >= _SHORTEST}
        self._forms = sorted(forms, key=len, reverse=True)

    def __call__(self, text: str) -> str:
        """`text` without the values."""
        for form in self._forms:
            if form in text:
                text = text.replace(form, MASK)
        return text

    def beginning(self, text: str) -> str:
        """`text`, which was cut at its end, without the values and without the beginning of one."""
        masked = self(text)
        for form in self._forms:
            for size in range(min(len(form) - 1, len(masked)), 0, -1):
                if masked.endswith(form[:size]):
                    masked = masked[:-size]
                    break
        return masked + "…"


def _forms(value: str) -> Iterator[str]:
    """How `value` may look in a text."""
    yield value
    yield repr(value)[1:-1]
    yield repr(value.encode())[2:-1]
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    yield quote(value, safe="")
    yield quote(value)
    yield quote_plus(value)
    lines = value.splitlines()
    if len(lines) > 1:
        # Output leaves line by line.
        yield from (line for line in lines if len(line) >= _SHORTEST_LINE)
