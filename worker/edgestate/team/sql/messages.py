"""Messages, their deliveries, and decisions."""

from __future__ import annotations

from typing import Final

MESSAGE_COLUMNS: Final = (
    "m.seq, m.id, m.source_agent_id, m.target_agent_id, m.message_type, m.content, m.timestamp, "
    "m.correlation_id, m.context_id, m.corrects_id, m.trace_id"
)
SEND: Final = """
INSERT INTO agent_messages
  (id, source_agent_id, target_agent_id, message_type, content, timestamp, correlation_id,
   context_id, corrects_id, request_id, trace_id)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11)"""
# Only one's own message is corrected.
SEND_CORRECTION: Final = """
INSERT INTO agent_messages
  (id, source_agent_id, target_agent_id, message_type, content, timestamp, correlation_id,
   context_id, corrects_id, request_id, trace_id)
SELECT ?1, ?2, target_agent_id, message_type, ?3, ?4, correlation_id, ?5, id, ?6, ?7
FROM agent_messages WHERE id = ?8 AND source_agent_id = ?2"""
GUARD_CORRECTION: Final = "INSERT INTO agent_guard (reason) SELECT 'access' WHERE changes() <> 1"
ANSWER_SENT: Final = """
UPDATE write_requests SET answer = (
  SELECT json_object('id', id, 'seq', seq) FROM agent_messages WHERE id = ?2)
WHERE request_id = ?1"""

_FOR_ME: Final = "(m.target_agent_id = ?1 OR (m.target_agent_id = '*' AND m.source_agent_id <> ?1))"
_UNCONSUMED: Final = """NOT EXISTS (
    SELECT 1 FROM message_deliveries d
    WHERE d.seq = m.seq AND d.agent_id = ?1 AND d.consumed_at IS NOT NULL)"""
# ?2: the cursor, ?3: how many, ?4: now.
DELIVER: Final = f"""
INSERT INTO message_deliveries (seq, agent_id, delivered_at, trace_id)
SELECT m.seq, ?1, ?4, m.trace_id FROM agent_messages m
WHERE m.seq > ?2 AND {_FOR_ME} AND {_UNCONSUMED}
ORDER BY m.seq LIMIT ?3
ON CONFLICT (seq, agent_id) DO NOTHING"""
POLL: Final = f"""
SELECT {MESSAGE_COLUMNS} FROM agent_messages m
WHERE m.seq > ?2 AND {_FOR_ME} AND {_UNCONSUMED}
ORDER BY m.seq LIMIT ?3"""
CONSUME: Final = """
UPDATE message_deliveries SET consumed_at = MAX(?3, delivered_at)
WHERE seq = ?1 AND agent_id = ?2 AND consumed_at IS NULL"""
GUARD_CONSUME: Final = "INSERT INTO agent_guard (reason) SELECT 'consumed' WHERE changes() <> 1"
SELECT_DELIVERY: Final = (
    "SELECT consumed_at FROM message_deliveries WHERE seq = ?1 AND agent_id = ?2"
)
# Between two agents, or everything of a correlation, for those who sent or got it.
SELECT_CORRELATED: Final = f"""
SELECT {MESSAGE_COLUMNS} FROM agent_messages m
WHERE m.correlation_id = ?2
  AND (m.source_agent_id = ?1 OR {_FOR_ME}
    OR (SELECT role FROM team_agents WHERE agent_id = ?1) = 'planner')
ORDER BY m.seq LIMIT ?3"""

DECIDE: Final = """
INSERT INTO decision_log
  (task_id, agent_id, decision, reason, context_version, created_at, trace_id)
SELECT task_id, ?2, ?3, ?4, context_version, ?5, trace_id FROM task_status WHERE task_id = ?1"""
GUARD_DECIDED: Final = "INSERT INTO agent_guard (reason) SELECT 'version' WHERE changes() <> 1"
SELECT_DECISIONS: Final = """
SELECT d.seq, d.task_id, d.agent_id, d.decision, d.reason, d.context_version, d.created_at
FROM decision_log d JOIN task_status t ON t.task_id = d.task_id
WHERE d.task_id = ?1 OR t.root_id = ?1 ORDER BY d.seq"""
