"""Step outputs that are too large for a row of D1, kept in KV under a key that is their content.

KV is safe for this use only: such a value never changes, and nobody asks for its key before the
row that names it is committed, so that no location can have remembered it as absent.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import Any, Final

from edgestate import keys
from edgestate.bindings import KVBinding
from edgestate.d1_rows import Row, optional_text
from edgestate.errors import CorruptRecord, RecordTooLarge
from edgestate.kv_call import KVCalls
from edgestate.models import StepResult

PREFIX: Final = "blob:"
"""No JSON text begins like this."""
OVER_BYTES: Final = 1_000_000
SESSION_LIVES: Final = 30
"""A session that is used lives on; its blobs last for this many times its TTL."""
KV_LIMIT_BYTES: Final = 25 * 1024 * 1024
"""Source: reference/kv-d1-contract.md 1.8 (value size), read 2026-12-01."""


class Blobs:
    """Puts large outputs into KV before the row that names them is written, and fetches them."""

    def __init__(self, kv: KVBinding | None, ttl_s: float) -> None:
        self._kv = None if kv is None else KVCalls(kv)
        self._ttl_s = ttl_s * SESSION_LIVES

    async def stored(self, task_id: str, step: StepResult) -> str | None:
        """What the `output` column holds for `step`: its JSON, or a reference to it in KV."""
        where = f"task {task_id}, step {step.step_index}, output"
        text = optional_text(step.output, where)
        if self._kv is None or text is None or len(text) * 4 < OVER_BYTES:
            return text
        data = text.encode()
        if len(data) <= OVER_BYTES:
            return text
        if len(data) > KV_LIMIT_BYTES:
            raise RecordTooLarge(where, len(data), KV_LIMIT_BYTES)
        key = keys.blob(task_id, hashlib.sha256(data).hexdigest())
        await self._kv.put(key, text, expirationTtl=max(60, int(self._ttl_s)))
        return PREFIX + key

    async def filled(self, task_id: str, rows: Iterable[Row]) -> list[Row]:
        """`rows` of steps with every reference replaced by what it names; CorruptRecord if gone."""
        return [await self._filled(task_id, row) for row in rows]

    async def _filled(self, task_id: str, row: Row) -> Row:
        output: Any = row["output"]
        if not isinstance(output, str) or not output.startswith(PREFIX):
            return row
        key = output[len(PREFIX) :]
        text = None if self._kv is None else await self._kv.get(key)
        if text is None:
            raise CorruptRecord(f"task {task_id}, step {row['step_index']}", f"{key} is not in KV")
        if hashlib.sha256(text.encode()).hexdigest() != key.rsplit(":", 1)[1]:
            raise CorruptRecord(f"task {task_id}, step {row['step_index']}", f"{key} was changed")
        return {**row, "output": text}
