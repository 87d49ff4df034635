-- Shared state of several agents: who they are, what they tell each other, what they know, what
-- is to be done and who does it. Times are ms since the epoch; every row has its trace.

-- One row is never in it, whatever the reason says: see 0002.
DROP TABLE agent_guard;
CREATE TABLE agent_guard (
  reason TEXT NOT NULL
    CONSTRAINT agent_version_conflict CHECK (reason <> 'version')
    CONSTRAINT agent_fence_lost CHECK (reason <> 'fence')
    CONSTRAINT agent_context_conflict CHECK (reason <> 'context')
    CONSTRAINT agent_access_denied CHECK (reason <> 'access')
    CONSTRAINT agent_request_lost CHECK (reason <> 'request')
    CONSTRAINT agent_already_consumed CHECK (reason <> 'consumed')
    CONSTRAINT agent_snapshot_conflict CHECK (reason <> 'snapshot')
    CONSTRAINT agent_guard_unknown CHECK (reason IN (
      'version', 'fence', 'context', 'access', 'request', 'consumed', 'snapshot'))
);

-- Who an agent is, said once by the server. One planner, one critic, any number of workers.
CREATE TABLE team_agents (
  agent_id TEXT PRIMARY KEY CHECK (agent_id <> '' AND agent_id <> '*'),
  role TEXT NOT NULL
    CONSTRAINT team_role CHECK (role IN ('planner', 'worker', 'critic')),
  enrolled_at INTEGER NOT NULL,
  trace_id TEXT NOT NULL
);
CREATE UNIQUE INDEX team_one_of_each ON team_agents (role) WHERE role <> 'worker';

-- How an agent is: it informs, and decides nothing.
CREATE TABLE agent_status (
  agent_id TEXT PRIMARY KEY REFERENCES team_agents(agent_id),
  incarnation TEXT NOT NULL,
  task_id TEXT,
  context_id TEXT,
  load REAL NOT NULL DEFAULT 0,
  heartbeat_at INTEGER NOT NULL,
  last_active_at INTEGER NOT NULL,
  trace_id TEXT NOT NULL
);

-- The board. A root task is a goal; its context_version points at the newest frozen context.
CREATE TABLE task_status (
  task_id TEXT PRIMARY KEY CHECK (task_id <> ''),
  root_id TEXT NOT NULL REFERENCES task_status(task_id),
  role TEXT NOT NULL DEFAULT 'worker'
    CONSTRAINT team_task_role CHECK (role IN ('planner', 'worker', 'critic')),
  kind TEXT NOT NULL,
  input TEXT NOT NULL DEFAULT 'null',
  status TEXT NOT NULL DEFAULT 'pending'
    CONSTRAINT team_task_status
    CHECK (status IN ('pending', 'running', 'completed', 'failed')),
  review TEXT NOT NULL DEFAULT 'none'
    CONSTRAINT team_task_review CHECK (review IN ('none', 'open', 'accepted')),
  attempt INTEGER NOT NULL DEFAULT 1 CHECK (attempt >= 1),
  version INTEGER NOT NULL DEFAULT 1 CHECK (version >= 1),
  fence INTEGER NOT NULL DEFAULT 0 CHECK (fence >= 0),
  lease_holder TEXT,
  lease_expires_at INTEGER NOT NULL DEFAULT 0,
  claims INTEGER NOT NULL DEFAULT 0 CHECK (claims >= 0),
  claim_request TEXT UNIQUE,
  lane INTEGER NOT NULL CHECK (lane >= 0 AND lane < lane_count),
  lane_count INTEGER NOT NULL,
  ordinal INTEGER NOT NULL,
  context_version INTEGER NOT NULL CHECK (context_version >= 1),
  agent_id TEXT NOT NULL REFERENCES team_agents(agent_id),
  reason TEXT NOT NULL DEFAULT '',
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  trace_id TEXT NOT NULL
);
CREATE INDEX task_status_by_lane ON task_status (status, role, lane, ordinal);
CREATE INDEX task_status_by_order ON task_status (status, role, ordinal);
CREATE INDEX task_status_by_root ON task_status (root_id, status);

CREATE TABLE task_dependencies (
  task_id TEXT NOT NULL REFERENCES task_status(task_id),
  depends_on TEXT NOT NULL REFERENCES task_status(task_id),
  PRIMARY KEY (task_id, depends_on),
  CHECK (task_id <> depends_on)
) WITHOUT ROWID;

CREATE TABLE task_results (
  task_id TEXT NOT NULL REFERENCES task_status(task_id),
  attempt INTEGER NOT NULL,
  result_summary TEXT NOT NULL,
  result TEXT NOT NULL,
  agent_id TEXT NOT NULL REFERENCES team_agents(agent_id),
  fence INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  UNIQUE (task_id, attempt)
);

