"""Knowledge of the project and memory of a task: who may read and write stands in the SQL.

?1 is always the agent that asks, as the server knows it. Who is not enrolled has no role, and a
comparison with that is never true: what no rule allows is denied.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

_ROLE: Final = "(SELECT role FROM team_agents WHERE agent_id = ?1)"
_NAMED: Final = "EXISTS (SELECT 1 FROM json_each(k.acl) n WHERE n.value = ?1)"
READABLE: Final = f"({_ROLE} IS NOT NULL AND (k.visibility <> 'private' OR {_NAMED}))"
WRITABLE: Final = f"""({_ROLE} IS NOT NULL AND CASE k.visibility
    WHEN 'private' THEN {_NAMED}
    WHEN 'public' THEN {_ROLE} = 'planner' OR {_NAMED}
    WHEN 'restricted' THEN {_ROLE} = 'planner'
    ELSE 0 END)"""
_COLUMNS: Final = "k.scope, k.key, k.kind, k.value, k.visibility, k.version, k.owner_id, k.agent_id"


@dataclass(frozen=True, slots=True)
class Shelf:
    """The statements of one table of knowledge."""

    get: str
    exists: str
    all: str
    create: str
    update: str
    guard_create: str
    guard_update: str


def _shelf(table: str) -> Shelf:
    return Shelf(
        get=f"SELECT {_COLUMNS} FROM {table} k WHERE k.scope = ?2 AND k.key = ?3 AND {READABLE}",
        exists=f"SELECT 1 AS found FROM {table} WHERE scope = ?1 AND key = ?2",
        all=f"""
SELECT {_COLUMNS} FROM {table} k
WHERE k.scope = ?2 AND (?3 IS NULL OR k.kind = ?3) AND {READABLE} ORDER BY k.key""",
        # ?2 scope, ?3 key, ?4 kind, ?5 value, ?6 visibility, ?7 acl, ?8 now, ?9 trace. One's own
        # private things anybody may have; what all see only the planner begins.
        create=f"""
INSERT INTO {table}
  (scope, key, kind, value, visibility, acl, owner_id, agent_id, updated_at, trace_id)
SELECT k.scope, ?3, ?4, ?5, k.visibility, k.acl, ?1, ?1, ?8, ?9
FROM (SELECT ?2 AS scope, ?6 AS visibility, ?7 AS acl) k
WHERE CASE k.visibility WHEN 'private' THEN {_ROLE} IS NOT NULL AND {_NAMED}
  ELSE {_ROLE} = 'planner' END""",
        # ?4 value, ?5 version, ?6 now, ?7 trace.
        update=f"""
UPDATE {table} AS k SET
  value = ?4, version = version + 1, agent_id = ?1, updated_at = ?6, trace_id = ?7
WHERE k.scope = ?2 AND k.key = ?3 AND k.version = ?5 AND {WRITABLE}""",
        guard_create="INSERT INTO agent_guard (reason) SELECT 'access' WHERE changes() <> 1",
        guard_update=f"""
INSERT INTO agent_guard (reason)
SELECT CASE WHEN EXISTS (
  SELECT 1 FROM {table} k WHERE k.scope = ?2 AND k.key = ?3 AND NOT {WRITABLE})
  THEN 'access' ELSE 'version' END
WHERE changes() <> 1""",
    )


LONG_TERM: Final = _shelf("shared_knowledge")
SHORT_TERM: Final = _shelf("working_memory")
