"""What is read of the tables of edgestate to show them. Nothing here writes."""

from __future__ import annotations

from typing import Final

_TASK: Final = (
    "id AS task_id, session_id, goal, status, current_step, total_steps, created_at, updated_at, "
    "version, fence, claims, lease_holder, lease_expires_at, request_id, outcome, error, "
    "error_code, quarantine_reason"
)
# ?1 a text that the id or the user has, or NULL; ?2 how many; ?3 how many come before.
SESSIONS: Final = """
SELECT s.id AS session_id, s.user_id, s.status, s.message_count, s.created_at, s.last_active_at,
  s.expires_at, COUNT(t.id) AS tasks,
  COALESCE(SUM(t.status IN ('planned', 'running', 'waiting_tool')), 0) AS unfinished,
  COALESCE(SUM(t.status = 'waiting_tool'), 0) AS waiting
FROM agent_sessions s LEFT JOIN agent_tasks t ON t.session_id = s.id
WHERE ?1 IS NULL OR instr(s.id, ?1) > 0 OR instr(s.user_id, ?1) > 0
GROUP BY s.id ORDER BY s.last_active_at DESC, s.id LIMIT ?2 OFFSET ?3"""
# ?1 a session or NULL; ?2 a JSON array of statuses or NULL; ?3 a text of id or goal, or NULL.
TASKS: Final = f"""
SELECT {_TASK} FROM agent_tasks
WHERE (?1 IS NULL OR session_id = ?1)
  AND (?2 IS NULL OR status IN (SELECT value FROM json_each(?2)))
  AND (?3 IS NULL OR instr(id, ?3) > 0 OR instr(goal, ?3) > 0)
ORDER BY created_at DESC, id LIMIT ?4 OFFSET ?5"""
TASK: Final = f"SELECT {_TASK}, result, iteration, counters FROM agent_tasks WHERE id = ?1"
STEPS: Final = (
    "SELECT step_index, action, status, effect, input, output, error, error_code, started_at, "
    "completed_at, intent_at, attempt, fence, idempotency_key, resolution, resolved_attempt, "
    'step_group AS "group" FROM agent_task_steps WHERE task_id = ?1 ORDER BY step_index'
)
TOOLS: Final = (
    "SELECT tool_name, status, retry_count, max_retries, last_error, rate_limit_reset_at "
    "FROM agent_tool_states WHERE task_id = ?1 ORDER BY tool_name"
)
# What asks: see edgestate.recovery. ?1 a task or NULL.
QUESTIONS: Final = """
SELECT t.id AS task_id, t.goal, s.step_index, s.action, s.effect, s.attempt, s.input, s.error,
  COALESCE(s.intent_at, s.started_at) AS since, s.idempotency_key,
  CASE s.status WHEN 'failed' THEN 'failed' ELSE 'uncertain' END AS why
FROM agent_task_steps s JOIN agent_tasks t ON t.id = s.task_id
WHERE (?1 IS NULL OR t.id = ?1) AND t.quarantine_reason IS NULL
  AND ((t.status IN ('waiting_tool', 'failed')
      AND s.status = 'running' AND s.effect = 'non_idempotent')
    OR (t.status = 'failed' AND s.status = 'failed'))
ORDER BY t.updated_at, t.id, s.step_index LIMIT 200"""
# ?1 now in ms.
LEASES: Final = """
SELECT 'task' AS kind, id, goal AS what, lease_holder AS holder, fence, lease_expires_at
FROM agent_tasks
WHERE status IN ('planned', 'running', 'waiting_tool') AND lease_expires_at > ?1
  AND lease_holder IS NOT NULL
ORDER BY lease_expires_at LIMIT 200"""
HOLDER: Final = "SELECT lease_holder FROM agent_tasks WHERE id = ?1"
# Which of the two sets of tables there are.
TABLES: Final = (
    "SELECT name FROM sqlite_master WHERE type = 'table' "
    "AND name IN ('agent_tasks', 'agent_guard', 'task_status', 'team_events')"
)
