"""One run on real stores in a process of its own, which may kill itself at a point."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from collections.abc import Callable, Mapping
from contextlib import AsyncExitStack
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Final

from localedge import clock
from localedge.binding import EnvWrapper
from localedge.d1.database import D1Database
from localedge.d1.sqlite import open_engine
from localedge.explore.acting import ACTING
from localedge.explore.answers import KILLED, Answer, Ask, Memo, memo_of
from localedge.explore.choices import Choice, Choices, Do
from localedge.explore.client import Client, GaveUp
from localedge.explore.deployment import Deployment
from localedge.explore.holds import Invariant
from localedge.explore.incarnation import INCARNATION, Incarnation, task_factory
from localedge.explore.mistakes import mistake_text, unmet_text
from localedge.explore.outcome import Broken, Finding, Outcome, Verdict
from localedge.explore.outside import Effect, Outside
from localedge.explore.scenario import Scenario
from localedge.explore.stores import Stores, View
from localedge.isolate.moved_clock import MovedClock
from localedge.kv import redis
from localedge.kv.memory import MemoryStore
from localedge.kv.namespace import KvNamespace
from localedge.kv.store import Entry, Store
from localedge.probe import Call, Observer, Probe
from localedge.probe import Outcome as CallOutcome

_SLOWER: Final = 3.0
"""Real stores may take so many times longer than those in memory."""
_PAGE: Final = 1000
Tell = Callable[[dict[str, Any]], None]


@dataclass(frozen=True, slots=True)
class Case:
    """One death: its choice (None: nobody dies), and where the stores of its run are."""

    choice: Choice | None
    folder: Path
    databases: dict[str, Path]
    kv_url: str | None
    namespaces: dict[str, str] = field(default_factory=dict)
    values: dict[str, Any] = field(default_factory=dict)

    @property
    def effects(self) -> Path:
        """Where the outside writes what happened, whoever is killed."""
        return self.folder / "effects.jsonl"


class _Killer(Observer):
    """Kills its own process at a point of the run."""

    def __init__(self, choice: Choice | None) -> None:
        self._choice = choice
        self._points: dict[int, int] = {}
        self.point = 0

    async def before(self, call: Call) -> None:
        """Count the call, and die before it if that was chosen."""
        if INCARNATION.get() is None:
            return
        self.point += 1
        self._points[call.number] = self.point
        self._meet(self.point, Do.BEFORE)

    async def after(self, call: Call, outcome: CallOutcome) -> None:
        """Die after the call if that was chosen."""
        self._meet(self._points.pop(call.number, 0), Do.AFTER)

    def _meet(self, point: int, mode: Do) -> None:
        # Differs: a kill here also ends the statement under way; the platform may carry it out.
        if self._choice is not None and (point, mode) == (self._choice.point, self._choice.do):
            os.kill(os.getpid(), signal.SIGKILL)


class _Told(list[Memo]):
    """The ends of a client's operations; each is told to whoever will go on."""

    def __init__(self, tell: Tell) -> None:
        super().__init__()
        self._tell = tell

    def append(self, memo: Memo) -> None:
        """One more end."""
        super().append(memo)
        answers = [asdict_of(answer) for answer in memo.answers]
        self._tell({"answers": answers, "value": memo.value})


