-- What must never change cannot, and what happens is written down where it happens: history and
-- events are the database's own, so that no writer can leave them out.

CREATE TABLE team_events (
  seq INTEGER PRIMARY KEY AUTOINCREMENT,
  trace_id TEXT NOT NULL,
  kind TEXT NOT NULL,
  ref TEXT NOT NULL,
  agent_id TEXT,
  detail TEXT NOT NULL,
  created_at INTEGER NOT NULL
);
CREATE INDEX team_events_by_trace ON team_events (trace_id, seq);
CREATE INDEX team_events_by_ref ON team_events (ref, seq);

-- An INSERT OR REPLACE removes rows without firing a DELETE trigger: it is met before it inserts.

CREATE TRIGGER agent_messages_no_update BEFORE UPDATE ON agent_messages
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER agent_messages_no_delete BEFORE DELETE ON agent_messages
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER agent_messages_no_replace BEFORE INSERT ON agent_messages
WHEN EXISTS (SELECT 1 FROM agent_messages WHERE seq = NEW.seq OR id = NEW.id OR request_id = NEW.request_id)
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER task_status_history_no_update BEFORE UPDATE ON task_status_history
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER task_status_history_no_delete BEFORE DELETE ON task_status_history
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER task_status_history_no_replace BEFORE INSERT ON task_status_history
WHEN EXISTS (SELECT 1 FROM task_status_history WHERE seq = NEW.seq OR (task_id = NEW.task_id AND version = NEW.version))
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER decision_log_no_update BEFORE UPDATE ON decision_log
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER decision_log_no_delete BEFORE DELETE ON decision_log
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER decision_log_no_replace BEFORE INSERT ON decision_log
WHEN EXISTS (SELECT 1 FROM decision_log WHERE seq = NEW.seq)
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER access_denials_no_update BEFORE UPDATE ON access_denials
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER access_denials_no_delete BEFORE DELETE ON access_denials
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER access_denials_no_replace BEFORE INSERT ON access_denials
WHEN EXISTS (SELECT 1 FROM access_denials WHERE seq = NEW.seq)
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER task_results_no_update BEFORE UPDATE ON task_results
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER task_results_no_delete BEFORE DELETE ON task_results
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER task_results_no_replace BEFORE INSERT ON task_results
WHEN EXISTS (SELECT 1 FROM task_results WHERE rowid = NEW.rowid OR (task_id = NEW.task_id AND attempt = NEW.attempt))
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER team_events_no_update BEFORE UPDATE ON team_events
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER team_events_no_delete BEFORE DELETE ON team_events
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER team_events_no_replace BEFORE INSERT ON team_events
WHEN EXISTS (SELECT 1 FROM team_events WHERE seq = NEW.seq)
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

-- What is for everyone (*) is also for those who join later.
CREATE TRIGGER agent_messages_to_somebody BEFORE INSERT ON agent_messages
WHEN NEW.target_agent_id <> '*'
  AND NOT EXISTS (SELECT 1 FROM team_agents WHERE agent_id = NEW.target_agent_id)
BEGIN
  SELECT RAISE(ABORT, 'agent_recipient_unknown');
END;

CREATE TRIGGER team_agents_keep_role BEFORE UPDATE OF agent_id, role ON team_agents
WHEN OLD.agent_id <> NEW.agent_id OR OLD.role <> NEW.role
BEGIN
  SELECT RAISE(ABORT, 'agent_identity_fixed');
END;

CREATE TRIGGER contexts_stay_frozen BEFORE UPDATE ON contexts
WHEN OLD.frozen = 1
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER contexts_no_delete BEFORE DELETE ON contexts
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER contexts_no_replace BEFORE INSERT ON contexts
WHEN EXISTS (
  SELECT 1 FROM contexts
  WHERE frozen = 1
    AND ((task_id = NEW.task_id AND version = NEW.version) OR context_id = NEW.context_id))
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER message_deliveries_once BEFORE UPDATE ON message_deliveries
WHEN OLD.consumed_at IS NOT NULL
BEGIN
  SELECT RAISE(ABORT, 'agent_already_consumed');
END;

-- Ids are never used again: a fence lives as long as what it protects.
CREATE TRIGGER task_status_no_delete BEFORE DELETE ON task_status
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER task_status_no_replace BEFORE INSERT ON task_status
WHEN EXISTS (
  SELECT 1 FROM task_status WHERE task_id = NEW.task_id OR claim_request = NEW.claim_request)
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER task_status_moves BEFORE UPDATE OF status ON task_status
WHEN OLD.status <> NEW.status AND (OLD.status || ' ' || NEW.status) NOT IN (
  'pending running', 'pending failed', 'running completed', 'running failed', 'running pending',
  'completed pending', 'completed failed', 'failed pending')
BEGIN
  SELECT RAISE(ABORT, 'agent_transition_refused');
END;

