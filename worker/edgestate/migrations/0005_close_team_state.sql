-- What was left open to whoever writes past the library: rows that come in behind what others have
-- read already, agents that change their role by being replaced, deliveries that are forgotten.

-- A claim whose answer was lost is known again by this, and is still one claim.
ALTER TABLE write_requests ADD COLUMN claim_id TEXT;

ALTER TABLE task_dependencies ADD COLUMN trace_id TEXT NOT NULL DEFAULT '-';
UPDATE task_dependencies SET trace_id = (
  SELECT trace_id FROM task_status WHERE task_status.task_id = task_dependencies.task_id);

-- Whoever has read up to a number has read all that is before it.

CREATE TRIGGER agent_messages_at_the_end AFTER INSERT ON agent_messages
WHEN NEW.seq < 1 OR EXISTS (SELECT 1 FROM agent_messages WHERE seq > NEW.seq)
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER task_status_history_at_the_end AFTER INSERT ON task_status_history
WHEN NEW.seq < 1 OR EXISTS (SELECT 1 FROM task_status_history WHERE seq > NEW.seq)
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER decision_log_at_the_end AFTER INSERT ON decision_log
WHEN NEW.seq < 1 OR EXISTS (SELECT 1 FROM decision_log WHERE seq > NEW.seq)
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER access_denials_at_the_end AFTER INSERT ON access_denials
WHEN NEW.seq < 1 OR EXISTS (SELECT 1 FROM access_denials WHERE seq > NEW.seq)
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER team_events_at_the_end AFTER INSERT ON team_events
WHEN NEW.seq < 1 OR EXISTS (SELECT 1 FROM team_events WHERE seq > NEW.seq)
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER dead_letters_at_the_end AFTER INSERT ON dead_letters
WHEN NEW.id < 1 OR EXISTS (SELECT 1 FROM dead_letters WHERE id > NEW.id)
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

-- A number below 1 would stand in the way of every row that is given its number.
CREATE TRIGGER task_results_numbered AFTER INSERT ON task_results
WHEN NEW.rowid < 1
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

-- Who an agent is was said once.
CREATE TRIGGER team_agents_no_update BEFORE UPDATE ON team_agents
BEGIN
  SELECT RAISE(ABORT, 'agent_identity_fixed');
END;

CREATE TRIGGER team_agents_no_delete BEFORE DELETE ON team_agents
BEGIN
  SELECT RAISE(ABORT, 'agent_identity_fixed');
END;

CREATE TRIGGER team_agents_no_replace BEFORE INSERT ON team_agents
WHEN EXISTS (
  SELECT 1 FROM team_agents
  WHERE agent_id = NEW.agent_id OR (role = NEW.role AND role <> 'worker'))
BEGIN
  SELECT RAISE(ABORT, 'agent_identity_fixed');
END;

-- What was delivered, and acted on, stays so.
CREATE TRIGGER message_deliveries_keep_place BEFORE UPDATE OF seq, agent_id ON message_deliveries
WHEN OLD.seq <> NEW.seq OR OLD.agent_id <> NEW.agent_id
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER message_deliveries_no_delete BEFORE DELETE ON message_deliveries
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER message_deliveries_no_replace BEFORE INSERT ON message_deliveries
WHEN EXISTS (
  SELECT 1 FROM message_deliveries
  WHERE seq = NEW.seq AND agent_id = NEW.agent_id AND consumed_at IS NOT NULL)
BEGIN
  SELECT RAISE(ABORT, 'agent_already_consumed');
END;

CREATE TRIGGER task_dependencies_no_update BEFORE UPDATE ON task_dependencies
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER task_dependencies_no_delete BEFORE DELETE ON task_dependencies
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER task_dependencies_no_replace BEFORE INSERT ON task_dependencies
WHEN EXISTS (
  SELECT 1 FROM task_dependencies WHERE task_id = NEW.task_id AND depends_on = NEW.depends_on)
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

-- A dead letter is requeued once, and that is all that changes of it.
CREATE TRIGGER dead_letters_requeued_once BEFORE UPDATE ON dead_letters
WHEN OLD.requeued_at IS NOT NULL OR NEW.requeued_at IS NULL OR NEW.id <> OLD.id
  OR NEW.kind <> OLD.kind OR NEW.ref <> OLD.ref OR NEW.step <> OLD.step
  OR NEW.reason <> OLD.reason OR NEW.created_at <> OLD.created_at
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER dead_letters_no_delete BEFORE DELETE ON dead_letters
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;

CREATE TRIGGER dead_letters_no_replace BEFORE INSERT ON dead_letters
WHEN EXISTS (
  SELECT 1 FROM dead_letters
  WHERE id = NEW.id
    OR (kind = NEW.kind AND ref = NEW.ref AND step = NEW.step AND requeued_at IS NULL))
BEGIN
  SELECT RAISE(ABORT, 'agent_append_only');
END;
