# mypy: ignore-errors
# ruff: noqa: BLE001
"""The document team in one worker: each agent does what there is for it when it is asked to.

It is written as users write workers. Who works asks a service outside first, which can hold its
answer back: there the worker can be lost in the middle of a subtask, or of a saga's step.
"""

from urllib.parse import urlsplit

from workers import Response, WorkerEntrypoint, fetch

from doc_team.api import answer_planner
from doc_team.goals import tend
from doc_team.judge import ScriptedJudge
from doc_team.shift import seat
from doc_team.working import _done, review
from edgestate.errors import VersionConflict
from edgestate.team import (
    D1Record,
    Done,
    SagaDefinition,
    Sagas,
    SagaStep,
    SagaStepFailed,
    history,
    kept,
    traced,
)

LEASE_S = 8.0


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        self.planner = await seat(self.env, "planner", "planner")
        what, _, rest = urlsplit(request.url).path.strip("/").partition("/")
        handler = getattr(self, f"on_{what}", None)
        if handler is None:
            return await answer_planner(request, self.env, self.planner)
        try:
            return Response.json(await handler(request, rest))
        except Exception as error:
            return Response.json({type(error).__name__: str(error)}, status=409)

    async def outside(self, action, key):
        path = "/holds" if action == "hold" else "/charges"
        return await (
            await fetch(
                self.env.TRAVEL_URL + path,
                method="POST",
                body="{}",
                headers={"idempotency-key": key, "content-type": "application/json"},
            )
        ).json()

    async def on_shift(self, request, agent):
        member = await seat(self.env, agent, "worker")
        done = []
        while (held := await member.board.claim(ttl_s=LEASE_S)) is not None:
            with traced(held.task.trace_id):
                await member.contexts.begin_cycle(member.id, held.cycle.context_id)

                async def work(held=held):
                    await self.outside("hold", f"{held.task.task_id} {held.task.attempt}")
                    return await _done(member, ScriptedJudge(), held, 0.0)

                value, summary = await kept(member.board, held, work)
                note = member.messages.sending(
                    "critic", "result", {"task_id": held.task.task_id}, correlation_id="c"
                )
                await member.board.complete(held, value, summary=summary, effects=[note])
            done.append([held.task.task_id, held.task.attempt])
        return done

    async def on_review(self, request, _rest):
        member = await seat(self.env, "critic", "critic")
        count = 0
        while await review(member, ScriptedJudge()):
            count += 1
        return count

    async def on_tend(self, request, _rest):
        count = 0
        while await tend(self.planner):
            count += 1
        return count

    async def on_saga(self, request, saga_id):
        asked = await request.json()
        sagas = Sagas(self.planner.desk, [self.trip(asked)])
        await sagas.start("trip", asked["trip"], saga_id=saga_id)
        status = await sagas.run(saga_id)
        return await self.shown(sagas, saga_id, status)

    def trip(self, asked):
        async def hold(call):
            return Done(await self.outside("hold", call.key))

        async def charge(call):
            if asked.get("fails"):
                raise SagaStepFailed("refused", "the card was refused")
            return Done({"charged": True})

        async def release(call):
            return Done({"released": call.forward})

        steps = (SagaStep("hold", hold, "release", release), SagaStep("charge", charge))
        return SagaDefinition("trip", steps, backoff_s=0.1, lease_s=LEASE_S)

    async def shown(self, sagas, saga_id, status):
        saga = await sagas.get(saga_id)
        steps = [[s.name, s.status, s.forward, s.attempts, s.result] for s in saga.steps]
        return {"status": status, "failure": saga.failure, "fence": saga.fence, "steps": steps}

    async def on_once(self, request, request_id):
        body = await request.json()

        async def work():
            return {"charged": body["amount"]}, ()

        return await self.planner.requests.once(request_id, "charge", body, work)

    async def on_facts(self, request, key):
        knowledge = self.planner.knowledge
        await knowledge.create(key, {"n": 1}, kind="norm", visibility="public")
        fact = await knowledge.get(key)
        told = [fact.version, await knowledge.update(fact, {"n": 2})]
        try:
            await knowledge.update(fact, {"n": 3})
        except VersionConflict as conflict:
            told.append(str(conflict))
        other = await seat(self.env, "worker-1", "worker")
        try:
            await other.knowledge.create(key, 1, kind="norm", visibility="restricted")
        except Exception as denied:
            told.append(f"{type(denied).__name__}: {denied}")
        return [*told, (await knowledge.get(key)).value]

    async def on_setting(self, request, name):
        settings = self.planner.settings
        told = [await settings.set(name, "one"), await settings.set(name, "two", version=1)]
        return [*told, (await settings.get(name)).value]

    async def on_history(self, request, _rest):
        changes = await history(D1Record(self.env.DB))
        return [[getattr(one, "task_id", None), str(type(one).__name__)] for one in changes]
