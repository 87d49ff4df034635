-- migrations/0001_create_agent_state.sql
CREATE TABLE agent_sessions (
  id TEXT PRIMARY KEY,
  user_id TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'active',
  message_count INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL,
  last_active_at TEXT NOT NULL
);
 
CREATE TABLE agent_tasks (
  id TEXT PRIMARY KEY,
  session_id TEXT NOT NULL REFERENCES agent_sessions(id),
  goal TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'planned',
  current_step INTEGER NOT NULL DEFAULT 0,
  total_steps INTEGER NOT NULL DEFAULT 0,
  created_at TEXT NOT NULL,
  updated_at TEXT NOT NULL
);
 
CREATE TABLE agent_task_steps (
  id INTEGER PRIMARY KEY AUTOINCREMENT,
  task_id TEXT NOT NULL REFERENCES agent_tasks(id),
  step_index INTEGER NOT NULL,
  action TEXT NOT NULL,
  input TEXT,
  output TEXT,
  status TEXT NOT NULL DEFAULT 'pending',
  error TEXT,
  started_at TEXT,
  completed_at TEXT
);
 
CREATE TABLE agent_tool_states (
  task_id TEXT NOT NULL REFERENCES agent_tasks(id),
  tool_name TEXT NOT NULL,
  status TEXT NOT NULL DEFAULT 'idle',
  retry_count INTEGER NOT NULL DEFAULT 0,
  max_retries INTEGER NOT NULL DEFAULT 3,
  last_result TEXT,
  last_error TEXT,
  rate_limit_reset_at TEXT,
  PRIMARY KEY (task_id, tool_name)
);