-- Whatever changes is a new version, one at a time: history has no gap.
CREATE TRIGGER task_status_versions BEFORE UPDATE ON task_status
WHEN NEW.fence < OLD.fence OR NEW.attempt < OLD.attempt
  OR NEW.task_id <> OLD.task_id OR NEW.root_id <> OLD.root_id
  OR NEW.version NOT IN (OLD.version, OLD.version + 1)
  OR (NEW.version = OLD.version AND (
    OLD.status <> NEW.status OR OLD.review <> NEW.review OR OLD.attempt <> NEW.attempt
    OR OLD.fence <> NEW.fence OR OLD.context_version <> NEW.context_version
    OR OLD.lease_holder IS NOT NEW.lease_holder))
BEGIN
  SELECT RAISE(ABORT, 'agent_transition_refused');
END;

CREATE TRIGGER task_status_with_result BEFORE UPDATE OF status ON task_status
WHEN NEW.status = 'completed' AND OLD.status <> 'completed' AND NOT EXISTS (
  SELECT 1 FROM task_results WHERE task_id = NEW.task_id AND attempt = NEW.attempt)
BEGIN
  SELECT RAISE(ABORT, 'agent_result_missing');
END;

CREATE TRIGGER task_results_of_running BEFORE INSERT ON task_results
WHEN NOT EXISTS (
  SELECT 1 FROM task_status
  WHERE task_id = NEW.task_id AND status = 'running' AND attempt = NEW.attempt)
BEGIN
  SELECT RAISE(ABORT, 'agent_transition_refused');
END;

CREATE TRIGGER team_settings_grow BEFORE UPDATE ON team_settings
WHEN NEW.version <> OLD.version + 1 OR NEW.revision <= OLD.revision
BEGIN
  SELECT RAISE(ABORT, 'agent_transition_refused');
END;

CREATE TRIGGER sagas_move BEFORE UPDATE OF status ON sagas
WHEN OLD.status <> NEW.status AND (OLD.status || ' ' || NEW.status) NOT IN (
  'running completed', 'running compensating', 'compensating compensated', 'compensating dead',
  'dead compensating')
BEGIN
  SELECT RAISE(ABORT, 'agent_transition_refused');
END;

CREATE TRIGGER task_status_begins AFTER INSERT ON task_status
BEGIN
  INSERT INTO task_status_history
    (task_id, version, old_status, status, review, attempt, fence, lease_holder,
     context_version, agent_id, reason, created_at, trace_id)
  VALUES (NEW.task_id, NEW.version, NULL, NEW.status, NEW.review, NEW.attempt, NEW.fence,
    NEW.lease_holder, NEW.context_version, NEW.agent_id, NEW.reason, NEW.updated_at,
    NEW.trace_id);
END;

CREATE TRIGGER task_status_goes_on AFTER UPDATE OF version ON task_status
WHEN NEW.version <> OLD.version
BEGIN
  INSERT INTO task_status_history
    (task_id, version, old_status, status, review, attempt, fence, lease_holder,
     context_version, agent_id, reason, created_at, trace_id)
  VALUES (NEW.task_id, NEW.version, OLD.status, NEW.status, NEW.review, NEW.attempt, NEW.fence,
    NEW.lease_holder, NEW.context_version, NEW.agent_id, NEW.reason, NEW.updated_at,
    NEW.trace_id);
END;

-- Events: the order in which everything happened, across agents and tables.

CREATE TRIGGER event_of_history AFTER INSERT ON task_status_history
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  VALUES (NEW.trace_id, 'task ' || NEW.status, NEW.task_id, NEW.agent_id,
    json_object('version', NEW.version, 'attempt', NEW.attempt, 'fence', NEW.fence,
      'review', NEW.review, 'context', NEW.context_version, 'reason', NEW.reason), NEW.created_at);
END;

CREATE TRIGGER event_of_result AFTER INSERT ON task_results
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  VALUES (NEW.trace_id, 'result', NEW.task_id, NEW.agent_id,
    json_object('attempt', NEW.attempt, 'summary', NEW.result_summary), NEW.created_at);
END;

CREATE TRIGGER event_of_message AFTER INSERT ON agent_messages
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  VALUES (NEW.trace_id, 'message sent', NEW.id, NEW.source_agent_id,
    json_object('seq', NEW.seq, 'type', NEW.message_type, 'to', NEW.target_agent_id,
      'correlation', NEW.correlation_id, 'corrects', NEW.corrects_id), NEW.timestamp);
END;

CREATE TRIGGER event_of_consumption AFTER UPDATE OF consumed_at ON message_deliveries
WHEN OLD.consumed_at IS NULL AND NEW.consumed_at IS NOT NULL
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  VALUES (NEW.trace_id, 'message consumed', (SELECT id FROM agent_messages WHERE seq = NEW.seq), NEW.agent_id,
    json_object('seq', NEW.seq, 'delivered', NEW.delivered_at), NEW.consumed_at);
END;

