"""The observer of all calls of a run: it numbers them and does there what was chosen."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from typing import TYPE_CHECKING

from localedge.explore.answers import Answer, Memo
from localedge.explore.choices import Choice, Choices, Do
from localedge.explore.describing import call_text, outcome_text
from localedge.explore.holds import Memory
from localedge.explore.incarnation import INCARNATION, Incarnation, WorkerKilled
from localedge.explore.landing import would_change
from localedge.explore.lost import lost_answer
from localedge.explore.mistakes import mistake_text, unmet_text
from localedge.explore.outcome import Broken, Finding, Outcome
from localedge.explore.policy import LateCall, Policy, Stopped
from localedge.explore.trace import Event, Fork, PointInfo, Trace, may_write
from localedge.explore.turns import Turns
from localedge.probe import Call, Observer
from localedge.probe import Outcome as CallOutcome

if TYPE_CHECKING:
    from localedge.explore.lab import Lab


class Observing(Observer):
    """What a run does at each call of its workers."""

    def __init__(
        self,
        lab: Lab,
        start: Fork,
        choices: Choices,
        policy: Policy,
        is_recording: bool,
        is_told: bool,
        is_trying: bool = False,
    ) -> None:
        self.lab = lab
        self.start = start
        self.choices = choices
        self.policy = policy
        self.trace = Trace()
        self.story: list[Event] = []
        self.memo: list[Memo] = []
        self.point = start.point
        self.workers = start.workers
        self.memories: list[Memory] = [*start.memories]
        self.findings: list[Finding] = [*start.findings]
        self.living: list[Incarnation] = []
        self.late: list[LateCall] = []
        self.turns: Turns | None = None
        self.is_alone = False
        self.stopped: Stopped | None = None
        self._is_recording = is_recording
        self._is_told = is_told
        self._is_trying = is_trying
        self._acts = {c.point: c for c in choices if c.do not in (Do.SWITCH, Do.STALE)}
        self.switches = {c.point: c.at for c in choices if c.do is Do.SWITCH}
        self._lags = {(c.point, c.nth): c.at for c in choices if c.do is Do.STALE}
        self._points: dict[int, int] = {}
        self._operation = start
        self._values: list[int] = []
        self._began_s = start.state.wall_s
        self._last: Answer | None = None

    # --- what is noted ---

    def tell(self, kind: str, worker: int, text: str, result: str = "", point: int = 0) -> None:
        """A line of the story, if it is told."""
        if self._is_told:
            at_s = self.lab.loop.wall_s
            self.story.append(Event(kind, worker, point, at_s, text, result))

    def find(self, outcome: Outcome, text: str) -> None:
        """Something that must not be was found, once."""
        finding = Finding(outcome, text, self.point)
        if all((f.outcome, f.text) != (outcome, text) for f in self.findings):
            self.findings.append(finding)

    async def _hold(self, place: int, looking: Awaitable[Memory]) -> Memory:
        try:
            return await looking
        except Broken as broken:
            self.find(broken.outcome, broken.text)
        except AssertionError as error:
            self.find(Outcome.DIVERGED, unmet_text(error))
        except Exception as error:  # noqa: BLE001  (the boundary of the scenario's code)
            self.blame(error)
        return self.memories[place]

    def blame(self, error: Exception) -> None:
        """The scenario's own code has failed."""
        self.find(Outcome.SCENARIO, mistake_text(error))

    def fork(self) -> Fork:
        """The run as it is now."""
        return Fork(
            self.lab.stores.state(),
            tuple(self.memo),
            tuple(self.memories),
            tuple(self.findings),
            tuple(sorted({*self.start.choices, *self.choices})),
            self.point,
            self.workers,
        )

    def mark_operation(self) -> None:
        """The client is about to ask something."""
        if self._is_recording and not self.living:
            self._operation = self.fork()

    def turn_key(self) -> tuple[object, ...]:
        """Equal where workers, stores, outside, client and time are."""
        if not self._is_recording:
            return ()
        workers = tuple((worker.number, worker.told) for worker in self.living)
        return (self.lab.stores.state().key, workers, len(self.memo), tuple(self.memories))

    def waiting_text(self) -> str:
        """Who waits, for the report of a run that does not end."""
        waiting = [f"worker {worker.number} ({worker.ask})" for worker in self.living]
        who = ", ".join(waiting) if waiting else "the client"
        return f"{who} waits after point {self.point}"

    def _lag(self, _key: bytes, count: int) -> int:
        if INCARNATION.get() is None:
            return 0
        nth = len(self._values)
        self._values.append(count)
        chosen = self._lags.get((self.point, nth))
        if chosen is None:
            chosen = self.policy.lag(self.point, nth, count)
            if chosen:
                self._choose(Choice(self.point, Do.STALE, chosen, nth))
        return min(chosen, count - 1)

    def pick(self, point: int, enabled: tuple[int, ...], default: int) -> int:
        """Whose turn it is; what the policy decides becomes a choice of the run."""
        chosen = self.policy.pick(point, enabled, default)
        if chosen != default:
            self._choose(Choice(point, Do.SWITCH, chosen))
        return chosen

    def _choose(self, choice: Choice) -> None:
        self.choices = (*self.choices, choice)

    # --- the two ends of a call ---

    async def before(self, call: Call) -> None:
        """Number the call, and do what was chosen for before it."""
        worker = INCARNATION.get()
        if worker is None:
            return
        if worker.stall is not None and not worker.stall.done():
            await asyncio.shield(worker.stall)
        if self.turns is not None and not worker.is_dead:
            await self.turns.wait(worker)
        if self.stopped is not None:
            # A worker whose calls never wait would not notice that its run is over.
            worker.die(self.lab.loop.wall_s)
        if worker.is_dead:
            raise WorkerKilled
        point = self.point = self.point + 1
        self._points[call.number] = point
        if point > self.lab.scenario.max_points:
            limit = self.lab.scenario.max_points
            text = f"{limit} calls were made and the run is not over; {self.waiting_text()}"
            self.stop(Stopped(Outcome.STUCK, text))
            worker.die(self.lab.loop.wall_s)
            raise WorkerKilled
        for late in self.late:
            if not late.has_landed:
                if 0 < late.at <= point:
                    await self._land(late)
                elif self._is_trying and await would_change(late.call, self.lab.stores):
                    self.trace.landings.add(point)
        self._note(point, worker, call)
        if call.kind == "tool":
            for place, invariant in enumerate(self.lab.scenario.must):
                acting = invariant.acted(self.memories[place], self.lab.view, call)
                self.memories[place] = await self._hold(place, acting)
        choice = self._acts.get(point)
        if choice is None and (choice := self.policy.act(point, call)) is not None:
            self._acts[point] = choice
            self._choose(choice)
        if choice is not None:
            await self._act_before(choice, worker, call)
        self._values = self.trace.points[point].values if self._is_recording else []

    def stop(self, stopped: Stopped) -> None:
        """The run ends here."""
        raise NotImplementedError

    def _note(self, point: int, worker: Incarnation, call: Call) -> None:
        if not self._is_recording:
            return
        state = self.lab.stores.state()
        info = PointInfo(point, worker.number, call, len(self.memo), self._operation, state)
        if self.is_alone:
            info.before = self.fork().killed(worker.answer)
        self.trace.points[point] = info

    async def _act_before(self, choice: Choice, worker: Incarnation, call: Call) -> None:
        if choice.do in (Do.BEFORE, Do.LATE):
            self._kill(worker, call, choice)
            if choice.do is Do.BEFORE:
                raise WorkerKilled
            loop = asyncio.get_running_loop()
            late = LateCall(choice.at, worker, call, loop.create_future(), loop.create_future())
            self.late.append(late)
            try:
                await late.released
            except asyncio.CancelledError:
                late.landed.set_result(None)
                raise
            self.tell("call", worker.number, f"{call_text(call)} (lands late)")
        elif choice.do is Do.DUP:
            self.tell("choice", worker.number, f"stalls before {call_text(call)}")
            worker.stall = asyncio.get_running_loop().create_future()
            worker.end()
            await asyncio.shield(worker.stall)
            self.tell("choice", worker.number, f"goes on with {call_text(call)}")
        elif choice.do is Do.EXPIRE:
            seconds = self.lab.scenario.lease_s
            self.tell("choice", worker.number, f"stalls for {seconds:g} s before {call_text(call)}")
            self.lab.loop.pass_time(seconds)

    def _kill(self, worker: Incarnation, call: Call, choice: Choice) -> None:
        text = f"dies {'after' if choice.do is Do.AFTER else 'before'} {call_text(call)}"
        self.tell("choice", worker.number, text, point=choice.point)
        worker.die(self.lab.loop.wall_s, is_cancelled=choice.do is not Do.LATE)

    async def after(self, call: Call, outcome: CallOutcome) -> None:
        """Look at what the call has done, and do what was chosen for after it."""
        worker = INCARNATION.get()
        if worker is None:
            return
        point = self._points.pop(call.number, 0)
        if worker.is_dead:
            for late in self.late:
                if late.worker is worker and late.released.done() and not late.has_landed:
                    await self._written(call, outcome)
                    late.landed.set_result(None)
            raise WorkerKilled
        await self._written(call, outcome)
        if self._is_told:
            self.tell("call", worker.number, call_text(call), outcome_text(outcome), point)
        if self._is_recording:
            if self.is_alone:
                self.trace.points[point].after = self.fork().killed(worker.answer)
            if self.turns is not None:
                worker.told = hash((worker.told, call_text(call), outcome_text(outcome, 10_000)))
        choice = self._acts.get(point)
        if choice is not None and choice.do is Do.AFTER:
            self._kill(worker, call, choice)
            raise WorkerKilled
        if choice is not None and choice.do is Do.ERROR_AFTER and outcome.error is None:
            error = lost_answer(call)
            self.tell("choice", worker.number, f"is told: {error}", point=point)
            worker.told = hash((worker.told, "error"))
            raise error
        if len(self.living) > 1:
            worker.source.reseed()

    async def _written(self, call: Call, outcome: CallOutcome) -> None:
        if outcome.error is not None or not may_write(call):
            return
        for place, invariant in enumerate(self.lab.scenario.must):
            looking = invariant.written(self.memories[place], self.lab.view)
            self.memories[place] = await self._hold(place, looking)

    # --- calls that land late ---

    async def _land(self, late: LateCall) -> None:
        if not late.released.done():
            late.released.set_result(None)
        await asyncio.shield(late.landed)

    async def _land_all(self) -> None:
        """Whatever the dead have sent has arrived."""
        for late in self.late:
            if not late.has_landed:
                await self._land(late)
