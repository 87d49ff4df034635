"""Looking at everything: history, traces, metrics, symptoms. Nothing here writes."""

from __future__ import annotations

from typing import Final

SELECT_HISTORY: Final = (
    "SELECT seq, task_id, version, old_status, status, review, attempt, fence, lease_holder, "
    "context_version, agent_id, reason, created_at, trace_id FROM task_status_history "
    "WHERE ?1 IS NULL OR task_id = ?1 ORDER BY seq"
)
SELECT_STATES: Final = (
    "SELECT task_id, version, status, review, attempt, fence, lease_holder, context_version, "
    "agent_id, reason FROM task_status WHERE ?1 IS NULL OR task_id = ?1 ORDER BY task_id"
)

# --- traces -----------------------------------------------------------------------------------

SELECT_TRACE_OF: Final = """
SELECT trace_id, kind, is_whole FROM (
  SELECT trace_id, 'trace' AS kind, 1 AS is_whole, 0 AS place FROM team_events WHERE trace_id = ?1
  UNION ALL SELECT trace_id, 'task', task_id = root_id, 1 FROM task_status WHERE task_id = ?1
  UNION ALL SELECT trace_id, 'saga', 1, 2 FROM sagas WHERE saga_id = ?1
  UNION ALL SELECT trace_id, 'message', 1, 3 FROM agent_messages WHERE correlation_id = ?1
) ORDER BY place LIMIT 1"""
_EVENT_COLUMNS: Final = "e.seq, e.trace_id, e.kind, e.ref, e.agent_id, e.detail, e.created_at"
SELECT_EVENTS: Final = (
    f"SELECT {_EVENT_COLUMNS} FROM team_events e WHERE e.trace_id = ?1 AND e.seq > ?2 "
    "ORDER BY e.seq LIMIT ?3"
)
# Of one task within its trace: its own events, and messages that are about it.
SELECT_EVENTS_OF: Final = f"""
SELECT {_EVENT_COLUMNS} FROM team_events e
WHERE e.trace_id = ?1 AND e.seq > ?2 AND (e.ref = ?4
  OR e.ref IN (SELECT id FROM agent_messages
    WHERE trace_id = ?1 AND (correlation_id = ?4 OR instr(content, json_quote(?4)) > 0))
  OR (e.kind = 'snapshot' AND json_extract(e.detail, '$.subtask') = ?4))
ORDER BY e.seq LIMIT ?3"""

# --- metrics ----------------------------------------------------------------------------------

SELECT_COUNTERS: Final = "SELECT name, value FROM team_counters ORDER BY name"
# ?1: a JSON array of upper bounds in ms.
MESSAGE_LATENCY: Final = """
SELECT b.value AS bound,
  (SELECT COUNT(*) FROM message_deliveries d JOIN agent_messages m ON m.seq = d.seq
   WHERE d.consumed_at IS NOT NULL AND d.consumed_at - m.timestamp <= b.value) AS count
FROM json_each(?1) b ORDER BY b.key"""
MESSAGE_TOTALS: Final = """
SELECT d.agent_id, COUNT(*) AS count, SUM(d.consumed_at - m.timestamp) AS total_ms
FROM message_deliveries d JOIN agent_messages m ON m.seq = d.seq
WHERE d.consumed_at IS NOT NULL GROUP BY d.agent_id ORDER BY d.agent_id"""
_TRANSITIONS: Final = """
  SELECT h.old_status AS source, h.status AS target, h.created_at - COALESCE((
    SELECT p.created_at FROM task_status_history p
    WHERE p.task_id = h.task_id AND p.version < h.version AND p.old_status IS NOT p.status
    ORDER BY p.version DESC LIMIT 1), h.created_at) AS took
  FROM task_status_history h WHERE h.old_status IS NOT NULL AND h.old_status <> h.status"""
TRANSITION_TOTALS: Final = f"""
SELECT source, target, COUNT(*) AS count, SUM(took) AS total_ms
FROM ({_TRANSITIONS}) GROUP BY source, target ORDER BY source, target"""
TRANSITION_BUCKETS: Final = f"""
SELECT t.source, t.target, b.value AS bound, SUM(t.took <= b.value) AS count
FROM json_each(?1) b JOIN ({_TRANSITIONS}) t
GROUP BY t.source, t.target, b.key ORDER BY t.source, t.target, b.key"""
TASKS_BY_STATUS: Final = "SELECT status, COUNT(*) AS count FROM task_status GROUP BY status"
OPEN_LETTERS: Final = """
SELECT kind, COUNT(*) AS count FROM dead_letters WHERE requeued_at IS NULL GROUP BY kind"""
UNREAD: Final = """
SELECT COUNT(*) AS count FROM agent_messages m JOIN team_agents a
  ON m.target_agent_id = a.agent_id OR (m.target_agent_id = '*' AND m.source_agent_id <> a.agent_id)
WHERE NOT EXISTS (SELECT 1 FROM message_deliveries d
  WHERE d.seq = m.seq AND d.agent_id = a.agent_id AND d.consumed_at IS NOT NULL)"""

