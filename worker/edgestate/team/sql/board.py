"""The board of tasks: planning, claiming, finishing, reviewing."""

from __future__ import annotations

from typing import Final

TASK_COLUMNS: Final = (
    "task_id, root_id, role, kind, input, status, review, attempt, version, fence, lease_holder, "
    "lease_expires_at, claims, lane, lane_count, ordinal, context_version, agent_id, reason, "
    "created_at, updated_at, trace_id"
)
SELECT_TASK: Final = f"SELECT {TASK_COLUMNS} FROM task_status WHERE task_id = ?1"
SELECT_TASKS: Final = (
    f"SELECT {TASK_COLUMNS} FROM task_status WHERE root_id = ?1 ORDER BY ordinal, task_id"
)
SELECT_RESULT: Final = """
SELECT r.task_id, r.attempt, r.result_summary, r.result, r.agent_id, r.created_at
FROM task_results r WHERE r.task_id = ?1 ORDER BY r.attempt DESC LIMIT 1"""
# Of each completed subtask the result that stands.
SELECT_RESULTS: Final = """
SELECT r.task_id, r.attempt, r.result_summary, r.result, r.agent_id, r.created_at
FROM task_status t JOIN task_results r ON r.task_id = t.task_id AND r.attempt = t.attempt
WHERE t.root_id = ?1 AND t.status = 'completed' ORDER BY t.ordinal, t.task_id"""

# --- planning ---------------------------------------------------------------------------------

# ?1: a JSON array of [id, role, kind, input, review, lane, ordinal]; of the root ?2 they take
# the context and the trace.
PLAN: Final = """
INSERT INTO task_status
  (task_id, root_id, role, kind, input, review, lane, lane_count, ordinal, context_version,
   agent_id, reason, created_at, updated_at, trace_id)
SELECT json_extract(value, '$[0]'), r.task_id, json_extract(value, '$[1]'),
  json_extract(value, '$[2]'), json_extract(value, '$[3]'), json_extract(value, '$[4]'),
  json_extract(value, '$[5]'), ?3, json_extract(value, '$[6]'), r.context_version, ?4,
  'planned', ?5, ?5, r.trace_id
FROM json_each(?1) JOIN task_status r ON r.task_id = ?2 AND r.root_id = ?2
  AND r.status = 'pending'"""
# ?2: how many there must be.
GUARD_PLAN: Final = "INSERT INTO agent_guard (reason) SELECT 'version' WHERE changes() <> ?1"
# ?1: a JSON array of [id, the id that it waits for].
DEPEND: Final = """
INSERT INTO task_dependencies (task_id, depends_on, trace_id)
SELECT json_extract(value, '$[0]'), json_extract(value, '$[1]'), t.trace_id
FROM json_each(?1) JOIN task_status t ON t.task_id = json_extract(value, '$[0]')"""

# --- claiming ---------------------------------------------------------------------------------

_ROLE: Final = "(SELECT role FROM team_agents WHERE agent_id = ?1)"
_IN_CONTEXT: Final = (
    "t.context_version = (SELECT r.context_version FROM task_status r WHERE r.task_id = t.root_id)"
)
# A goal that is not planned yet has nothing to wait for, and is not finished for all that.
_FREE: Final = f"""{_IN_CONTEXT}
    AND (t.task_id <> t.root_id OR EXISTS (
      SELECT 1 FROM task_dependencies d WHERE d.task_id = t.task_id))
    AND NOT EXISTS (
      SELECT 1 FROM task_dependencies d JOIN task_status s ON s.task_id = d.depends_on
      WHERE d.task_id = t.task_id AND NOT (s.status = 'completed' AND s.review <> 'open'))"""
_READY: Final = f"{_FREE} AND t.claims < ?7 AND (?8 IS NULL OR t.root_id = ?8)"
_PENDING: Final = (
    f"SELECT t.task_id FROM task_status t WHERE t.status = 'pending' AND t.role = {_ROLE}"
)
_CLAIMED: Final = """
UPDATE task_status SET
  status = 'running', version = version + 1, fence = fence + 1, lease_holder = ?2,
  lease_expires_at = ?3, claims = claims + 1, claim_request = ?4, agent_id = ?1,
  reason = CASE status WHEN 'running' THEN 'taken over' ELSE 'claimed' END, updated_at = ?5"""
