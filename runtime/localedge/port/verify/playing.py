"""A plan on one side, from its first step to its last, and what is stored then."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import dataclass, field
from typing import Any, Final

import httpx

from localedge.errors import Exit, OperatorError
from localedge.port.verify.answers import LATE, OUTCOME, Answer, Outgoing, Side
from localedge.port.verify.canon import Canon, Patterns
from localedge.port.verify.differences import Seen, body_text, seen
from localedge.port.verify.plan import Call, Cron, Plan, Restart, Send, Step
from localedge.port.verify.stored import State

CRASHED: Final = "crashed"
_NAME: Final = re.compile(r"\$\{(\w+)\}")
_POLL_S: Final = 0.05
_CALL_S: Final = 60.0


@dataclass(slots=True)
class Played:
    """What one side did: an entry per step; fewer when it did not answer in time."""

    canon: Canon
    steps: list[Seen] = field(default_factory=list)
    state: State | None = None

    @property
    def is_late(self) -> bool:
        """Whether the last step had no answer in time."""
        return bool(self.steps) and self.steps[-1].status == LATE


async def play(side: Side, plan: Plan, patterns: Patterns, origin: str) -> Played:
    """What `side` makes of `plan`; nothing is sent after a step without an answer in time.

    Shape: `origin` is what the worker is told that its address is.
    """
    player = _Player(side, Canon(patterns), Canon(patterns), origin)
    played = Played(player.canon)
    for step in plan.steps:
        played.steps.append(await player.do(step))
        if played.is_late:
            return played
    played.state = await side.state()
    return played


class _Player:
    """One side in the middle of a plan: what it has shown, and what is kept of it."""

    def __init__(self, side: Side, canon: Canon, recorded: Canon, origin: str) -> None:
        self.canon = canon
        self._side = side
        self._recorded = recorded
        self._origin = origin
        self._kept: dict[str, str] = {}

    async def do(self, step: Step) -> Seen:
        """How `step` went."""
        match step:
            case Send():
                return await self._sent(step)
            case Cron():
                try:
                    return Seen(await self._side.cron(step.expression))
                except TimeoutError:
                    return Seen(LATE)
            case Restart():
                await self._side.restart()
                return Seen("done")
            case Call():
                return await _called(step)

    async def _sent(self, step: Send) -> Seen:
        outgoing = self._outgoing(step)
        # Ids that the client chose are known from here on, on both sides alike.
        self.canon.text(f"{outgoing.target}\n{body_text(outgoing.body)}")
        if step.crash_when is not None:
            return await self._crashed(outgoing, step.crash_when)
        try:
            answer = await self._side.send(outgoing)
        except TimeoutError:
            return Seen(LATE)
        found = seen(answer, self.canon, self._origin)
        self._keep(step, answer)
        if step.recorded is not None:
            then = step.recorded
            self._recorded.text(f"{step.target}\n{body_text(step.body)}")
            outcome = dict(then.headers).get(OUTCOME)
            recorded = Answer(then.status, then.headers, then.body, outcome)
            seen(recorded, self._recorded, self._origin)
        return found

    async def _crashed(self, outgoing: Outgoing, url: str) -> Seen:
        """The worker dies in the middle of the request, once `url` answers."""
        async with asyncio.TaskGroup() as group:
            sending = group.create_task(_quietly(self._side, outgoing))
            try:
                await _is_ready(url, sending)
                if sending.done():
                    return Seen("answered before the crash")
                await self._side.restart()
            except TimeoutError:
                return Seen("not crashed in time")
            finally:
                sending.cancel()
        return Seen(CRASHED)

    def _outgoing(self, step: Send) -> Outgoing:
        def fill(text: str) -> str:
            text = self.canon.filled(text, self._recorded) if step.recorded else text
            return _NAME.sub(lambda name: self._kept.get(name[1], name[0]), text)

        headers = [(name, fill(value)) for name, value in step.headers if name.lower() != "host"]
        headers.insert(0, ("host", self._origin.partition("//")[2]))
        try:
            body = fill(step.body.decode()).encode()
        except UnicodeDecodeError:
            body = step.body
        return Outgoing(step.method, fill(step.target), tuple(headers), body)

    def _keep(self, step: Send, answer: Answer) -> None:
        for name, place in step.keep.items():
            try:
                self._kept[name] = _at(json.loads(answer.body), place)
            except (ValueError, LookupError, TypeError):
                # Later requests show it: they go out with the name as it stands.
                self._kept.pop(name, None)


async def _quietly(side: Side, outgoing: Outgoing) -> None:
    try:
        await side.send(outgoing)
    except TimeoutError:
        return


async def _is_ready(url: str, sending: asyncio.Task[None]) -> None:
    """`url` has answered with 2xx, or nothing is being sent any more. Errors: TimeoutError."""
    async with asyncio.timeout(_CALL_S), httpx.AsyncClient(trust_env=False, timeout=None) as client:
        while not sending.done():
            try:
                if (await client.get(url)).is_success:
                    return
            except httpx.TransportError:
                pass
            await asyncio.sleep(_POLL_S)


async def _called(step: Call) -> Seen:
    """How the call of something outside went; both sides make it."""
    try:
        async with httpx.AsyncClient(trust_env=False, timeout=_CALL_S) as client:
            headers = {"content-type": "application/json"}
            answer = await client.request(
                step.method, step.url, content=step.body or None, headers=headers
            )
    except httpx.HTTPError as error:
        raise OperatorError(
            "verify/call-failed",
            f"{step.title}: {error}.",
            "Start what the scenario calls outside, or correct the address.",
            exit=Exit.UNREACHABLE,
        ) from error
    return Seen(str(answer.status_code))


def _at(value: Any, place: str) -> str:
    for part in place.split("."):
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value if isinstance(value, str) else json.dumps(value)


def check_names(plan: Plan) -> None:
    """Errors: OperatorError (exit 2) for a `${name}` that no step before it keeps."""
    kept: set[str] = set()
    for step in plan.steps:
        if not isinstance(step, Send):
            continue
        texts = [step.target, body_text(step.body), *(value for _, value in step.headers)]
        for name in {name for text in texts for name in _NAME.findall(text)}:
            if name not in kept:
                raise OperatorError(
                    "verify/unknown-name",
                    f"{step.title}: no step before it keeps {name!r}.",
                    f'Add keep = {{ {name} = "place.in.the.answer" }} to the one that gives it.',
                    exit=Exit.USAGE,
                )
        kept |= set(step.keep)
