"""Which state may be written at once by several agents, and who is right when they do.

Source: the second seed document, 1.1 (its third question), read 2026-12-01.
"""

from __future__ import annotations

from types import MappingProxyType
from typing import Final, Literal

Policy = Literal["append", "version", "lease", "last_write"]
"""append: rows are added and never changed; version: the second of two writers is refused;
lease: only the holder writes, with its fence; last_write: the newest counts, nothing hangs on it.
"""

POLICIES: Final = MappingProxyType[str, Policy](
    {
        "agent_messages": "append",
        "message_deliveries": "version",
        "decision_log": "append",
        "task_status_history": "append",
        "task_results": "append",
        "access_denials": "append",
        "team_events": "append",
        "task_status": "lease",
        "task_dependencies": "append",
        "task_snapshots": "version",
        "contexts": "version",
        "shared_knowledge": "version",
        "working_memory": "version",
        "team_settings": "version",
        "write_requests": "lease",
        "sagas": "lease",
        "saga_steps": "lease",
        "dead_letters": "version",
        "team_agents": "append",
        "agent_status": "last_write",
        "team_counters": "append",
        "collections": "lease",
        "raw_data": "lease",
        "stored_data": "lease",
    }
)
