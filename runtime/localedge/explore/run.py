"""One run of a scenario: its client, its workers, and what is done to them at chosen points."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from typing import Final

from localedge.explore.acting import ACTING
from localedge.explore.answers import KILLED, Answer, Ask, Memo
from localedge.explore.choices import Choices
from localedge.explore.client import Client, GaveUp
from localedge.explore.incarnation import INCARNATION, Incarnation
from localedge.explore.lab import Lab
from localedge.explore.mistakes import mistake_text, unmet_text
from localedge.explore.observing import Observing
from localedge.explore.outcome import Broken, Outcome, Verdict
from localedge.explore.outside import Outside
from localedge.explore.policy import Policy, Stopped
from localedge.explore.trace import Fork
from localedge.explore.turns import Turns
from localedge.explore.watchdog import Endless, watching
from localedge.probe import Probe

_TICK_S: Final = 0.001
"""Events begin this long after each other: no two have the same time."""
_WAIT_UNTIL_S: Final = 30.0


class Run(Observing):
    """A scenario, played once from `start` under `choices`.

    Shape: `trace` has what was done; `story` its lines, if it is told.
    """

    def __init__(
        self,
        lab: Lab,
        start: Fork,
        choices: Choices,
        policy: Policy | None = None,
        *,
        is_recording: bool = False,
        is_told: bool = False,
        is_trying: bool = False,
    ) -> None:
        super().__init__(lab, start, choices, policy or Policy(), is_recording, is_told, is_trying)
        self.memo: list[Memo] = [*start.memo]
        self.asked = 0
        self._requests = 0

    @property
    def outside(self) -> Outside:
        """The effect log."""
        return self.lab.stores.outside

    def now_s(self) -> float:
        """Seconds since the epoch, for workers."""
        return self.lab.loop.wall_s

    def pass_time(self, seconds: float) -> None:
        """It is `seconds` later."""
        self.tell("client", 0, f"waits {seconds:g} s")
        self.lab.loop.pass_time(seconds)
        if (text := self._too_many_days()) is not None:
            # A client that only sleeps never lets the loop look.
            raise Broken(Outcome.STUCK, text)

    # --- the whole run ---

    async def play(self) -> Verdict:
        """What the run comes to."""
        lab = self.lab
        lab.loop.begin_anew(self.start.state.wall_s)
        lab.stores.put_back(self.start.state)
        detach = lab.probe.attach(self)
        lab.loop.on_idle = self._on_idle
        lab.loop.on_stall = self._on_stall
        lab.stores.lag(self._lag)
        lab.stores.outside.on_mistake = self.blame
        self._main = asyncio.ensure_future(self._client())
        try:
            with watching(lab.scenario.title, self._too_long, lab.scenario.patience_s):
                await asyncio.wait({self._main})
            await self._judge()
        finally:
            await self._bury_all()
            lab.forget()
            detach()
        verdict = Verdict(
            tuple(sorted({*self.start.choices, *self.choices})),
            tuple(self.findings),
            self.asked,
            self.outside.resent,
            self.point,
        )
        for finding in verdict.findings:
            self.tell("finding", 0, f"{finding.outcome}: {finding.text}")
        return verdict

    async def _client(self) -> None:
        try:
            await self.lab.scenario.client(Client(self.lab.scenario, self))
            await self._land_all()
        except GaveUp as gave_up:
            self.find(Outcome.STUCK, str(gave_up))
        except Broken as broken:
            self.find(broken.outcome, broken.text)
        except AssertionError as error:
            self.find(Outcome.DIVERGED, unmet_text(error))
        except Endless as endless:
            self.stop(Stopped(Outcome.STUCK, str(endless)))
        except Exception as error:  # noqa: BLE001  (the boundary of the scenario's code)
            last = f"; the last answer was {self._last}" if self._last is not None else ""
            self.find(Outcome.SCENARIO, f"{mistake_text(error)}{last}")

    async def _judge(self) -> None:
        if self.stopped is not None and self.stopped.outcome is not None:
            self.find(self.stopped.outcome, self.stopped.text)
        if self.stopped is not None:
            return
        with suppress(asyncio.CancelledError):
            self._main.result()
        for place, invariant in enumerate(self.lab.scenario.must):
            await self._hold(place, invariant.ended(self.memories[place], self.lab.view))

    def stop(self, stopped: Stopped) -> None:
        """The run ends here."""
        if self.stopped is None:
            self.stopped = stopped
            self._main.cancel()

    def _too_long(self, text: str) -> None:
        self.stop(Stopped(Outcome.STUCK, f"{text}; {self.waiting_text()}"))

    @property
    def probe(self) -> Probe:
        """What the calls of its workers pass."""
        return self.lab.probe

    @property
    def is_pruned(self) -> bool:
        """Whether the run was ended because the rest of it is known."""
        return self.stopped is not None and self.stopped.outcome is None

    # --- requests ---

    async def perform(self, asks: tuple[Ask, ...]) -> tuple[Answer, ...]:
        """The answers to `asks`, which are sent at once to workers of their own."""
        self._requests += len(asks)
        limit = self.lab.scenario.max_requests
        if self._requests > limit:
            raise Broken(
                Outcome.STUCK, f"the client has sent {limit} requests and is not done: {asks[0]}"
            )
        self.mark_operation()
        if len(asks) == 1:
            answers: Sequence[Answer] = [await self._alone(asks[0])]
        else:
            answers = await self._together(asks)
        for ask, answer in zip(asks, answers, strict=True):
            self.tell("client", 0, f"got {answer}")
            self._last = answer
            for place, invariant in enumerate(self.lab.scenario.must):
                looking = invariant.answered(self.memories[place], self.lab.view, ask, answer)
                self.memories[place] = await self._hold(place, looking)
        return tuple(answers)

    async def _alone(self, ask: Ask) -> Answer:
        worker = self._begin(ask)
        self.is_alone = len(self.living) == 1
        await worker.ended
        if worker.stall is not None and not worker.is_dead:
            again = await self._alone(ask)
            worker.ended = asyncio.get_running_loop().create_future()
            if not worker.stall.done():
                worker.stall.set_result(None)
            if not worker.has_served:
                await worker.ended
            await self._finish(worker)
            return again
        await self._finish(worker)
        self.is_alone = False
        return worker.answer or KILLED

    async def _together(self, asks: tuple[Ask, ...]) -> list[Answer]:
        self.turns = Turns(self.switches, self.pick, self.turn_key, self.policy.is_seen)
        try:
            workers = [self._begin(ask) for ask in asks]
            self.turns.workers = {worker.number: worker for worker in workers}
            for worker in workers:
                await worker.ended
            for worker in workers:
                await self._finish(worker)
        finally:
            self.trace.decisions += self.turns.decisions
            self.turns = None
        return [worker.answer or KILLED for worker in workers]

    def _begin(self, ask: Ask) -> Incarnation:
        self.lab.loop.pass_time(_TICK_S)
        self.workers += 1
        worker = Incarnation(self.workers, ask, self.lab.seed)
        self.living.append(worker)
        if self.turns is None:
            self.lab.deployment.forget_globals()
        self.tell("begin", worker.number, str(ask))
        task = asyncio.ensure_future(self._serve(worker))
        worker.note(task)
        return worker

    async def _serve(self, worker: Incarnation) -> None:
        INCARNATION.set(worker)
        ACTING.set(self)
        worker.source.reseed()
        try:
            answer = await self.lab.deployment.serve(worker)
            if not worker.is_dead:
                worker.answer = answer
        except Endless as endless:
            worker.answer = KILLED
            self.stop(Stopped(Outcome.STUCK, f"{endless} (worker {worker.number}, {worker.ask})"))
        finally:
            if not worker.is_dead:
                self.tell("end", worker.number, str(worker.answer or "cancelled"))
            worker.has_served = True
            worker.end()

    async def _finish(self, worker: Incarnation) -> None:
        """What outlives the answer goes on for a while; then nothing of the worker is left."""
        event = worker.event
        if not worker.is_dead:
            event.has_ended = True
            event.cancel_strays()
            if event.context.has_tasks():
                token = INCARNATION.set(worker)
                try:
                    await event.context.drain(_WAIT_UNTIL_S)
                finally:
                    INCARNATION.reset(token)
        died_at_s = worker.died_at_s if worker.is_dead else None
        if any(late.worker is worker and not late.has_landed for late in self.late):
            return
        await worker.bury()
        self.living.remove(worker)
        if died_at_s is not None and not self.living:
            # The dead do not wait for anything.
            self.lab.loop.set_wall(died_at_s)

    async def _bury_all(self) -> None:
        for worker in [*self.living]:
            worker.die(0.0)
            await worker.bury()
        self.living.clear()

    def _on_idle(self) -> bool:
        if self.turns is not None:
            given = self.turns.give(self.point + 1)
            if given is None:
                self.stop(Stopped(None, "the rest is known"))
                return True
            if given:
                return True
        if self.stopped is None and (text := self._too_many_days()) is not None:
            self.stop(Stopped(Outcome.STUCK, text))
            return True
        return False

    def _too_many_days(self) -> str | None:
        days = (self.lab.loop.wall_s - self._began_s) / 86_400
        if days <= self.lab.scenario.max_days:
            return None
        return f"{days:.0f} days have passed and the run is not over; {self.waiting_text()}"

    def _on_stall(self) -> None:
        if self.stopped is not None:
            raise RuntimeError("a stopped run does not end")
        self.stop(Stopped(Outcome.STUCK, f"nothing will ever happen: {self.waiting_text()}"))
