-- Makes the tables of 0001 safe under crashes and races: versions, fences, leases, lifetimes,
-- statuses that exist, steps that exist once. Rows that are there already are kept.

-- One row is never in it: a write that its CHECK refuses undoes the whole batch, and the name of
-- the constraint in the error text says why.
CREATE TABLE agent_guard (
  reason TEXT NOT NULL
    CONSTRAINT agent_version_conflict CHECK (reason <> 'version')
    CONSTRAINT agent_fence_lost CHECK (reason <> 'fence')
    CONSTRAINT agent_context_conflict CHECK (reason <> 'context')
);

CREATE TABLE agent_sessions_2 (
  id TEXT PRIMARY KEY CHECK (id <> ''),
  user_id TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'active'
    CONSTRAINT agent_session_status
    CHECK (status IN ('active', 'paused', 'completed', 'expired')),
  message_count INTEGER NOT NULL DEFAULT 0 CHECK (message_count >= 0),
  created_at TEXT NOT NULL,
  last_active_at TEXT NOT NULL,
  version INTEGER NOT NULL DEFAULT 1 CHECK (version >= 1),
  schema_number INTEGER NOT NULL DEFAULT 2,
  expires_at INTEGER NOT NULL DEFAULT ((CAST(strftime('%s', 'now') AS INTEGER) + 86400) * 1000)
);

CREATE TABLE agent_tasks_2 (
  id TEXT PRIMARY KEY CHECK (id <> ''),
  session_id TEXT NOT NULL REFERENCES agent_sessions_2(id) ON DELETE CASCADE,
  goal TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'planned'
    CONSTRAINT agent_task_status
    CHECK (status IN ('planned', 'running', 'waiting_tool', 'completed', 'failed')),
  current_step INTEGER NOT NULL DEFAULT 0 CHECK (current_step >= 0),
  total_steps INTEGER NOT NULL DEFAULT 0 CHECK (total_steps >= 0),
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL,
  version INTEGER NOT NULL DEFAULT 1 CHECK (version >= 1),
  fence INTEGER NOT NULL DEFAULT 0 CHECK (fence >= 0),
  lease_holder TEXT,
  lease_expires_at INTEGER NOT NULL DEFAULT 0,
  claims INTEGER NOT NULL DEFAULT 0 CHECK (claims >= 0),
  request_id TEXT,
  iteration INTEGER NOT NULL DEFAULT 0 CHECK (iteration >= 0),
  prompt TEXT NOT NULL DEFAULT '[]',
  counters TEXT NOT NULL DEFAULT '{}',
  intermediate TEXT NOT NULL DEFAULT '{}',
  outcome TEXT,
  result TEXT,
  error TEXT,
  error_code TEXT,
  quarantine_reason TEXT,
  schema_number INTEGER NOT NULL DEFAULT 2,
  UNIQUE (session_id, request_id)
);

CREATE TABLE agent_task_steps_2 (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id TEXT NOT NULL REFERENCES agent_tasks_2(id) ON DELETE CASCADE,
  step_index INTEGER NOT NULL CHECK (step_index >= 0),
  action TEXT NOT NULL,
  input TEXT,
  output TEXT,
  status TEXT NOT NULL DEFAULT 'pending'
    CONSTRAINT agent_step_status
    CHECK (status IN ('pending', 'running', 'success', 'failed')),
  error TEXT,
  started_at TEXT,
  completed_at TEXT,
  effect TEXT NOT NULL DEFAULT 'non_idempotent'
    CONSTRAINT agent_step_effect
    CHECK (effect IN ('read', 'idempotent', 'non_idempotent')),
  attempt INTEGER NOT NULL DEFAULT 0 CHECK (attempt >= 0),
  idempotency_key TEXT,
  intent_at TEXT,
  fence INTEGER NOT NULL DEFAULT 0 CHECK (fence >= 0),
  error_code TEXT,
  resolution TEXT CHECK (resolution IS NULL OR resolution IN ('retry', 'skip', 'done')),
  resolved_attempt INTEGER NOT NULL DEFAULT 0,
  messages TEXT NOT NULL DEFAULT '[]',
  step_group TEXT,
  UNIQUE (task_id, step_index)
);

CREATE TABLE agent_tool_states_2 (
  task_id TEXT NOT NULL REFERENCES agent_tasks_2(id) ON DELETE CASCADE,
  tool_name TEXT NOT NULL CHECK (tool_name <> ''),
  status TEXT NOT NULL DEFAULT 'idle'
    CONSTRAINT agent_tool_status
    CHECK (status IN ('idle', 'calling', 'success', 'retrying', 'failed')),
  retry_count INTEGER NOT NULL DEFAULT 0 CHECK (retry_count >= 0),
  max_retries INTEGER NOT NULL DEFAULT 3 CHECK (max_retries >= 0),
  last_result TEXT,
  last_error TEXT,
  rate_limit_reset_at TEXT,
  cursor TEXT,
  rate_count INTEGER NOT NULL DEFAULT 0 CHECK (rate_count >= 0),
  rate_window_start TEXT,
  extra TEXT NOT NULL DEFAULT '{}',
  PRIMARY KEY (task_id, tool_name)
);

-- One window per tool, shared by all workers and tasks. Times in ms.
CREATE TABLE agent_tool_rates (
  tool_name TEXT PRIMARY KEY CHECK (tool_name <> ''),
  window_start INTEGER NOT NULL,
  used INTEGER NOT NULL CHECK (used >= 0),
  blocked_until INTEGER NOT NULL DEFAULT 0,
  expires_at INTEGER NOT NULL
);

-- A session whose last activity cannot be read as a date is over.
INSERT INTO agent_sessions_2
  (id, user_id, status, message_count, created_at, last_active_at, expires_at)
