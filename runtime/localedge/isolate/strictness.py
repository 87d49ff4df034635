"""What the edge enforces and a laptop does not, as far as an isolate can: one switch for each.

The rate of writes and the age of reads are the stores' own: `write_rate` and `consistency`.
"""

from __future__ import annotations

import asyncio
from contextlib import AbstractContextManager, nullcontext

from localedge.isolate.call_limits import CallLimits
from localedge.probe import Probe
from localedge.project.models import Project


def tighten(project: Project, probe: Probe) -> AbstractContextManager[None]:
    """Turn on what `project` asks for; returned is the block to import the worker in."""
    local = project.local
    limited = {"kv": local.kv_call_limit, "d1": local.d1_call_limit}
    if any(limited.values()):
        probe.attach(CallLimits(kind for kind, is_limited in limited.items() if is_limited))
    if local.thread_guard:
        from localedge.isolate.thread_guard import refuse_threads

        refuse_threads(asyncio.get_running_loop())
    if not local.import_guard or project.main is None:
        return nullcontext()
    from localedge.isolate.import_guard import GlobalScope, import_guard

    probe.attach(GlobalScope())
    return import_guard(project.main.parent)
