"""Kill a worker at each of its calls, once and twice, and see what became of its task."""

from __future__ import annotations

from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from functools import partial
from typing import Final

from localedge.d1.engine import Query
from localedge.d1.statements import parse
from localedge.explore.death import (
    Faults,
    Incarnation,
    LateCall,
    Mode,
    Trace,
    WorkerKilled,
    bury,
)
from localedge.explore.scenario import Answer, Scenario
from localedge.explore.world import State, World
from localedge.probe import Call, Probe

PATIENCE: Final = 12
"""After so many requests for one task it is stuck."""
_ANY_TABLE: Final = Query(parse("CREATE TABLE IF NOT EXISTS explored_world (id)"))


@dataclass(slots=True)
class Ending:
    """What one run came to.

    Shape: `label` names its faults; `twice` the effects that happened more than once; `rerun`
    the finished steps that ran again; `lost` what was stored once and is gone, or was told and
    is not so.
    """

    label: str
    asked: int = 0
    repeats: int = 0
    twice: dict[str, int] = field(default_factory=dict)
    rerun: set[int] = field(default_factory=set)
    lost: list[str] = field(default_factory=list)
    is_stuck: bool = False
    why: str = ""

    @property
    def is_clean(self) -> bool:
        """Whether nothing that must not happen did."""
        return not (self.twice or self.rerun or self.lost or self.is_stuck)


class Explorer:
    """Runs one scenario in one world, from any state, under any faults."""

    def __init__(self, scenario: Scenario, world: World) -> None:
        self._scenario = scenario
        self._world = world

    async def begin(self) -> State:
        """The world before the first request."""
        # A database without any table cannot be copied.
        await self._world.engine.run([_ANY_TABLE])
        await self._scenario.prepare(self._world)
        return self._world.state()

    async def run(
        self,
        start: State,
        faults: Faults,
        *,
        label: str,
        is_after_death: bool = False,
        is_recording: bool = False,
        late: LateCall | None = None,
    ) -> tuple[Ending, Trace]:
        """How the task ends when its client goes on from `start` and `faults` happen."""
        world, scenario = self._world, self._scenario
        world.put_back(start)
        ending, trace = Ending(label), Trace(is_recording)
        kept = (await scenario.stored(world)).successes
        if is_after_death:
            world.advance(scenario.lease_s)
        answer: Answer | None = None
        for _ in range(PATIENCE):
            answer = await self._request(faults, trace, ending, answer, late)
            stored = await scenario.stored(world)
            if not kept <= stored.successes:
                ending.lost.append(f"steps {sorted(kept - stored.successes)}")
            kept = stored.successes
            if answer is Answer.DONE:
                break
        stored = await scenario.stored(world)
        ending.is_stuck = answer is not Answer.DONE
        if answer is Answer.DONE and not stored.is_completed:
            ending.lost.append("the completion")
        if answer is Answer.DONE and len(stored.successes) != scenario.steps:
            ending.lost.append("a result")
        ending.twice, ending.repeats = world.effects.twice(), world.effects.repeats
        return ending, trace

    async def _request(
        self,
        faults: Faults,
        trace: Trace,
        ending: Ending,
        last: Answer | None,
        late: LateCall | None,
    ) -> Answer | None:
        """One request to a new worker (or a person's answer); None if the client heard nothing."""
        world, scenario = self._world, self._scenario
        probe = Probe()

        async def watch(call: Call) -> None:
            step = scenario.step_of(call)
            if any(index == step for index, _ in (await scenario.stored(world)).successes):
                ending.rerun.add(step)

        worker = Incarnation(world, faults, trace, watch=watch, late=late)
        probe.attach(worker)
        env = world.env(probe)
        try:
            if last is Answer.ASKED:
                await scenario.decide(env, world)
                return None
            answer = await scenario.request(env, probe, world)
        except WorkerKilled:
            await bury()
            world.advance(scenario.lease_s)
            return last
        except Exception as error:  # noqa: BLE001  (the request's boundary)
            # The worker's own error is an answer with status 500: the client asks again.
            ending.why = f"{type(error).__name__}: {error}"
            world.advance(scenario.lease_s)
            return None
        if answer is Answer.ASKED:
            ending.asked += 1
        elif answer is Answer.BUSY:
            world.advance(scenario.lease_s)
        return answer

    # --- what is enumerated ---

    async def singles(self, start: State) -> AsyncIterator[tuple[Ending, Trace, State, Faults]]:
        """Every point of the undisturbed run in every mode; a trace to go on from with each."""
        reference, trace = await self.run(start, {}, label="undisturbed", is_recording=True)
        yield reference, trace, start, {}
        for point in sorted(trace.calls):
            for mode in (Mode.BEFORE, Mode.AFTER):
                found = trace.before if mode is Mode.BEFORE else trace.after
                if point not in found:
                    continue
                label = f"{point} {mode}"
                ending, tail = await self.run(
                    found[point], {}, label=label, is_after_death=True, is_recording=True
                )
                yield ending, tail, found[point], {}
            faults = {point: Mode.ERROR_AFTER}
            label = f"{point} {Mode.ERROR_AFTER}"
            ending, tail = await self.run(start, faults, label=label, is_recording=True)
            yield ending, tail, start, faults

    async def seconds(
        self, first: Ending, trace: Trace, start: State, faults: Faults
    ) -> AsyncIterator[Ending]:
        """Every second fault after `first`, each distinct state of the world once."""
        last = start
        begun = max(faults, default=start.point)
        for point in sorted(p for p in trace.calls if p > begun):
            state = trace.after.get(point)
            if state is not None and not state.is_same_as(last):
                last = state
                label = f"{first.label}, {point} {Mode.AFTER}"
                ending, _ = await self.run(state, {}, label=label, is_after_death=True)
                yield ending
            again = {**faults, point: Mode.ERROR_AFTER}
            label = f"{first.label}, {point} {Mode.ERROR_AFTER}"
            is_tail = not faults and start.point > 0
            ending, _ = await self.run(start, again, label=label, is_after_death=is_tail)
            yield ending

    async def late(self, start: State, *, share: int = 0, shares: int = 1) -> AsyncIterator[Ending]:
        """Each write of a dead worker, carried out at each point of its successor.

        Shape: of the writes, the part number `share` of `shares`.
        """
        committed = partial(self._scenario.committed, self._world)
        _, trace = await self.run(start, {}, label="undisturbed", is_recording=True)
        for point, call in sorted(trace.calls.items()):
            if call.kind != "d1" or point not in trace.before or point % shares != share:
                continue
            begun = trace.before[point]
            self._world.put_back(begun)
            fence, _ = await committed()
            _, tail = await self.run(begun, {}, label="", is_after_death=True)
            for lands_at in sorted(tail.calls):
                label = f"{point} lands at {lands_at}"
                late = LateCall(lands_at, call, committed, fence)
                ending, _ = await self.run(begun, {}, label=label, is_after_death=True, late=late)
                if late.has_torn:
                    ending.lost.append("a write under an old fence was taken")
                yield ending