# ?1 the agent, ?2 the holder, ?3 the lease's end, ?4 this claim, ?5 now, ?6 the lane that is
# looked at first, ?7 claims allowed, ?8 a root or NULL. A claim that is sent twice claims once.
CLAIM: Final = f"""{_CLAIMED}
WHERE task_id = COALESCE(
  ({_PENDING} AND t.lane = ?6 AND {_READY} ORDER BY t.ordinal LIMIT 1),
  ({_PENDING} AND {_READY} ORDER BY t.ordinal LIMIT 1),
  (SELECT t.task_id FROM task_status t
   WHERE t.status = 'running' AND t.role = {_ROLE} AND t.lease_expires_at <= ?5 AND {_READY}
   ORDER BY t.ordinal LIMIT 1))
  AND NOT EXISTS (SELECT 1 FROM task_status WHERE claim_request = ?4)"""
SELECT_CLAIM: Final = f"SELECT {TASK_COLUMNS} FROM task_status WHERE claim_request = ?1"
# What an agent may choose from itself, and the claim of what it chose (?6 id, ?7 version).
LOOK: Final = f"""
SELECT t.task_id, t.version FROM task_status t
WHERE t.status = 'pending' AND t.role = {_ROLE} AND (?2 IS NULL OR t.lane = ?2)
  AND t.claims < ?4 AND {_FREE}
ORDER BY t.ordinal LIMIT ?3"""
TAKE: Final = f"""{_CLAIMED}
WHERE version = ?7 AND task_id = (
  SELECT t.task_id FROM task_status t
  WHERE t.task_id = ?6 AND t.status = 'pending' AND t.role = {_ROLE} AND t.claims < ?8
    AND {_FREE})"""
RENEW: Final = """
UPDATE task_status SET lease_expires_at = ?4
WHERE task_id = ?1 AND lease_holder = ?2 AND fence = ?3 AND lease_expires_at > ?5
  AND status = 'running'
RETURNING fence"""
RELEASE: Final = """
UPDATE task_status SET
  status = 'pending', version = version + 1, lease_holder = NULL, lease_expires_at = 0,
  agent_id = ?2, reason = ?3, updated_at = ?4
WHERE task_id = ?1 AND fence = ?5 AND status = 'running' AND agent_id = ?2"""

# --- finishing --------------------------------------------------------------------------------

# Only the holder's result: ?2 the agent, ?3 its fence, ?4 the context that it worked under.
_HELD: Final = """task_id = ?1 AND agent_id = ?2 AND fence = ?3 AND status = 'running'
  AND context_version = ?4
  AND ?4 = (SELECT r.context_version FROM task_status r WHERE r.task_id = task_status.root_id)"""
