"""What is read of the tables of edgestate.team to show them. Nothing here writes."""

from __future__ import annotations

from typing import Final

# In each: ?1 now in ms.
MEMBERS: Final = """
SELECT a.agent_id, a.role, s.task_id, COALESCE(s.load, 0) AS load,
  ?1 - s.heartbeat_at AS seen_ms_ago
FROM team_agents a LEFT JOIN agent_status s ON s.agent_id = a.agent_id
ORDER BY CASE a.role WHEN 'planner' THEN 0 WHEN 'worker' THEN 1 ELSE 2 END, a.agent_id"""
# ?2: how many goals, the newest first, each with all its tasks.
BOARD: Final = """
SELECT t.task_id, t.root_id, t.role, t.kind, t.status, t.review, t.attempt, t.version, t.fence,
  t.lease_holder, CASE WHEN t.lease_holder IS NULL THEN 0
    ELSE MAX(0, t.lease_expires_at - ?1) END AS lease_left_ms,
  t.context_version, t.agent_id, t.reason, t.created_at, t.updated_at, t.trace_id
FROM task_status t JOIN task_status r ON r.task_id = t.root_id
WHERE t.root_id IN (SELECT task_id FROM task_status WHERE task_id = root_id
  ORDER BY created_at DESC, task_id LIMIT ?2)
ORDER BY r.created_at DESC, t.root_id, t.task_id <> t.root_id, t.ordinal, t.task_id LIMIT 1000"""
SAGAS: Final = """
SELECT saga_id, name, status, failure, version, fence, lease_holder,
  CASE WHEN lease_holder IS NULL THEN 0 ELSE MAX(0, lease_expires_at - ?1) END AS lease_left_ms,
  CASE WHEN status IN ('running', 'compensating') THEN MAX(0, due_at - ?1) ELSE 0 END AS due_in_ms,
  updated_at, trace_id
FROM sagas ORDER BY status IN ('completed', 'compensated'), updated_at DESC, saga_id LIMIT ?2"""
SAGA_STEPS: Final = """
SELECT saga_id, seq, name, status, compensation, condition, forward, attempts,
  compensation_attempts, result, error
FROM saga_steps WHERE saga_id IN (SELECT saga_id FROM sagas
  ORDER BY status IN ('completed', 'compensated'), updated_at DESC, saga_id LIMIT ?1)
ORDER BY saga_id, seq"""
DEAD_LETTERS: Final = (
    "SELECT id, kind, ref, step, reason, attempts, created_at, requeued_at, trace_id "
    "FROM dead_letters ORDER BY requeued_at IS NOT NULL, id DESC LIMIT ?1"
)
LEASES: Final = """
SELECT 'team task' AS kind, task_id AS id, kind AS what, lease_holder AS holder, fence,
  lease_expires_at
FROM task_status WHERE lease_holder IS NOT NULL AND lease_expires_at > ?1 AND status = 'running'
UNION ALL
SELECT 'saga', saga_id, name, lease_holder, fence, lease_expires_at
FROM sagas WHERE lease_holder IS NOT NULL AND lease_expires_at > ?1
  AND status IN ('running', 'compensating')
ORDER BY lease_expires_at LIMIT 200"""
PLANNER: Final = "SELECT agent_id FROM team_agents WHERE role = 'planner'"
AGENTS: Final = "SELECT agent_id FROM team_agents"
