"""Every statement that the library sends to D1.

Numbers bind as REAL; columns of INTEGER affinity turn them back. A guard stands directly after
the write that it guards: it inserts nothing when that write changed its row, and a value that a
named CHECK refuses when it did not, which undoes the batch.
"""

from __future__ import annotations

from typing import Final

# --- sessions ---------------------------------------------------------------------------------

SESSION_COLUMNS: Final = (
    "id, user_id, status, message_count, created_at, last_active_at, version, schema_number"
)
SELECT_SESSION: Final = (
    f"SELECT {SESSION_COLUMNS} FROM agent_sessions WHERE id = ?1 AND expires_at > ?2"
)
SELECT_SESSIONS_OF_USER: Final = (
    f"SELECT {SESSION_COLUMNS} FROM agent_sessions WHERE user_id = ?1 AND expires_at > ?2 "
    "ORDER BY created_at, id"
)
UPSERT_SESSION: Final = """
INSERT INTO agent_sessions
  (id, user_id, status, message_count, created_at, last_active_at, expires_at)
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7)
ON CONFLICT (id) DO UPDATE SET
  status = excluded.status, message_count = excluded.message_count,
  last_active_at = excluded.last_active_at, expires_at = excluded.expires_at,
  version = version + 1
WHERE ?8 = 0 OR version = ?8
RETURNING version"""
SELECT_SESSION_VERSION: Final = "SELECT version FROM agent_sessions WHERE id = ?1"
TOUCH_SESSION: Final = f"""
UPDATE agent_sessions SET
  last_active_at = MAX(last_active_at, ?2), message_count = message_count + ?3,
  expires_at = MAX(expires_at, ?4), version = version + 1
WHERE id = ?1 AND expires_at > ?5 AND status <> 'expired'
RETURNING {SESSION_COLUMNS}"""
DELETE_SESSION: Final = "DELETE FROM agent_sessions WHERE id = ?1"

# --- tasks ------------------------------------------------------------------------------------

TASK_COLUMNS: Final = (
    "id, session_id, goal, status, current_step, total_steps, created_at, updated_at, version, "
    "fence, request_id, iteration, prompt, counters, intermediate, outcome, result, error, "
    "error_code, quarantine_reason, schema_number"
)
STEP_COLUMNS: Final = (
    "step_index, action, input, output, status, error, started_at, completed_at, effect, attempt, "
    "idempotency_key, intent_at, fence, error_code, resolution, resolved_attempt, messages, "
    "step_group"
)
SELECT_TASK: Final = f"SELECT {TASK_COLUMNS} FROM agent_tasks WHERE id = ?1"
SELECT_STEPS: Final = (
    f"SELECT {STEP_COLUMNS} FROM agent_task_steps WHERE task_id = ?1 ORDER BY step_index"
)
SELECT_TASKS_OF_SESSION: Final = (
    f"SELECT {TASK_COLUMNS} FROM agent_tasks WHERE session_id = ?1 ORDER BY created_at, id"
)
SELECT_STEPS_OF_SESSION: Final = (
    f"SELECT task_id, {STEP_COLUMNS} FROM agent_task_steps "
    "WHERE task_id IN (SELECT id FROM agent_tasks WHERE session_id = ?1) "
    "ORDER BY task_id, step_index"
)
# ?1 NULL means the tasks of all sessions.
SELECT_FAILED_TASKS: Final = (
    f"SELECT {TASK_COLUMNS} FROM agent_tasks "
    "WHERE status = 'failed' AND (?1 IS NULL OR session_id = ?1) ORDER BY created_at, id"
)
SELECT_STEPS_OF_FAILED_TASKS: Final = (
    f"SELECT task_id, {STEP_COLUMNS} FROM agent_task_steps "
    "WHERE task_id IN (SELECT id FROM agent_tasks "
    "WHERE status = 'failed' AND (?1 IS NULL OR session_id = ?1)) ORDER BY task_id, step_index"
)
_TASK_TARGET: Final = """
INSERT INTO agent_tasks
  (id, session_id, goal, status, current_step, total_steps, created_at, updated_at, request_id,
   iteration, prompt, counters, intermediate, outcome, result, error, error_code)"""