CREATE TRIGGER event_of_decision AFTER INSERT ON decision_log
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  VALUES (NEW.trace_id, 'decision', NEW.task_id, NEW.agent_id,
    json_object('decision', NEW.decision, 'reason', NEW.reason, 'context', NEW.context_version), NEW.created_at);
END;

CREATE TRIGGER event_of_context AFTER INSERT ON contexts
WHEN NEW.frozen = 1
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  VALUES (NEW.trace_id, 'context frozen', NEW.task_id, NULL,
    json_object('context', NEW.context_id, 'version', NEW.version), NEW.created_at);
END;

CREATE TRIGGER event_of_freezing AFTER UPDATE OF frozen ON contexts
WHEN OLD.frozen = 0 AND NEW.frozen = 1
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  VALUES (NEW.trace_id, 'context frozen', NEW.task_id, NULL,
    json_object('context', NEW.context_id, 'version', NEW.version), NEW.created_at);
END;

CREATE TRIGGER event_of_snapshot AFTER INSERT ON task_snapshots
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  VALUES (NEW.trace_id, 'snapshot', NEW.task_id, NULL,
    json_object('version', NEW.version, 'subtask', NEW.subtask_id), NEW.created_at);
END;

CREATE TRIGGER event_of_denial AFTER INSERT ON access_denials
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  VALUES (NEW.trace_id, 'access denied', NEW.object, NEW.agent_id,
    json_object('operation', NEW.operation), NEW.created_at);
END;

CREATE TRIGGER event_of_dead_letter AFTER INSERT ON dead_letters
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  VALUES (NEW.trace_id, 'dead letter', NEW.ref, NULL,
    json_object('kind', NEW.kind, 'step', NEW.step, 'reason', NEW.reason), NEW.created_at);
END;

CREATE TRIGGER event_of_requeue AFTER UPDATE OF requeued_at ON dead_letters
WHEN OLD.requeued_at IS NULL AND NEW.requeued_at IS NOT NULL
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  VALUES (NEW.trace_id, 'requeued', NEW.ref, NULL,
    json_object('kind', NEW.kind, 'step', NEW.step), NEW.requeued_at);
END;

CREATE TRIGGER event_of_saga AFTER INSERT ON sagas
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  VALUES (NEW.trace_id, 'saga ' || NEW.status, NEW.saga_id, NEW.lease_holder,
    json_object('name', NEW.name), NEW.created_at);
END;

CREATE TRIGGER event_of_saga_status AFTER UPDATE OF status ON sagas
WHEN OLD.status <> NEW.status
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  VALUES (NEW.trace_id, 'saga ' || NEW.status, NEW.saga_id, NEW.lease_holder,
    json_object('name', NEW.name, 'failure', NEW.failure), NEW.updated_at);
END;

CREATE TRIGGER event_of_saga_step AFTER UPDATE OF status ON saga_steps
WHEN OLD.status <> NEW.status
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  SELECT NEW.trace_id, 'saga step ' || NEW.status, NEW.saga_id, lease_holder,
    json_object('step', NEW.seq, 'name', NEW.name, 'error', NEW.error), updated_at
  FROM sagas WHERE saga_id = NEW.saga_id;
END;

CREATE TRIGGER event_of_setting AFTER INSERT ON team_settings
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  VALUES (NEW.trace_id, 'setting', NEW.name, NEW.agent_id,
    json_object('version', NEW.version, 'revision', NEW.revision), NEW.updated_at);
END;

CREATE TRIGGER event_of_new_setting AFTER UPDATE ON team_settings
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  VALUES (NEW.trace_id, 'setting', NEW.name, NEW.agent_id,
    json_object('version', NEW.version, 'revision', NEW.revision), NEW.updated_at);
END;

CREATE TRIGGER event_of_shared_knowledge_insert AFTER INSERT ON shared_knowledge
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  VALUES (NEW.trace_id, 'shared knowledge', NEW.key, NEW.agent_id,
    json_object('scope', NEW.scope, 'version', NEW.version), NEW.updated_at);
END;

CREATE TRIGGER event_of_shared_knowledge_update AFTER UPDATE ON shared_knowledge
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  VALUES (NEW.trace_id, 'shared knowledge', NEW.key, NEW.agent_id,
    json_object('scope', NEW.scope, 'version', NEW.version), NEW.updated_at);
END;

CREATE TRIGGER event_of_working_memory_insert AFTER INSERT ON working_memory
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  VALUES (NEW.trace_id, 'working memory', NEW.key, NEW.agent_id,
    json_object('scope', NEW.scope, 'version', NEW.version), NEW.updated_at);
END;

CREATE TRIGGER event_of_working_memory_update AFTER UPDATE ON working_memory
BEGIN
  INSERT INTO team_events (trace_id, kind, ref, agent_id, detail, created_at)
  VALUES (NEW.trace_id, 'working memory', NEW.key, NEW.agent_id,
    json_object('scope', NEW.scope, 'version', NEW.version), NEW.updated_at);
END;
