"""What goes along with every write: who may, under which request and context, and the counts."""

from __future__ import annotations

from typing import Final

SELECT_ROLE: Final = "SELECT role FROM team_agents WHERE agent_id = ?1"
SELECT_AGENTS: Final = (
    "SELECT a.agent_id, a.role, s.incarnation, s.task_id, s.context_id, s.load, s.heartbeat_at, "
    "s.last_active_at FROM team_agents a LEFT JOIN agent_status s ON s.agent_id = a.agent_id "
    "ORDER BY a.agent_id"
)
ENROL: Final = """
INSERT INTO team_agents (agent_id, role, enrolled_at, trace_id) SELECT ?1, ?2, ?3, ?4
WHERE NOT EXISTS (SELECT 1 FROM team_agents WHERE agent_id = ?1)"""
# ?3: the task, or NULL to keep it; a heartbeat that is late does not replace a newer one.
BEAT: Final = """
INSERT INTO agent_status
  (agent_id, incarnation, task_id, context_id, load, heartbeat_at, last_active_at, trace_id)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, CASE WHEN ?3 IS NULL THEN 0 ELSE ?6 END, ?7)
ON CONFLICT (agent_id) DO UPDATE SET
  incarnation = excluded.incarnation, task_id = excluded.task_id,
  context_id = COALESCE(excluded.context_id, context_id), load = excluded.load,
  heartbeat_at = excluded.heartbeat_at,
  last_active_at = MAX(last_active_at, excluded.last_active_at), trace_id = excluded.trace_id
WHERE excluded.heartbeat_at >= heartbeat_at"""

# ?2: a JSON array of roles. Who is not enrolled has none.
GUARD_ROLE: Final = """
INSERT INTO agent_guard (reason)
SELECT 'access' WHERE NOT EXISTS (
  SELECT 1 FROM team_agents
  WHERE agent_id = ?1 AND role IN (SELECT value FROM json_each(?2)))"""
# No such root is a conflict too.
GUARD_CONTEXT: Final = """
INSERT INTO agent_guard (reason)
SELECT 'context' WHERE COALESCE(
  (SELECT context_version FROM task_status WHERE task_id = ?1 AND root_id = ?1), -1) <> ?2"""
# After an UPDATE that must have changed one row.
GUARD_VERSION: Final = "INSERT INTO agent_guard (reason) SELECT 'version' WHERE changes() <> 1"

DONE_REQUEST: Final = """
INSERT INTO write_requests
  (request_id, agent_id, operation, fingerprint, status, expires_at, answer, created_at, trace_id)
VALUES (?1, ?2, ?3, ?4, 'done', 0, ?5, ?6, ?7)"""
SELECT_REQUEST: Final = (
    "SELECT agent_id, operation, fingerprint, status, fence, expires_at, answer "
    "FROM write_requests WHERE request_id = ?1"
)
# A claim that expired is taken over with a higher fence, for the same content only. A claim that is
# sent again because its answer was lost (?8) is the same claim.
CLAIM_REQUEST: Final = """
INSERT INTO write_requests
  (request_id, agent_id, operation, fingerprint, status, expires_at, created_at, trace_id, claim_id)
VALUES (?1, ?2, ?3, ?4, 'in_progress', ?5, ?6, ?7, ?8)
ON CONFLICT (request_id) DO UPDATE SET
  fence = CASE WHEN claim_id = excluded.claim_id THEN fence ELSE fence + 1 END,
  expires_at = excluded.expires_at, agent_id = excluded.agent_id, claim_id = excluded.claim_id
WHERE status = 'in_progress' AND (expires_at <= ?6 OR claim_id = excluded.claim_id)
  AND fingerprint = excluded.fingerprint AND operation = excluded.operation
RETURNING fence"""
FINISH_REQUEST: Final = """
UPDATE write_requests SET status = 'done', answer = ?3
WHERE request_id = ?1 AND fence = ?2 AND status = 'in_progress'"""
GUARD_REQUEST: Final = "INSERT INTO agent_guard (reason) SELECT 'request' WHERE changes() <> 1"
SELECT_ANSWER: Final = "SELECT answer FROM write_requests WHERE request_id = ?1"
SWEEP_REQUESTS: Final = """
DELETE FROM write_requests WHERE request_id IN (
  SELECT request_id FROM write_requests WHERE status = 'done' AND created_at < ?1 LIMIT ?2)
RETURNING request_id"""

# ?1: a JSON object of counts.
COUNT: Final = """
INSERT INTO team_counters (name, value) SELECT key, value FROM json_each(?1) WHERE TRUE
ON CONFLICT (name) DO UPDATE SET value = value + excluded.value"""
DENY: Final = """
INSERT INTO access_denials (agent_id, operation, object, created_at, trace_id)
VALUES (?1, ?2, ?3, ?4, ?5)"""
SELECT_DENIALS: Final = (
    "SELECT seq, agent_id, operation, object, created_at, trace_id FROM access_denials ORDER BY seq"
)
# Contexts are those of goals.
SELECT_POINTER: Final = (
    "SELECT context_version FROM task_status WHERE task_id = ?1 AND root_id = ?1"
)