_INSERT_TASK: Final = f"""{_TASK_TARGET}
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17)"""
# ?18: now in ms. Nothing is created for a session that is over.
CREATE_TASK: Final = f"""{_TASK_TARGET}
SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17
WHERE EXISTS (
  SELECT 1 FROM agent_sessions WHERE id = ?2 AND expires_at > ?18 AND status <> 'expired')
ON CONFLICT (session_id, request_id) DO NOTHING"""
SELECT_CREATED: Final = (
    "SELECT id FROM agent_tasks WHERE id = ?1 OR (session_id = ?2 AND request_id = ?3)"
)
SELECT_TASK_OF_REQUEST: Final = (
    f"SELECT {TASK_COLUMNS} FROM agent_tasks WHERE session_id = ?1 AND request_id = ?2"
)
# The steps of that task, if it is not task ?3.
SELECT_STEPS_OF_REQUEST: Final = (
    f"SELECT {STEP_COLUMNS} FROM agent_task_steps WHERE task_id = (SELECT id FROM agent_tasks "
    "WHERE session_id = ?1 AND request_id = ?2 AND id <> ?3) ORDER BY step_index"
)
# ?18: 1 if a stored task may be replaced; ?19: now in ms. A task under a lease is its holder's.
PUT_TASK: Final = f"""{_INSERT_TASK}
ON CONFLICT (id) DO UPDATE SET
  goal = excluded.goal, status = excluded.status, current_step = excluded.current_step,
  total_steps = excluded.total_steps, updated_at = excluded.updated_at,
  iteration = excluded.iteration, prompt = excluded.prompt, counters = excluded.counters,
  intermediate = excluded.intermediate, outcome = excluded.outcome, result = excluded.result,
  error = excluded.error, error_code = excluded.error_code, version = version + 1
WHERE ?18 = 1 AND lease_expires_at <= ?19 AND quarantine_reason IS NULL"""
GUARD_PUT: Final = """
INSERT INTO agent_guard (reason)
SELECT CASE WHEN (SELECT lease_expires_at FROM agent_tasks WHERE id = ?1) > ?2
  THEN 'fence' ELSE 'version' END
WHERE changes() <> 1"""
SELECT_VERSION: Final = "SELECT version, fence, quarantine_reason FROM agent_tasks WHERE id = ?1"
# ?15: the fence that the writer holds, or NULL; ?16: 1 to end the lease.
COMMIT_TASK: Final = """
UPDATE agent_tasks SET
  version = version + 1, goal = ?3, status = ?4, current_step = ?5, total_steps = ?6,
  updated_at = MAX(updated_at, ?7), iteration = ?8, counters = ?9, intermediate = ?10,
  outcome = ?11, result = ?12, error = ?13, error_code = ?14,
  claims = CASE WHEN ?17 = 1 THEN 0 ELSE claims END,
  lease_expires_at = CASE WHEN ?16 = 1 THEN 0 ELSE lease_expires_at END,
  lease_holder = CASE WHEN ?16 = 1 THEN NULL ELSE lease_holder END
WHERE id = ?1 AND version = ?2 AND (?15 IS NULL OR fence = ?15) AND quarantine_reason IS NULL"""
# The same for a run's ordinary progress, under the fence ?5. It touches no indexed column.
MOVE_POINTER: Final = """
UPDATE agent_tasks SET
  version = version + 1, current_step = ?3, updated_at = MAX(updated_at, ?4), claims = 0
WHERE id = ?1 AND version = ?2 AND fence = ?5 AND quarantine_reason IS NULL"""
GUARD_COMMIT: Final = """
INSERT INTO agent_guard (reason)
SELECT CASE WHEN (SELECT fence FROM agent_tasks WHERE id = ?1) <> ?2
  THEN 'fence' ELSE 'version' END
WHERE changes() <> 1"""
_STEP_TARGET: Final = f"INSERT INTO agent_task_steps (task_id, {STEP_COLUMNS})"
# What ended with success stays as it ended.
_STEP_UPDATE: Final = """
ON CONFLICT (task_id, step_index) DO UPDATE SET
  action = excluded.action, input = excluded.input, output = excluded.output,
  status = excluded.status, error = excluded.error, started_at = excluded.started_at,
  completed_at = excluded.completed_at, effect = excluded.effect, attempt = excluded.attempt,
  idempotency_key = excluded.idempotency_key, intent_at = excluded.intent_at,
  fence = excluded.fence, error_code = excluded.error_code, resolution = excluded.resolution,
  resolved_attempt = excluded.resolved_attempt, messages = excluded.messages,
  step_group = excluded.step_group
WHERE agent_task_steps.status <> 'success'"""
PUT_STEP: Final = f"""{_STEP_TARGET}
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12, ?13, ?14, ?15, ?16, ?17, ?18, ?19)
{_STEP_UPDATE}"""
# What a run changes of a step that is there.
SET_RESULT: Final = """
UPDATE agent_task_steps SET
  status = ?3, output = ?4, error = ?5, error_code = ?6, started_at = ?7, completed_at = ?8,
  attempt = ?9, idempotency_key = ?10, intent_at = ?11, fence = ?12, messages = ?13
WHERE task_id = ?1 AND step_index = ?2 AND status <> 'success'"""
_ITEMS: Final = ", ".join(f"json_extract(value, '$[{n}]')" for n in range(18))
# ?2: a JSON array with one array of columns per step; nothing is written if there is no such task.
PUT_STEPS: Final = f"""{_STEP_TARGET}
SELECT ?1, {_ITEMS} FROM json_each(?2) WHERE EXISTS (SELECT 1 FROM agent_tasks WHERE id = ?1)
{_STEP_UPDATE}"""
# As PUT_STEPS, for steps that nobody began: [index, action, input, effect, messages, group].
CREATE_STEPS: Final = """
INSERT INTO agent_task_steps (task_id, step_index, action, input, effect, messages, step_group)
SELECT ?1, json_extract(value, '$[0]'), json_extract(value, '$[1]'), json_extract(value, '$[2]'),
  json_extract(value, '$[3]'), json_extract(value, '$[4]'), json_extract(value, '$[5]')
FROM json_each(?2) WHERE EXISTS (SELECT 1 FROM agent_tasks WHERE id = ?1)"""