class RealRun:
    """A client and its workers in this process, on stores that outlive it.

    Shape: `memo` has the ends of the operations that another process has played before.
    """

    def __init__(self, scenario: Scenario, deployment: Deployment, case: Case, tell: Tell) -> None:
        self._scenario = scenario
        self._deployment = deployment
        self._case = case
        self._tell = tell
        self._workers = 0
        self._moved = MovedClock()
        self._offset_s = 0.0
        self.memo: list[Memo] = _Told(tell)
        self.asked = 0
        self.probe = Probe()
        self.killer = _Killer(case.choice)
        self.probe.attach(self.killer)
        self.outside = Outside(scenario.service, self._moment, self._write)
        self.outside.on_mistake = self._blame
        self._findings: list[Finding] = []
        self._spaces: dict[str, Store] = {}
        self._values: dict[str, Any] = dict(case.values)

    # --- what a client needs of its run ---

    async def perform(self, asks: tuple[Ask, ...]) -> tuple[Answer, ...]:
        """The answers to `asks`, which are sent at once."""
        return tuple(await asyncio.gather(*(self._serve(ask) for ask in asks)))

    async def _serve(self, ask: Ask) -> Answer:
        self._workers += 1
        worker = Incarnation(self._workers, ask, 0)

        async def serve() -> Answer:
            INCARNATION.set(worker)
            ACTING.set(self)
            answer = await self._deployment.serve(worker)
            if worker.event.context.has_tasks():
                await worker.event.context.drain(30.0)
            return answer

        answer = await asyncio.ensure_future(serve())
        await worker.bury()
        return answer

    def pass_time(self, seconds: float) -> None:
        """It is `seconds` later."""
        self._offset_s += seconds
        self._moved.move(self._offset_s)
        self._tell({"slept_s": seconds})

    def now_s(self) -> float:
        """Seconds since the epoch."""
        return clock.now()

    def _moment(self) -> tuple[int, float]:
        return self._workers, clock.now()

    def _write(self, effect: Effect | None) -> None:
        # The kernel has the line when this returns, whoever is killed.
        line = {"resent": True} if effect is None else asdict(effect)
        with self._case.effects.open("a", encoding="utf-8") as file:
            file.write(json.dumps(line) + "\n")

    def recall(self, told: list[dict[str, Any]]) -> None:
        """Go on where the process that told this was killed."""
        for one in told:
            self._offset_s += one.get("slept_s", 0.0)
            if "answers" in one:
                answers = [answer_of(answer) for answer in one["answers"]]
                self.memo.append(memo_of(*answers, value=one["value"]))
        self.memo.append(memo_of(KILLED))
        self._moved.move(self._offset_s)
        if self._case.effects.exists():
            lines = [json.loads(x) for x in self._case.effects.read_text("utf-8").splitlines()]
            self.outside.happened = tuple(Effect(**x) for x in lines if "name" in x)
            self.outside.resent = sum("resent" in x for x in lines)

    # --- from the stores' opening to the verdict ---

    async def play(self, entries: Mapping[str, Mapping[bytes, Entry]]) -> Verdict:
        """What the run comes to; `entries` are what its namespaces begin with."""
        asyncio.get_running_loop().set_task_factory(task_factory)
        async with AsyncExitStack() as stack:
            stores = await self._open(stack)
            host = self._deployment.host
            host.env = EnvWrapper(self._values, self.probe)
            host.probe = self.probe
            host.transport = self.outside
            for name, found in entries.items():
                for key, entry in found.items():
                    await self._spaces[name].put(key, entry)
            await self._client()
            view = View(stores, EnvWrapper(self._values, Probe()), self.outside)
            for invariant in self._scenario.must:
                await self._judge(invariant, view, stores)
        choices: Choices = (self._case.choice,) if self._case.choice else ()
        point = self.killer.point
        return Verdict(choices, tuple(self._findings), self.asked, self.outside.resent, point)

    async def _open(self, stack: AsyncExitStack) -> Stores:
        databases: dict[str, Any] = {}
        for name, path in self._case.databases.items():
            databases[name] = await stack.enter_async_context(open_engine(path))
        copies: dict[str, MemoryStore] = {}
        if self._case.kv_url is not None and self._case.namespaces:
            connection = await stack.enter_async_context(redis.connect(self._case.kv_url))
            for name, space in self._case.namespaces.items():
                self._spaces[name] = connection.store(space)
                self._values[name] = KvNamespace(self._spaces[name])
                copies[name] = MemoryStore()
        self._values |= {name: D1Database(engine) for name, engine in databases.items()}
        return Stores(databases, copies, self.outside, clock.now, lambda _s: None)

    async def _client(self) -> None:
        patience_s = _SLOWER * self._scenario.patience_s
        try:
            async with asyncio.timeout(patience_s):
                await self._scenario.client(Client(self._scenario, self))
        except GaveUp as gave_up:
            self._find(Outcome.STUCK, str(gave_up))
        except TimeoutError:
            self._find(Outcome.STUCK, f"the run did not end in {patience_s:g} s")
        except Broken as broken:
            self._find(broken.outcome, broken.text)
        except AssertionError as error:
            self._find(Outcome.DIVERGED, unmet_text(error))
        except Exception as error:  # noqa: BLE001  (the boundary of the scenario's code)
            self._blame(error)

    async def _judge(self, invariant: Invariant, view: View, stores: Stores) -> None:
        for name, store in self._spaces.items():
            page = await store.page(prefix=b"", after=b"", limit=_PAGE)
            for key in page.keys:
                entry = (await store.get(key.name, cache_ttl_s=60)).entry
                if entry is not None:
                    await stores.namespaces[name].put(key.name, entry)
        try:
            await invariant.ended(invariant.begin(), view)
        except Broken as broken:
            self._find(broken.outcome, broken.text)
        except AssertionError as error:
            self._find(Outcome.DIVERGED, unmet_text(error))
        except Exception as error:  # noqa: BLE001  (the boundary of the scenario's code)
            self._blame(error)

    def _blame(self, error: Exception) -> None:
        self._find(Outcome.SCENARIO, mistake_text(error))

    def _find(self, outcome: Outcome, text: str) -> None:
        self._findings.append(Finding(outcome, text, self.killer.point))


def asdict_of(answer: Answer) -> dict[str, Any]:
    """`answer` as JSON."""
    return {
        "status": answer.status,
        "headers": list(answer.headers),
        "body": answer.body.decode("latin-1"),
        "value": answer.value,
        "error": answer.error,
        "is_killed": answer.is_killed,
    }


def answer_of(found: dict[str, Any]) -> Answer:
    """What `asdict_of` made, as it was."""
    headers = tuple((name, value) for name, value in found["headers"])
    fields = {**found, "headers": headers, "body": found["body"].encode("latin-1")}
    return Answer(**fields)
