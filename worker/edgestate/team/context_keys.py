"""The name of a context, which says of which task it is and at which version."""

from __future__ import annotations

from urllib.parse import quote

from edgestate.keys import check_id


def context_key(task_id: str, version: int) -> str:
    """`task:{task_id}:ctx:{version}`, the id encoded so that no two keys are equal."""
    return f"task:{quote(check_id('task', task_id), safe='')}:ctx:{version}"
