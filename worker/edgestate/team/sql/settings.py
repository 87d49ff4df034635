"""Runtime settings, versioned."""

from __future__ import annotations

from typing import Final

SELECT_REVISION: Final = "SELECT COALESCE(MAX(revision), 0) AS revision FROM team_settings"
SELECT_SETTINGS: Final = "SELECT name, value, version, revision FROM team_settings ORDER BY name"
# ?3: the version that is replaced, 0 for a new one.
PUT_SETTING: Final = """
INSERT INTO team_settings (name, value, version, revision, agent_id, updated_at, trace_id)
SELECT ?1, ?2, 1, (SELECT COALESCE(MAX(revision), 0) + 1 FROM team_settings), ?4, ?5, ?6
WHERE ?3 = 0 OR EXISTS (SELECT 1 FROM team_settings WHERE name = ?1)
ON CONFLICT (name) DO UPDATE SET
  value = excluded.value, version = version + 1, revision = excluded.revision,
  agent_id = excluded.agent_id, updated_at = excluded.updated_at, trace_id = excluded.trace_id
WHERE version = ?3"""
GUARD_SETTING: Final = "INSERT INTO agent_guard (reason) SELECT 'version' WHERE changes() <> 1"
ANSWER_SETTING: Final = """
UPDATE write_requests SET answer = (
  SELECT json_object('version', version, 'revision', revision)
  FROM team_settings WHERE name = ?2)
WHERE request_id = ?1"""