# --- symptoms ---------------------------------------------------------------------------------

UNREAD_LONG: Final = """
SELECT m.seq, m.source_agent_id AS "from", a.agent_id AS "to", m.message_type AS type,
  ?1 - m.timestamp AS waits_ms
FROM agent_messages m JOIN team_agents a ON m.target_agent_id = a.agent_id
WHERE m.timestamp < ?1 - ?2 AND NOT EXISTS (SELECT 1 FROM message_deliveries d
  WHERE d.seq = m.seq AND d.agent_id = a.agent_id AND d.consumed_at IS NOT NULL)
ORDER BY m.seq LIMIT ?3"""
BEHIND: Final = """
SELECT t.task_id, t.status, t.context_version AS works_under, r.context_version AS newest
FROM task_status t JOIN task_status r ON r.task_id = t.root_id
WHERE t.status IN ('pending', 'running') AND t.context_version <> r.context_version
ORDER BY t.task_id LIMIT ?1"""
TASK_VERSIONS: Final = "SELECT task_id, version FROM task_status ORDER BY updated_at DESC LIMIT ?1"
# A task that often went back, or between agents.
FLAPPING: Final = """
SELECT task_id, COUNT(*) AS changes, COUNT(DISTINCT agent_id) AS agents,
  SUM(old_status <> 'pending' AND status = 'pending') AS went_back,
  SUM(old_status = 'running' AND status = 'running') AS taken_over
FROM task_status_history GROUP BY task_id
HAVING went_back + taken_over >= ?1 ORDER BY changes DESC, task_id LIMIT ?2"""
# Versions that history does not have: somebody wrote past the library.
GAPS: Final = """
SELECT t.task_id, t.version, COUNT(h.seq) AS in_history, t.status,
  (SELECT status FROM task_status_history l WHERE l.task_id = t.task_id
   ORDER BY version DESC LIMIT 1) AS last_in_history
FROM task_status t LEFT JOIN task_status_history h ON h.task_id = t.task_id
GROUP BY t.task_id
HAVING in_history <> t.version OR last_in_history IS NOT t.status
ORDER BY t.task_id LIMIT ?1"""
WITHOUT_RESULT: Final = """
SELECT t.task_id, t.attempt, t.agent_id, t.updated_at,
  (SELECT MAX(created_at) FROM task_results r WHERE r.task_id = t.task_id) AS last_result_at
FROM task_status t WHERE t.status = 'completed' AND NOT EXISTS (
  SELECT 1 FROM task_results r WHERE r.task_id = t.task_id AND r.attempt = t.attempt)
ORDER BY t.task_id LIMIT ?1"""
WITHOUT_STATUS: Final = """
SELECT r.task_id, r.attempt, t.status, t.attempt AS task_attempt FROM task_results r
LEFT JOIN task_status t ON t.task_id = r.task_id
WHERE t.task_id IS NULL OR (t.attempt = r.attempt AND t.status NOT IN ('completed', 'failed'))
ORDER BY r.task_id LIMIT ?1"""
TWICE_PLANNED: Final = """
SELECT root_id, kind, input, COUNT(*) AS times, MIN(task_id) AS first, MAX(task_id) AS last
FROM task_status WHERE task_id <> root_id AND input <> 'null'
GROUP BY root_id, kind, input HAVING times > 1 ORDER BY root_id LIMIT ?1"""
TWICE_SENT: Final = """
SELECT source_agent_id AS "from", target_agent_id AS "to", message_type AS type,
  COUNT(*) AS times, MIN(seq) AS first, MAX(seq) AS last
FROM agent_messages
GROUP BY source_agent_id, target_agent_id, message_type, content, correlation_id, trace_id
HAVING times > 1 ORDER BY first LIMIT ?1"""
TWICE_RESULTS: Final = """
SELECT task_id, attempt, COUNT(*) AS results FROM task_results
GROUP BY task_id, attempt HAVING results > 1 LIMIT ?1"""
# The protections that must be there.
PROTECTIONS: Final = """
SELECT wanted.value AS missing FROM json_each(?1) wanted
WHERE NOT EXISTS (SELECT 1 FROM sqlite_master WHERE name = wanted.value)"""
SNAPSHOTS: Final = """
SELECT task_id, version, schema_number, sha256, payload FROM task_snapshots
ORDER BY task_id, version DESC"""