# --- leases -----------------------------------------------------------------------------------

_FREE: Final = (
    "WHERE id = ?1 AND (lease_expires_at <= ?4 OR lease_holder = ?2) AND quarantine_reason IS NULL"
)
ACQUIRE: Final = f"""
UPDATE agent_tasks SET fence = fence + 1, lease_holder = ?2, lease_expires_at = ?3
{_FREE} RETURNING fence"""
# A claim is the start of a run: what was planned is running from here on.
CLAIM: Final = f"""
UPDATE agent_tasks SET
  fence = fence + 1, lease_holder = ?2, lease_expires_at = ?3, claims = claims + 1,
  version = version + (status = 'planned'),
  status = CASE status WHEN 'planned' THEN 'running' ELSE status END
{_FREE} RETURNING fence"""
# The claim of whatever task request ?5 of session ?1 has.
CLAIM_OF_REQUEST: Final = """
UPDATE agent_tasks SET
  fence = fence + 1, lease_holder = ?2, lease_expires_at = ?3, claims = claims + 1,
  version = version + (status = 'planned'), status = 'running'
WHERE session_id = ?1 AND request_id = ?5 AND status IN ('planned', 'running')
  AND (lease_expires_at <= ?4 OR lease_holder = ?2) AND quarantine_reason IS NULL
RETURNING fence"""
RENEW: Final = """
UPDATE agent_tasks SET lease_expires_at = ?4
WHERE id = ?1 AND lease_holder = ?2 AND fence = ?3 AND lease_expires_at > ?5
RETURNING fence"""
RELEASE: Final = """
UPDATE agent_tasks SET lease_expires_at = 0, lease_holder = NULL
WHERE id = ?1 AND lease_holder = ?2
RETURNING id"""

# --- recovery ---------------------------------------------------------------------------------

SET_ASIDE_POISONED: Final = """
UPDATE agent_tasks SET
  quarantine_reason = 'it was claimed ' || claims || ' times without any progress'
WHERE status IN ('planned', 'running') AND claims >= ?2 AND lease_expires_at <= ?1
  AND quarantine_reason IS NULL"""
