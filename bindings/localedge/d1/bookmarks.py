"""Bookmarks in the platform's form.

Source: reference/kv-d1-contract.md 2.11 and section 6, read 2026-12-01.
"""

from __future__ import annotations

import hashlib
from typing import Final

CREATE_METADATA: Final = (
    "CREATE TABLE IF NOT EXISTS _cf_METADATA (key INTEGER PRIMARY KEY, value BLOB) WITHOUT ROWID"
)
"""The platform's own table, where the counter of bookmarks lies under the key 2."""


def bookmark_text(counter: int, copy: int = 0) -> str:
    """A bookmark; the texts sort as the counters do.

    Shape: `copy` numbers the copies that were kept between two counters, from 1; what a session
    gives out is no copy.
    """
    numbers = counter.to_bytes(8, "big") + (copy.to_bytes(4, "big") if copy else b"")
    digest = hashlib.blake2b(numbers, digest_size=16).hexdigest()
    return f"{counter >> 32:08x}-{counter & 0xFFFFFFFF:08x}-{copy:08x}-{digest}"
