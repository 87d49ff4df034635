"""What running a step again may do, and the key by which a tool knows a repetition."""

from __future__ import annotations

import hashlib

from edgestate.keys import check_id


def idempotency_key(task_id: str, step_index: int) -> str:
    """The key of a step's effect: a function of task and step alone, 40 characters.

    Every attempt of the step has it, in whichever process, so that the other side can tell that
    it has done this already.
    """
    digest = hashlib.sha256(f"{check_id('task', task_id)}\0{step_index}".encode())
    return f"agent-{digest.hexdigest()[:34]}"
