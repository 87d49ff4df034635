"""Sagas, their steps, and dead letters."""

from __future__ import annotations

from typing import Final

CREATE_SAGA: Final = """
INSERT INTO sagas (saga_id, name, input, due_at, created_at, updated_at, trace_id)
VALUES (?1, ?2, ?3, ?4, ?4, ?4, ?5)"""
# ?2: a JSON array of [name, compensation, condition].
CREATE_STEPS: Final = """
INSERT INTO saga_steps (saga_id, seq, name, compensation, condition, trace_id)
SELECT ?1, key, json_extract(value, '$[0]'), json_extract(value, '$[1]'),
  json_extract(value, '$[2]'), ?3
FROM json_each(?2)"""
# ?2 holder, ?3 the lease's end, ?4 now. What waits for its time cannot be had before.
LEASE: Final = """
UPDATE sagas SET fence = fence + 1, lease_holder = ?2, lease_expires_at = ?3
WHERE saga_id = ?1 AND status IN ('running', 'compensating') AND due_at <= ?4
  AND (lease_expires_at <= ?4 OR lease_holder = ?2)
RETURNING fence"""
SELECT_SAGA: Final = (
    "SELECT saga_id, name, input, status, failure, version, fence, due_at, trace_id "
    "FROM sagas WHERE saga_id = ?1"
)
SELECT_STEPS: Final = (
    "SELECT seq, name, status, compensation, condition, forward, attempts, "
    "compensation_attempts, result, error FROM saga_steps WHERE saga_id = ?1 ORDER BY seq"
)
SELECT_DUE: Final = """
SELECT saga_id FROM sagas
WHERE status IN ('running', 'compensating') AND due_at <= ?1 AND lease_expires_at <= ?1
ORDER BY due_at, saga_id LIMIT ?2"""
# ?2 fence, ?3 version, ?4 status, ?5 failure, ?6 due, ?7 now, ?8 the lease's end.
MOVE_SAGA: Final = """
UPDATE sagas SET
  version = version + 1, status = ?4, failure = ?5, due_at = ?6, updated_at = ?7,
  lease_expires_at = ?8
WHERE saga_id = ?1 AND fence = ?2 AND version = ?3"""
GUARD_SAGA: Final = """
INSERT INTO agent_guard (reason)
SELECT CASE WHEN (SELECT fence FROM sagas WHERE saga_id = ?1) <> ?2
  THEN 'fence' ELSE 'version' END
WHERE changes() <> 1"""
MOVE_STEP: Final = """
UPDATE saga_steps SET
  status = ?3, forward = ?4, attempts = ?5, compensation_attempts = ?6, result = ?7, error = ?8
WHERE saga_id = ?1 AND seq = ?2"""

DEAD_SAGA: Final = """
INSERT INTO dead_letters (kind, ref, step, reason, attempts, created_at, trace_id)
SELECT 'saga', saga_id, ?2, ?3, ?4, ?5, trace_id FROM sagas WHERE saga_id = ?1"""
SELECT_DEAD: Final = (
    "SELECT id, kind, ref, step, reason, attempts, created_at, requeued_at, trace_id "
    "FROM dead_letters WHERE requeued_at IS NULL OR ?1 ORDER BY id"
)
REQUEUE: Final = "UPDATE dead_letters SET requeued_at = ?2 WHERE id = ?1 AND requeued_at IS NULL"
GUARD_REQUEUE: Final = "INSERT INTO agent_guard (reason) SELECT 'version' WHERE changes() <> 1"
REQUEUE_SAGA: Final = """
UPDATE sagas SET status = 'compensating', version = version + 1, due_at = ?2, updated_at = ?2,
  lease_expires_at = 0
WHERE saga_id = ?1 AND status = 'dead'"""
REQUEUE_STEP: Final = """
UPDATE saga_steps SET status = 'failed', compensation_attempts = 0
WHERE saga_id = ?1 AND seq = ?2 AND status = 'dead'"""

# --- the example: collect, process, store -----------------------------------------------------

COLLECT: Final = """
INSERT INTO raw_data (saga_id, position, record, trace_id)
SELECT ?1, key, json_quote(value), ?3 FROM json_each(?2) WHERE TRUE
ON CONFLICT (saga_id, position) DO UPDATE SET record = excluded.record"""
BEGIN_COLLECTION: Final = """
INSERT INTO collections (saga_id, trace_id) VALUES (?1, ?2) ON CONFLICT (saga_id) DO NOTHING"""
SELECT_RAW: Final = "SELECT record FROM raw_data WHERE saga_id = ?1 ORDER BY position"
DELETE_RAW: Final = "DELETE FROM raw_data WHERE saga_id = ?1"
RECOLLECT: Final = """
UPDATE collections SET required_recollect = 1, reason = ?2 WHERE saga_id = ?1"""
STORE: Final = """
INSERT INTO stored_data (saga_id, position, record, trace_id)
SELECT saga_id, position, record, trace_id FROM raw_data WHERE saga_id = ?1
ON CONFLICT (saga_id, position) DO NOTHING"""
UNSTORE: Final = "DELETE FROM stored_data WHERE saga_id = ?1"