CREATE TABLE task_status_history (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id TEXT NOT NULL,
  version INTEGER NOT NULL,
  old_status TEXT,
  status TEXT NOT NULL,
  review TEXT NOT NULL,
  attempt INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  lease_holder TEXT,
  context_version INTEGER NOT NULL,
  agent_id TEXT NOT NULL,
  reason TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  UNIQUE (task_id, version)
);

CREATE TABLE task_snapshots (
  task_id TEXT NOT NULL REFERENCES task_status(task_id),
  version INTEGER NOT NULL CHECK (version >= 1),
  schema_number INTEGER NOT NULL,
  sha256 TEXT NOT NULL,
  payload TEXT NOT NULL,
  subtask_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  PRIMARY KEY (task_id, version)
);

-- frozen = 0: the planner's draft of the next one.
CREATE TABLE contexts (
  task_id TEXT NOT NULL REFERENCES task_status(task_id),
  version INTEGER NOT NULL CHECK (version >= 1),
  context_id TEXT NOT NULL UNIQUE,
  parent_id TEXT,
  payload TEXT NOT NULL,
  sha256 TEXT NOT NULL,
  frozen INTEGER NOT NULL CHECK (frozen IN (0, 1)),
  created_at INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  PRIMARY KEY (task_id, version)
);

CREATE TABLE agent_messages (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  id TEXT NOT NULL UNIQUE CHECK (id <> ''),
  source_agent_id TEXT NOT NULL REFERENCES team_agents(agent_id),
  target_agent_id TEXT NOT NULL,
  message_type TEXT NOT NULL CHECK (message_type <> ''),
  content TEXT NOT NULL,
  timestamp INTEGER NOT NULL,
  correlation_id TEXT NOT NULL CHECK (correlation_id <> ''),
  context_id TEXT,
  corrects_id TEXT REFERENCES agent_messages(id),
  request_id TEXT NOT NULL UNIQUE,
  trace_id TEXT NOT NULL
);
CREATE INDEX agent_messages_by_target ON agent_messages (target_agent_id, seq);
CREATE INDEX agent_messages_by_correlation ON agent_messages (correlation_id, seq);

CREATE TABLE message_deliveries (
  seq INTEGER NOT NULL REFERENCES agent_messages(seq),
  agent_id TEXT NOT NULL REFERENCES team_agents(agent_id),
  delivered_at INTEGER NOT NULL,
  consumed_at INTEGER,
  trace_id TEXT NOT NULL,
  PRIMARY KEY (seq, agent_id)
) WITHOUT ROWID;
CREATE INDEX message_deliveries_by_agent ON message_deliveries (agent_id, consumed_at, seq);

-- Long-term: of the project. Short-term: of one task.
CREATE TABLE shared_knowledge (
  scope TEXT NOT NULL DEFAULT 'project' CHECK (scope = 'project'),
  key TEXT NOT NULL CHECK (key <> ''),
  kind TEXT NOT NULL
    CONSTRAINT team_knowledge_kind CHECK (kind IN
      ('norm', 'glossary', 'known_error', 'preference', 'decision', 'lesson', 'domain')),
  value TEXT NOT NULL,
  visibility TEXT NOT NULL
    CONSTRAINT team_visibility CHECK (visibility IN ('public', 'private', 'restricted')),
  acl TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(acl)),
  version INTEGER NOT NULL DEFAULT 1 CHECK (version >= 1),
  owner_id TEXT NOT NULL REFERENCES team_agents(agent_id),
  agent_id TEXT NOT NULL REFERENCES team_agents(agent_id),
  updated_at INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  PRIMARY KEY (scope, key)
);

CREATE TABLE working_memory (
  scope TEXT NOT NULL REFERENCES task_status(task_id),
  key TEXT NOT NULL CHECK (key <> ''),
  kind TEXT NOT NULL,
  value TEXT NOT NULL,
  visibility TEXT NOT NULL
    CONSTRAINT team_visibility CHECK (visibility IN ('public', 'private', 'restricted')),
  acl TEXT NOT NULL DEFAULT '[]' CHECK (json_valid(acl)),
  version INTEGER NOT NULL DEFAULT 1 CHECK (version >= 1),
  owner_id TEXT NOT NULL REFERENCES team_agents(agent_id),
  agent_id TEXT NOT NULL REFERENCES team_agents(agent_id),
  updated_at INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  PRIMARY KEY (scope, key)
);

-- Why something was decided, and on which context.
CREATE TABLE decision_log (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id TEXT NOT NULL REFERENCES task_status(task_id),
  agent_id TEXT NOT NULL REFERENCES team_agents(agent_id),
  decision TEXT NOT NULL,
  reason TEXT NOT NULL CHECK (reason <> ''),
  context_version INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  trace_id TEXT NOT NULL
);
CREATE INDEX decision_log_by_task ON decision_log (task_id, seq);

