"""Contexts and snapshots."""

from __future__ import annotations

from typing import Final

CREATE_ROOT: Final = """
INSERT INTO task_status
  (task_id, root_id, role, kind, input, lane, lane_count, ordinal, context_version, agent_id,
   reason, created_at, updated_at, trace_id)
VALUES (?1, ?1, 'planner', ?2, ?3, ?4, ?5, 0, 1, ?6, 'begun', ?7, ?7, ?8)"""
# ?1 task, ?2 version, ?3 its name, ?4 payload, ?5 checksum, ?6 frozen, ?7 now.
INSERT_CONTEXT: Final = """
INSERT INTO contexts
  (task_id, version, context_id, parent_id, payload, sha256, frozen, created_at, trace_id)
SELECT task_id, ?2, ?3,
  (SELECT context_id FROM contexts c WHERE c.task_id = ?1 AND c.version = ?2 - 1),
  ?4, ?5, ?6, ?7, trace_id
FROM task_status WHERE task_id = ?1 AND root_id = ?1"""
UPSERT_DRAFT: Final = f"""{INSERT_CONTEXT} AND context_version = ?2 - 1
ON CONFLICT (task_id, version) DO UPDATE SET payload = excluded.payload, sha256 = excluded.sha256
WHERE frozen = 0"""
FREEZE: Final = """
UPDATE contexts SET frozen = 1, created_at = ?3
WHERE task_id = ?1 AND version = ?2 AND frozen = 0"""
GUARD_FREEZE: Final = "INSERT INTO agent_guard (reason) SELECT 'version' WHERE changes() <> 1"
MOVE_POINTER: Final = """
UPDATE task_status SET
  context_version = ?2, version = version + 1, agent_id = ?3, reason = 'context frozen',
  updated_at = ?4
WHERE task_id = ?1 AND root_id = ?1 AND context_version = ?2 - 1 AND status <> 'completed'"""
GUARD_POINTER: Final = "INSERT INTO agent_guard (reason) SELECT 'context' WHERE changes() <> 1"
SELECT_CONTEXT: Final = (
    "SELECT task_id, version, context_id, parent_id, payload, sha256, frozen "
    "FROM contexts WHERE task_id = ?1 AND version = ?2"
)
SELECT_CONTEXT_BY_ID: Final = """
SELECT c.task_id, c.version, c.context_id, c.parent_id, c.payload, c.sha256, c.frozen,
  t.context_version
FROM contexts c JOIN task_status t ON t.task_id = c.task_id WHERE c.context_id = ?1"""

SELECT_PROGRESS: Final = """
SELECT
  COALESCE((SELECT MAX(version) FROM task_snapshots WHERE task_id = ?1), 0) AS version,
  (SELECT json_group_object(task_id, attempt) FROM task_status
   WHERE root_id = ?1 AND status = 'completed') AS completed"""
# Only the next version of what was looked at: who finished meanwhile comes first.
TAKE_SNAPSHOT: Final = """
INSERT INTO task_snapshots
  (task_id, version, schema_number, sha256, payload, subtask_id, created_at, trace_id)
SELECT task_id, ?2, ?3, ?4, ?5, ?6, ?7, trace_id FROM task_status
WHERE task_id = ?1
  AND (SELECT COALESCE(MAX(version), 0) FROM task_snapshots WHERE task_id = ?1) = ?2 - 1"""
GUARD_SNAPSHOT: Final = "INSERT INTO agent_guard (reason) SELECT 'snapshot' WHERE changes() <> 1"
FORGET_SNAPSHOTS: Final = "DELETE FROM task_snapshots WHERE task_id = ?1 AND version <= ?2"
SELECT_SNAPSHOTS: Final = (
    "SELECT version, schema_number, sha256, payload FROM task_snapshots "
    "WHERE task_id = ?1 AND version < ?2 ORDER BY version DESC LIMIT 1"
)
# Completed after the snapshot ?2 (its JSON): to be done again, the goal itself too. ?3 agent,
# ?4 reason, ?5 now.
ROLL_BACK: Final = """
UPDATE task_status SET
  status = 'pending', attempt = attempt + 1, claims = 0, version = version + 1, agent_id = ?3,
  review = CASE review WHEN 'accepted' THEN 'open' ELSE review END, reason = ?4, updated_at = ?5
WHERE root_id = ?1 AND status = 'completed' AND NOT EXISTS (
  SELECT 1 FROM json_each(?2) kept
  WHERE kept.key = task_status.task_id AND kept.value = task_status.attempt)"""
