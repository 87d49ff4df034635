"""What is done by the clock, without any client."""

from __future__ import annotations

import logging
from typing import Any

from edgestate import resume_abandoned_tasks, sweep_sessions
from trip_agent.service import agent_of, store_of

logger = logging.getLogger(__name__)


async def keep_up(env: Any) -> None:
    """Idle sessions are expired and ended ones deleted; tasks that a worker left go on."""
    store = store_of(env)
    swept = await sweep_sessions(store)
    resumed = await resume_abandoned_tasks(store, agent=agent_of(env))
    logger.info(
        "kept up",
        extra={
            "expired": len(swept.expired),
            "deleted": len(swept.deleted),
            "resumed": len(resumed["resumed"]),
            "failed": len(resumed["failed"]),
        },
    )
