"""What the database itself must have so that nobody can write past the rules.

SQLite lets whoever may write also drop a trigger, and nothing in the database can refuse that: so
it is looked for (`examine`, `localedge doctor team`). A test compares them with the migrations.
"""

from __future__ import annotations

from typing import Final

_NAMED: Final = """
    access_denials_at_the_end
    access_denials_no_delete
    access_denials_no_replace
    access_denials_no_update
    agent_messages_at_the_end
    agent_messages_no_delete
    agent_messages_no_replace
    agent_messages_no_update
    agent_messages_to_somebody
    contexts_no_delete
    contexts_no_replace
    contexts_stay_frozen
    dead_letters_at_the_end
    dead_letters_no_delete
    dead_letters_no_replace
    dead_letters_open
    dead_letters_requeued_once
    decision_log_at_the_end
    decision_log_no_delete
    decision_log_no_replace
    decision_log_no_update
    event_of_consumption
    event_of_context
    event_of_dead_letter
    event_of_decision
    event_of_denial
    event_of_freezing
    event_of_history
    event_of_message
    event_of_new_setting
    event_of_requeue
    event_of_result
    event_of_saga
    event_of_saga_status
    event_of_saga_step
    event_of_setting
    event_of_shared_knowledge_insert
    event_of_shared_knowledge_update
    event_of_snapshot
    event_of_working_memory_insert
    event_of_working_memory_update
    message_deliveries_keep_place
    message_deliveries_no_delete
    message_deliveries_no_replace
    message_deliveries_once
    sagas_move
    task_dependencies_no_delete
    task_dependencies_no_replace
    task_dependencies_no_update
    task_results_no_delete
    task_results_no_replace
    task_results_no_update
    task_results_numbered
    task_results_of_running
    task_status_begins
    task_status_goes_on
    task_status_history_at_the_end
    task_status_history_no_delete
    task_status_history_no_replace
    task_status_history_no_update
    task_status_moves
    task_status_no_delete
    task_status_no_replace
    task_status_versions
    task_status_with_result
    team_agents_keep_role
    team_agents_no_delete
    team_agents_no_replace
    team_agents_no_update
    team_events_at_the_end
    team_events_no_delete
    team_events_no_replace
    team_events_no_update
    team_one_of_each
    team_settings_grow
"""
# Of the tables' own UNIQUE: the request ids of writes, and of messages.
PROTECTIONS: Final = (
    "write_requests",
    "sqlite_autoindex_write_requests_1",
    "sqlite_autoindex_agent_messages_2",
    *_NAMED.split(),
)
