"""Every crash, every interleaving, every stale read: what a scenario needs."""

from localedge.explore.acting import act, happen
from localedge.explore.client import Client
from localedge.explore.edgestate_holds import AgentState
from localedge.explore.holds import (
    EffectsAtMostOnce,
    Grows,
    Holds,
    IndexEqualsRows,
    Invariant,
    Kept,
)
from localedge.explore.outcome import Broken, Outcome
from localedge.explore.outside import Order, Service
from localedge.explore.scenario import Scenario, Setting
from localedge.explore.stores import View

__all__ = [
    "AgentState",
    "Broken",
    "Client",
    "EffectsAtMostOnce",
    "Grows",
    "Holds",
    "IndexEqualsRows",
    "Invariant",
    "Kept",
    "Order",
    "Outcome",
    "Scenario",
    "Service",
    "Setting",
    "View",
    "act",
    "happen",
]