SELECT id, user_id,
  CASE WHEN status IN ('active', 'paused', 'completed', 'expired') THEN status ELSE 'expired' END,
  MAX(message_count, 0), created_at, last_active_at,
  COALESCE((CAST(strftime('%s', last_active_at) AS INTEGER) + 86400) * 1000, 0)
FROM agent_sessions WHERE id <> '';

-- A status that does not exist sets the task aside instead of being guessed.
INSERT INTO agent_tasks_2
  (id, session_id, goal, status, current_step, total_steps, created_at, updated_at,
   quarantine_reason)
SELECT id, session_id, goal,
  CASE WHEN status IN ('planned', 'running', 'waiting_tool', 'completed', 'failed')
    THEN status ELSE 'failed' END,
  MAX(current_step, 0), MAX(total_steps, 0), created_at, updated_at,
  CASE WHEN status IN ('planned', 'running', 'waiting_tool', 'completed', 'failed')
    THEN NULL ELSE 'its status was ' || quote(status) END
FROM agent_tasks
WHERE id <> '' AND session_id <> '';

-- Each save of 0001 added the steps again: of equal ones the furthest stays, then the newest.
INSERT INTO agent_task_steps_2
  (task_id, step_index, action, input, output, status, error, started_at, completed_at, attempt)
SELECT task_id, step_index, action, input, output,
  CASE WHEN status IN ('pending', 'running', 'success', 'failed') THEN status ELSE 'failed' END,
  CASE WHEN status IN ('pending', 'running', 'success', 'failed') THEN error
    ELSE 'its status was ' || quote(status) END,
  started_at, completed_at,
  CASE status WHEN 'pending' THEN 0 ELSE 1 END
FROM (
  SELECT *, ROW_NUMBER() OVER (
    PARTITION BY task_id, step_index
    ORDER BY CASE status
      WHEN 'success' THEN 0 WHEN 'failed' THEN 1 WHEN 'running' THEN 2 ELSE 3 END, id DESC
  ) AS place
  FROM agent_task_steps WHERE step_index >= 0 AND task_id <> ''
)
WHERE place = 1 ORDER BY task_id, step_index;

-- The pointer of 0001 was never advanced.
UPDATE agent_tasks_2 SET
  total_steps = MAX(total_steps,
    (SELECT COUNT(*) FROM agent_task_steps_2 s WHERE s.task_id = agent_tasks_2.id)),
  current_step = COALESCE(
    (SELECT MIN(step_index) FROM agent_task_steps_2 s
      WHERE s.task_id = agent_tasks_2.id AND s.status <> 'success'),
    (SELECT MAX(step_index) + 1 FROM agent_task_steps_2 s WHERE s.task_id = agent_tasks_2.id),
    current_step);

INSERT INTO agent_tool_states_2
  (task_id, tool_name, status, retry_count, max_retries, last_result, last_error,
   rate_limit_reset_at)
SELECT task_id, tool_name,
  CASE WHEN status IN ('idle', 'calling', 'success', 'retrying', 'failed')
    THEN status ELSE 'failed' END,
  MAX(retry_count, 0), MAX(max_retries, 0), last_result, last_error, rate_limit_reset_at
FROM agent_tool_states WHERE tool_name <> '' AND task_id <> '';

DROP TABLE agent_tool_states;
DROP TABLE agent_task_steps;
DROP TABLE agent_tasks;
DROP TABLE agent_sessions;
ALTER TABLE agent_sessions_2 RENAME TO agent_sessions;
ALTER TABLE agent_tasks_2 RENAME TO agent_tasks;
ALTER TABLE agent_task_steps_2 RENAME TO agent_task_steps;
ALTER TABLE agent_tool_states_2 RENAME TO agent_tool_states;

CREATE INDEX agent_sessions_by_user ON agent_sessions (user_id, created_at);
CREATE INDEX agent_sessions_by_expiry ON agent_sessions (expires_at);
CREATE INDEX agent_sessions_by_activity ON agent_sessions (status, last_active_at);
CREATE INDEX agent_tasks_by_session ON agent_tasks (session_id, status);
CREATE INDEX agent_tasks_by_status ON agent_tasks (status, lease_expires_at);

CREATE TRIGGER agent_session_moves BEFORE UPDATE OF status ON agent_sessions
WHEN OLD.status <> NEW.status AND (OLD.status || ' ' || NEW.status) NOT IN (
  'active paused', 'active completed', 'active expired',
  'paused active', 'paused completed', 'paused expired')
BEGIN
  SELECT RAISE(ABORT, 'agent_transition_refused');
END;

CREATE TRIGGER agent_task_moves BEFORE UPDATE OF status ON agent_tasks
WHEN OLD.status <> NEW.status AND (OLD.status || ' ' || NEW.status) NOT IN (
  'planned running', 'planned waiting_tool', 'planned completed', 'planned failed',
  'running waiting_tool', 'running completed', 'running failed',
  'waiting_tool running', 'waiting_tool completed', 'waiting_tool failed', 'failed running')
BEGIN
  SELECT RAISE(ABORT, 'agent_transition_refused');
END;

CREATE TRIGGER agent_step_moves BEFORE UPDATE OF status ON agent_task_steps
WHEN OLD.status = 'success' AND NEW.status <> 'success'
BEGIN
  SELECT RAISE(ABORT, 'agent_transition_refused');
END;

CREATE TRIGGER agent_fence_grows BEFORE UPDATE OF fence, version ON agent_tasks
WHEN NEW.fence < OLD.fence OR NEW.version < OLD.version
BEGIN
  SELECT RAISE(ABORT, 'agent_transition_refused');
END;
