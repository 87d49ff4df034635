"""Ends isolates that use more than they may, with the platform's word for it.

An isolate runs several events at once, and nobody can say which of them its CPU time went to. So
while its loop answers, the time since the last look is shared between the events in flight; while
it does not answer, one of them has it all, and each is charged with it.
"""

from __future__ import annotations

import asyncio
import logging
import time
from collections.abc import Callable, Iterable
from typing import Final

from localedge.project.models import Project
from localedge.supervisor import meters
from localedge.supervisor.generation import Generation
from localedge.supervisor.isolates import Isolate

logger = logging.getLogger(__name__)

TICK_S: Final = 0.05
# Differs: the platform ends an isolate at 128 MB; here that is a warning, `memory_mb` the end.
EDGE_MEMORY_BYTES: Final = 128_000_000
"""What an isolate may use on the platform. Source: kv-d1-contract section 5, read 2026-12-01."""
_MB: Final = 1_000_000


class Account:
    """What the watch remembers of one isolate."""

    __slots__ = ("asked", "cpu_s", "has_warned", "served")

    def __init__(self) -> None:
        self.cpu_s: float | None = None
        self.asked: float | None = None
        self.has_warned = False
        self.served = 0


class Watch:
    """Looks at all isolates of the generations that `generations()` gives."""

    def __init__(self, generations: Callable[[], Iterable[Generation]]) -> None:
        self._generations = generations
        self._accounts: dict[Isolate, Account] = {}

    async def run(self) -> None:
        """Look, again and again, until cancelled."""
        while True:
            await asyncio.sleep(TICK_S)
            self.look()

    def look(self) -> None:
        """Every isolate over a limit is killed."""
        accounts: dict[Isolate, Account] = {}
        for generation in self._generations():
            for isolate in generation.isolates():
                account = self._accounts.get(isolate) or Account()
                accounts[isolate] = account
                outcome = self._judge(isolate, account, generation.project)
                if outcome is not None:
                    self._end(generation, isolate, outcome)
        self._accounts = accounts

    def _judge(self, isolate: Isolate, account: Account, project: Project) -> str | None:
        if not isolate.exchanges:
            account.cpu_s = account.asked = None
            if account.served != isolate.served:
                # What it has counted is known before it can die of what is to come.
                account.served = isolate.served
                isolate.note("ping", None)
            return None
        if self._is_over_memory(isolate, account, project.local.memory_mb):
            return "exceededMemory"
        now = time.monotonic()
        asked = account.asked
        hangs = asked is not None and isolate.answered < asked
        if self._is_over_cpu(isolate, account, project.limits.cpu_ms / 1000, hangs):
            return "exceededCpu"
        if asked is not None and hangs:
            # Differs: on the platform only CPU time ends a request whose client stays.
            return "exceededWallTime" if now - asked > project.local.loop_block_s else None
        account.asked = now
        isolate.note("ping", None)
        return None

    def _is_over_cpu(self, isolate: Isolate, account: Account, limit_s: float, hangs: bool) -> bool:
        cpu_s = meters.cpu_s(isolate.pid)
        before, account.cpu_s = account.cpu_s, cpu_s
        if cpu_s is None or before is None:
            return False
        charge = cpu_s - before if hangs else (cpu_s - before) / len(isolate.exchanges)
        over = False
        for exchange in isolate.exchanges.values():
            exchange.cpu_s += charge
            over = over or exchange.cpu_s > limit_s
        return over

    def _is_over_memory(self, isolate: Isolate, account: Account, limit_mb: int) -> bool:
        warn_at = min(EDGE_MEMORY_BYTES, limit_mb * _MB)
        used = meters.private_bytes(isolate.pid, warn_at)
        if used is None or used <= warn_at:
            return False
        if used > limit_mb * _MB:
            return True
        if not account.has_warned:
            account.has_warned = True
            logger.warning(
                "isolate uses more memory than the edge allows",
                extra={"pid": isolate.pid, "used_mb": used // _MB, "edge_mb": 128},
            )
        return False

    def _end(self, generation: Generation, isolate: Isolate, outcome: str) -> None:
        logger.warning(
            "isolate killed",
            extra={"pid": isolate.pid, "generation": generation.number, "outcome": outcome},
        )
        generation.kill(isolate, outcome)
