"""Messages and requests in the model."""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st
from hypothesis.stateful import precondition, rule
from tests.team.machine_board import GOAL
from tests.team.machine_goals import GoalRules
from tests.team.machine_world import Errors, Fate, agents, fates

from edgestate.errors import FenceLost
from edgestate.team import (
    AccessDenied,
    AlreadyConsumed,
    ContextConflictError,
    Cycle,
    Message,
    RecipientUnknown,
    RequestInProgress,
    RequestMismatch,
    TeamMember,
)
from edgestate.team.requests import Answered, RequestClaim

CLAIM_S = 20
requests = st.sampled_from([f"r{n}" for n in range(4)])


class Sent:
    """A message as the model knows it."""

    def __init__(self, source: str, to: str, content: object) -> None:
        self.source, self.to, self.content = source, to, content
        self.consumed: set[str] = set()

    def is_for(self, name: str) -> bool:
        return self.to == name or (self.to == "*" and self.source != name)


class TalkRules(GoalRules):
    """What agents tell each other, and what they do once."""

    def begin_talk(self) -> None:
        zero = {"context_id": f"task:{GOAL}:ctx:1", "task_id": GOAL}
        self.sent = [Sent("planner", "*", zero)]
        self.bodies: dict[str, tuple[str, int]] = {}
        self.known: dict[tuple[int, str], Message] = {}
        self.asked: dict[str, dict[str, Any]] = {}
        self.claims: list[tuple[str, RequestClaim]] = []
        self.decided: list[str] = []
        self.sagas: list[str] = []

    @rule(
        source=agents,
        to=st.sampled_from(("planner", "worker-1", "critic", "*", "nobody")),
        request=requests,
        step=st.sampled_from((None, None, 0, -1)),
        fate=fates,
    )
    def send(self, source: str, to: str, request: str, step: int | None, fate: Fate) -> None:
        cycle = None if step is None else Cycle(GOAL, max(self.newest + step, 1), "")
        body = f"{source} {to}"
        refused: Errors | None = None
        if request in self.bodies:
            refused = None if self.bodies[request][0] == body else (RequestMismatch,)
        elif cycle is not None and cycle.version != self.newest:
            refused = (ContextConflictError,)
        elif to == "nobody":
            refused = (RecipientUnknown,)

        outcome = self.act(
            source,
            lambda m: m.messages.send(to, "note", request, request_id=request, cycle=cycle),
            fate,
        )

        if self.happened(outcome, refused):
            if request not in self.bodies:
                self.sent.append(Sent(source, to, request))
                self.bodies[request] = (body, len(self.sent))
            assert outcome.value == self.bodies[request][1]

    @rule(name=agents, after=st.integers(0, 4), fate=fates)
    def poll(self, name: str, after: int, fate: Fate) -> None:
        unread = [
            (seq, sent.content)
            for seq, sent in enumerate(self.sent, 1)
            if seq > after and sent.is_for(name) and name not in sent.consumed
        ]

        got = self.act(name, lambda m: m.messages.poll(after=after, limit=100), fate).value

        assert [(message.seq, message.content) for message in got] == unread
        self.known |= {(message.seq, name): message for message in got}

    @precondition(lambda self: self.known)
    @rule(
        data=st.data(),
        effect=st.sampled_from(("none", "note", "to nobody", "old")),
        is_own=st.sampled_from((True, True, True, False)),
        fate=fates,
    )
    def consume(self, data: st.DataObject, effect: str, is_own: bool, fate: Fate) -> None:
        seq, name = data.draw(st.sampled_from(sorted(self.known)))
        message = self.known[seq, name]
        who = name if is_own else data.draw(agents)
        version = max(self.newest - 1, 1)
        refused: Errors | None = None
        if effect == "old" and version != self.newest:
            refused = (ContextConflictError,)
        elif (seq, who) not in self.known:
            # Nothing was delivered to that agent.
            refused = (AccessDenied,)
        elif who in self.sent[seq - 1].consumed:
            refused = (AlreadyConsumed,)
        elif effect == "to nobody":
            refused = (RecipientUnknown,)

        async def doing(member: TeamMember) -> None:
            to = "nobody" if effect == "to nobody" else "critic"
            cycle = Cycle(GOAL, version, "") if effect == "old" else None
            note = member.messages.sending(
                to, "effect", seq, cycle=cycle, message_id=f"effect {seq} {who}"
            )
            await member.messages.consume(message, *(() if effect == "none" else (note,)))

        outcome = self.act(who, doing, fate, again=(AlreadyConsumed,))

        if self.happened(outcome, refused):
            self.sent[seq - 1].consumed.add(who)
            if effect != "none":
                self.sent.append(Sent(who, "critic", seq))

    @rule(data=st.data(), name=agents, fate=fates)
    def correct(self, data: st.DataObject, name: str, fate: Fate) -> None:
        if not self.known or len(self.sent) > 25:
            return
        message = self.known[data.draw(st.sampled_from(sorted(self.known)))]
        request = f"correct {len(self.sent)} {self.denied}"

        outcome = self.act(
            name, lambda m: m.messages.correct(message, "right", request_id=request), fate
        )

        old = self.sent[message.seq - 1]
        if self.happened(outcome, None if old.source == name else (AccessDenied,)):
            self.sent.append(Sent(old.source, old.to, "right"))
            assert outcome.value == len(self.sent)

    @rule(name=agents, fate=fates)
    def decide(self, name: str, fate: Fate) -> None:
        request = f"decision {len(self.decided)}"

        outcome = self.act(
            name,
            lambda m: m.decisions.record(GOAL, "noted", name, request_id=request),
            fate,
        )

        assert self.happened(outcome, None)
        self.decided.append("noted")

    # --- requests ---

    @rule(
        name=agents,
        request=st.sampled_from(("q0", "q1")),
        body=st.sampled_from((0, 0, 0, 1)),
        fate=fates,
    )
    def claim_request(self, name: str, request: str, body: int, fate: Fate) -> None:
        asked = self.asked.get(request)
        refused: Errors | None = None
        if asked is not None and asked["body"] != body:
            refused = (RequestMismatch,)
        elif asked is not None and "answer" not in asked and asked["ends"] > self.now:
            refused = (RequestInProgress,)

        outcome = self.act(
            name,
            lambda m: m.requests.claim(request, "sum", body, ttl_s=CLAIM_S),
            Fate(fate.dies_at, fate.is_after),
            again=(RequestInProgress,),
        )

        if not self.happened(outcome, refused):
            return
        if asked is not None and "answer" in asked:
            assert outcome.value == Answered(asked["answer"])
            return
        fence = 1 if asked is None else asked["fence"] + 1
        self.asked[request] = {"body": body, "fence": fence, "ends": self.now + CLAIM_S}
        if outcome.error is None:
            assert outcome.value == RequestClaim(request, fence)
            self.claims.append((name, outcome.value))

    @precondition(lambda self: self.claims)
    @rule(data=st.data(), fate=fates, is_old=st.booleans())
    def finish_request(self, data: st.DataObject, fate: Fate, is_old: bool) -> None:
        name, claim = data.draw(st.sampled_from(self.claims))
        asked = self.asked[claim.request_id]
        version = max(self.newest - 1, 1) if is_old else self.newest
        is_ours = asked["fence"] == claim.fence
        is_first = is_ours and "answer" not in asked
        refused: Errors | None = None if is_ours else (FenceLost, ContextConflictError)
        if version != self.newest:
            refused = (ContextConflictError,)

        async def doing(member: TeamMember) -> None:
            note = member.messages.sending(
                "critic",
                "sum",
                claim.fence,
                cycle=Cycle(GOAL, version, ""),
                message_id=f"sum {claim.request_id} {claim.fence}",
            )
            await member.requests.finish(claim, claim.fence, note)

        outcome = self.act(name, doing, fate)

        if self.happened(outcome, refused) and is_first:
            asked["answer"] = claim.fence
            self.sent.append(Sent(name, "critic", claim.fence))
