"""Shared state for several agents, which neither tears nor lies.

Truth is in the system of record (D1); a KV namespace is an optional cache. An agent takes its
seat with an identity that the server gave it, and does everything through a `TeamMember`.
"""

from __future__ import annotations

from edgestate.team.board import Board, Held
from edgestate.team.board_rows import BoardTask, Result, Subtask, lane_of
from edgestate.team.breaker import Breaker, Tally
from edgestate.team.cache import Cache, Versioned
from edgestate.team.contexts import Context, Contexts
from edgestate.team.dead_letters import DeadLetter, DeadLetters
from edgestate.team.desk import Desk
from edgestate.team.diagnosis import Symptom, examine
from edgestate.team.errors import (
    AccessDenied,
    AlreadyConsumed,
    ContextConflictError,
    ContextExists,
    CyclicPlan,
    NoDeadLetter,
    NoSnapshot,
    RecipientUnknown,
    RequestInProgress,
    RequestMismatch,
    RoleTaken,
    SecretInSetting,
    SettingTooOld,
    UnknownContext,
    UnknownSaga,
)
from edgestate.team.history import Change, State, history, rebuild, states
from edgestate.team.keeping import kept
from edgestate.team.knowledge import Fact, Knowledge
from edgestate.team.messages import Decisions, Message, Messages
from edgestate.team.metrics import metrics_text
from edgestate.team.policies import POLICIES
from edgestate.team.record import D1Record, Deadlines, Record, Statement
from edgestate.team.requests import Requests
from edgestate.team.reviews import Reviews
from edgestate.team.roster import Agent, Roster, enrol, take_seat
from edgestate.team.saga_rows import Done, SagaDefinition, SagaStep, SagaStepFailed, StepCall
from edgestate.team.sagas import Sagas
from edgestate.team.settings import Setting, Settings
from edgestate.team.snapshots import Restored, Snapshots
from edgestate.team.team import Bootstrap, TeamMember
from edgestate.team.traces import Event, life_of
from edgestate.team.tracing import request_trace_id, trace_id, traced
from edgestate.team.writes import Cycle, Identity, Role, Write

__all__ = [
    "POLICIES",
    "AccessDenied",
    "Agent",
    "AlreadyConsumed",
    "Board",
    "BoardTask",
    "Bootstrap",
    "Breaker",
    "Cache",
    "Change",
    "Context",
    "ContextConflictError",
    "ContextExists",
    "Contexts",
    "Cycle",
    "CyclicPlan",
    "D1Record",
    "DeadLetter",
    "DeadLetters",
    "Deadlines",
    "Decisions",
    "Desk",
    "Done",
    "Event",
    "Fact",
    "Held",
    "Identity",
    "Knowledge",
    "Message",
    "Messages",
    "NoDeadLetter",
    "NoSnapshot",
    "RecipientUnknown",
    "Record",
    "RequestInProgress",
    "RequestMismatch",
    "Requests",
    "Restored",
    "Result",
    "Reviews",
    "Role",
    "RoleTaken",
    "Roster",
    "SagaDefinition",
    "SagaStep",
    "SagaStepFailed",
    "Sagas",
    "SecretInSetting",
    "Setting",
    "SettingTooOld",
    "Settings",
    "Snapshots",
    "State",
    "Statement",
    "StepCall",
    "Subtask",
    "Symptom",
    "Tally",
    "TeamMember",
    "UnknownContext",
    "UnknownSaga",
    "Versioned",
    "Write",
    "enrol",
    "examine",
    "history",
    "kept",
    "lane_of",
    "life_of",
    "metrics_text",
    "rebuild",
    "request_trace_id",
    "states",
    "take_seat",
    "trace_id",
    "traced",
]