SELECT_ABANDONED: Final = """
SELECT t.id FROM agent_tasks t JOIN agent_sessions s ON s.id = t.session_id
WHERE t.status IN ('planned', 'running') AND t.lease_expires_at <= ?1
  AND t.quarantine_reason IS NULL AND s.status = 'active' AND s.expires_at > ?1
ORDER BY t.updated_at, t.id LIMIT ?2"""
QUARANTINE: Final = (
    "UPDATE agent_tasks SET quarantine_reason = ?2 WHERE id = ?1 AND quarantine_reason IS NULL"
)
SELECT_QUARANTINED: Final = (
    "SELECT id, quarantine_reason FROM agent_tasks "
    "WHERE quarantine_reason IS NOT NULL AND (?1 IS NULL OR session_id = ?1) ORDER BY id"
)

# --- tools ------------------------------------------------------------------------------------

TOOL_COLUMNS: Final = (
    "task_id, tool_name, status, retry_count, max_retries, last_result, last_error, "
    "rate_limit_reset_at, cursor, rate_count, rate_window_start, extra"
)
SELECT_TOOL: Final = (
    f"SELECT {TOOL_COLUMNS} FROM agent_tool_states WHERE task_id = ?1 AND tool_name = ?2"
)
PUT_TOOL: Final = f"""
INSERT INTO agent_tool_states ({TOOL_COLUMNS})
VALUES (?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9, ?10, ?11, ?12)
ON CONFLICT (task_id, tool_name) DO UPDATE SET
  status = excluded.status, retry_count = excluded.retry_count,
  max_retries = excluded.max_retries, last_result = excluded.last_result,
  last_error = excluded.last_error, rate_limit_reset_at = excluded.rate_limit_reset_at,
  cursor = excluded.cursor, rate_count = excluded.rate_count,
  rate_window_start = excluded.rate_window_start, extra = excluded.extra"""
# ?2 now, ?3 the window's length (both ms), ?4 calls allowed in it. A window that begins in the
# future was opened before the clock jumped back.
TAKE_RATE: Final = """
INSERT INTO agent_tool_rates (tool_name, window_start, used, expires_at)
VALUES (?1, ?2, 1, ?2 + ?3)
ON CONFLICT (tool_name) DO UPDATE SET
  used = CASE WHEN window_start + ?3 <= ?2 OR window_start > ?2 THEN 1 ELSE used + 1 END,
  window_start = CASE WHEN window_start + ?3 <= ?2 OR window_start > ?2
    THEN ?2 ELSE window_start END,
  expires_at = MAX(?2 + ?3, blocked_until)
WHERE blocked_until <= ?2
  AND (used < ?4 OR window_start + ?3 <= ?2 OR window_start > ?2)
RETURNING used"""
SELECT_RATE: Final = (
    "SELECT window_start, used, blocked_until FROM agent_tool_rates WHERE tool_name = ?1"
)
BLOCK_TOOL: Final = """
INSERT INTO agent_tool_rates (tool_name, window_start, used, blocked_until, expires_at)
VALUES (?1, ?2, 0, ?3, ?3)
ON CONFLICT (tool_name) DO UPDATE SET
  blocked_until = MAX(blocked_until, ?3), expires_at = MAX(expires_at, ?3)"""

# --- sweep ------------------------------------------------------------------------------------

_NOT_WORKED_ON: Final = (
    "NOT EXISTS (SELECT 1 FROM agent_tasks t "
    "WHERE t.session_id = agent_sessions.id AND t.lease_expires_at > ?1)"
)
EXPIRE_IDLE: Final = f"""
UPDATE agent_sessions SET status = 'expired', version = version + 1
WHERE id IN (
  SELECT id FROM agent_sessions
  WHERE status = 'active' AND expires_at > ?1
    AND (last_active_at < ?2 OR strftime('%s', last_active_at) IS NULL)
    AND {_NOT_WORKED_ON}
  LIMIT ?3)
RETURNING id"""
DELETE_ENDED: Final = f"""
DELETE FROM agent_sessions
WHERE id IN (
  SELECT id FROM agent_sessions WHERE expires_at <= ?1 AND {_NOT_WORKED_ON} LIMIT ?2)
RETURNING id"""
DELETE_ENDED_RATES: Final = "DELETE FROM agent_tool_rates WHERE expires_at <= ?1"