PUT_RESULT: Final = f"""
INSERT INTO task_results
  (task_id, attempt, result_summary, result, agent_id, fence, created_at, trace_id)
SELECT task_id, attempt, ?5, ?6, ?2, fence, ?7, trace_id FROM task_status WHERE {_HELD}"""
COMPLETE: Final = f"""
UPDATE task_status SET
  status = 'completed', version = version + 1, lease_holder = NULL, lease_expires_at = 0,
  claims = 0, agent_id = ?2, reason = 'done', updated_at = ?5
WHERE {_HELD}"""
FAIL: Final = f"""
UPDATE task_status SET
  status = 'failed', version = version + 1, lease_holder = NULL, lease_expires_at = 0,
  agent_id = ?2, reason = ?5, updated_at = ?6
WHERE {_HELD}"""
GUARD_HELD: Final = """
INSERT INTO agent_guard (reason)
SELECT CASE
  WHEN (SELECT r.context_version FROM task_status t JOIN task_status r ON r.task_id = t.root_id
    WHERE t.task_id = ?1) <> ?3 THEN 'context'
  WHEN (SELECT fence FROM task_status WHERE task_id = ?1) <> ?2 THEN 'fence'
  WHEN EXISTS (SELECT 1 FROM task_status WHERE task_id = ?1 AND status = 'running'
    AND agent_id <> ?4) THEN 'access'
  ELSE 'version' END
WHERE changes() <> 1"""
ANSWER_COMPLETED: Final = """
UPDATE write_requests SET answer = (
  SELECT json_object('task_id', task_id, 'attempt', attempt, 'version', version)
  FROM task_status WHERE task_id = ?2)
WHERE request_id = ?1"""
# ?1 task, ?2 step, ?3 reason, ?4 now.
DEAD_TASK: Final = """
INSERT INTO dead_letters (kind, ref, reason, attempts, created_at, trace_id)
SELECT 'task', task_id, ?2, attempt, ?3, trace_id FROM task_status
WHERE task_id = ?1 AND status = 'failed'"""
# Claimed ?2 times without any result, its holders gone or having given it back: set aside, so that
# the others go on.
SET_ASIDE: Final = """
UPDATE task_status SET
  status = 'failed', version = version + 1, lease_holder = NULL, lease_expires_at = 0,
  agent_id = ?3, reason = 'claimed ' || claims || ' times without a result', updated_at = ?1
WHERE claims >= ?2 AND (status = 'pending' OR (status = 'running' AND lease_expires_at <= ?1))"""
DEAD_ASIDE: Final = """
INSERT INTO dead_letters (kind, ref, reason, attempts, created_at, trace_id)
SELECT 'task', task_id, reason, attempt, ?1, trace_id FROM task_status
WHERE status = 'failed' AND NOT EXISTS (
  SELECT 1 FROM dead_letters d
  WHERE d.kind = 'task' AND d.ref = task_status.task_id AND d.requeued_at IS NULL)
RETURNING ref"""

# --- reviewing --------------------------------------------------------------------------------

SELECT_REVIEWABLE: Final = f"""
SELECT {TASK_COLUMNS} FROM task_status
WHERE status = 'completed' AND review = 'open' AND (?1 IS NULL OR root_id = ?1)
ORDER BY updated_at, ordinal LIMIT ?2"""
# ?2 version, ?3 agent, ?4 reason, ?5 now.
ACCEPT: Final = """
UPDATE task_status SET
  review = 'accepted', version = version + 1, agent_id = ?3, reason = ?4, updated_at = ?5
WHERE task_id = ?1 AND version = ?2 AND status = 'completed' AND review = 'open'"""
REJECT: Final = """
UPDATE task_status SET
  status = 'pending', attempt = attempt + 1, claims = 0, version = version + 1, agent_id = ?3,
  reason = ?4, updated_at = ?5
WHERE task_id = ?1 AND version = ?2 AND status = 'completed' AND review = 'open'"""
REJECT_FOR_GOOD: Final = """
UPDATE task_status SET
  status = 'failed', version = version + 1, agent_id = ?3, reason = ?4, updated_at = ?5
WHERE task_id = ?1 AND version = ?2 AND status = 'completed' AND review = 'open'"""
GUARD_VERSION: Final = "INSERT INTO agent_guard (reason) SELECT 'version' WHERE changes() <> 1"
# Under the newest context again: what is not finished begins anew, its old holders are fenced off.
REBASE: Final = """
UPDATE task_status SET
  context_version = (SELECT r.context_version FROM task_status r WHERE r.task_id = ?1),
  status = 'pending', version = version + 1, fence = fence + 1, claims = 0, lease_holder = NULL,
  lease_expires_at = 0, agent_id = ?2, reason = 'context changed', updated_at = ?3
WHERE root_id = ?1 AND task_id <> ?1 AND status IN ('pending', 'running')
  AND context_version <> (SELECT r.context_version FROM task_status r WHERE r.task_id = ?1)"""
REQUEUE_TASK: Final = """
UPDATE task_status SET
  status = 'pending', attempt = attempt + 1, claims = 0, version = version + 1, agent_id = ?2,
  reason = 'requeued', updated_at = ?3
WHERE task_id = ?1 AND status = 'failed'"""
PROGRESS: Final = """
SELECT status, COUNT(*) AS tasks, SUM(review = 'open') AS unreviewed FROM task_status
WHERE root_id = ?1 AND task_id <> ?1 GROUP BY status"""