-- revision grows over all settings, so that one number says how new a reader's copy is.
CREATE TABLE team_settings (
  name TEXT PRIMARY KEY CHECK (name <> ''),
  value TEXT NOT NULL,
  version INTEGER NOT NULL DEFAULT 1 CHECK (version >= 1),
  revision INTEGER NOT NULL UNIQUE,
  agent_id TEXT NOT NULL REFERENCES team_agents(agent_id),
  updated_at INTEGER NOT NULL,
  trace_id TEXT NOT NULL
);

-- Every write, by its request: claimed by insert, its answer kept.
CREATE TABLE write_requests (
  request_id TEXT PRIMARY KEY CHECK (request_id <> ''),
  agent_id TEXT NOT NULL REFERENCES team_agents(agent_id),
  operation TEXT NOT NULL,
  fingerprint TEXT NOT NULL,
  status TEXT NOT NULL
    CONSTRAINT team_request_status CHECK (status IN ('in_progress', 'done')),
  fence INTEGER NOT NULL DEFAULT 1,
  expires_at INTEGER NOT NULL,
  answer TEXT,
  created_at INTEGER NOT NULL,
  trace_id TEXT NOT NULL,
  CHECK (status = 'in_progress' OR answer IS NOT NULL)
);
CREATE INDEX write_requests_by_age ON write_requests (status, created_at);

CREATE TABLE access_denials (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  agent_id TEXT NOT NULL,
  operation TEXT NOT NULL,
  object TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  trace_id TEXT NOT NULL
);

CREATE TABLE team_counters (
  name TEXT PRIMARY KEY,
  value INTEGER NOT NULL DEFAULT 0
) WITHOUT ROWID;

CREATE TABLE sagas (
  saga_id TEXT PRIMARY KEY CHECK (saga_id <> ''),
  name TEXT NOT NULL,
  input TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'running'
    CONSTRAINT team_saga_status
    CHECK (status IN ('running', 'completed', 'compensating', 'compensated', 'dead')),
  failure TEXT,
  version INTEGER NOT NULL DEFAULT 1 CHECK (version >= 1),
  fence INTEGER NOT NULL DEFAULT 0 CHECK (fence >= 0),
  lease_holder TEXT,
  lease_expires_at INTEGER NOT NULL DEFAULT 0,
  due_at INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  trace_id TEXT NOT NULL
);
CREATE INDEX sagas_by_due ON sagas (status, due_at);

CREATE TABLE saga_steps (
  saga_id TEXT NOT NULL REFERENCES sagas(saga_id),
  seq INTEGER NOT NULL CHECK (seq >= 0),
  name TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'pending'
    CONSTRAINT team_saga_step_status
    CHECK (status IN ('pending', 'running', 'succeeded', 'failed',
      'compensating', 'compensated', 'skipped', 'dead')),
  compensation TEXT,
  condition TEXT,
  forward TEXT NOT NULL DEFAULT 'none'
    CONSTRAINT team_saga_forward CHECK (forward IN ('none', 'unknown', 'done', 'failed')),
  attempts INTEGER NOT NULL DEFAULT 0,
  compensation_attempts INTEGER NOT NULL DEFAULT 0,
  result TEXT,
  error TEXT,
  trace_id TEXT NOT NULL,
  PRIMARY KEY (saga_id, seq)
) WITHOUT ROWID;

CREATE TABLE dead_letters (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  kind TEXT NOT NULL CONSTRAINT team_dead_kind CHECK (kind IN ('task', 'saga')),
  ref TEXT NOT NULL,
  step INTEGER NOT NULL DEFAULT -1,
  reason TEXT NOT NULL CHECK (reason <> ''),
  attempts INTEGER NOT NULL,
  created_at INTEGER NOT NULL,
  requeued_at INTEGER,
  trace_id TEXT NOT NULL
);
CREATE UNIQUE INDEX dead_letters_open ON dead_letters (kind, ref, step) WHERE requeued_at IS NULL;

-- Of the example that ships with the library: what was collected, and what must be again.
CREATE TABLE collections (
  saga_id TEXT PRIMARY KEY REFERENCES sagas(saga_id),
  required_recollect INTEGER NOT NULL DEFAULT 0,
  reason TEXT NOT NULL DEFAULT '',
  trace_id TEXT NOT NULL
);
CREATE TABLE raw_data (
  saga_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  record TEXT NOT NULL,
  trace_id TEXT NOT NULL,
  PRIMARY KEY (saga_id, position)
);
CREATE TABLE stored_data (
  saga_id TEXT NOT NULL,
  position INTEGER NOT NULL,
  record TEXT NOT NULL,
  trace_id TEXT NOT NULL,
  PRIMARY KEY (saga_id, position)
);
