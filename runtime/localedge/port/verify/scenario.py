"""A scenario: steps written by hand in a TOML file."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from localedge.errors import Exit, OperatorError
from localedge.port.verify.plan import Call, Cron, Plan, Restart, Send, Step
from localedge.port.verify.playing import check_names


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScenarioStep(_Frozen):
    """One step: `request` ("METHOD /path"), `call` ("METHOD URL"), `cron`, or `restart`.

    Shape: `json` and `text` are the body of a request or call; the rest is for requests.
    """

    request: str | None = None
    call: str | None = None
    cron: str | None = None
    restart: bool = False
    headers: dict[str, str] = {}
    json_body: Any = None
    text: str | None = None
    keep: dict[str, str] = {}
    crash_when: str | None = None

    @model_validator(mode="after")
    def is_one_thing(self) -> Self:
        """Errors: ValueError when it is none of the four, or several, or has what it cannot."""
        kinds = [self.request is not None, self.call is not None, self.cron is not None]
        if [*kinds, self.restart].count(True) != 1:
            raise ValueError("a step has one of request, call, cron, restart = true")
        has_body = self.text is not None or self.json_body is not None
        if self.request is None and (self.headers or self.keep or self.crash_when):
            raise ValueError("only a request has headers, keep, crash_when")
        if has_body and self.request is None and self.call is None:
            raise ValueError("only a request or a call has json, text")
        if self.json_body is not None and self.text is not None:
            raise ValueError("a body is json or text")
        for said, starts in ((self.request, ("/",)), (self.call, ("http://", "https://"))):
            method, _, target = (said or f"GET {starts[0]}").partition(" ")
            if not method.isalpha() or not target.startswith(starts):
                raise ValueError('a request is "METHOD /path", a call "METHOD http://…"')
        return self

    def step(self) -> Step:
        """The step of the plan."""
        if self.cron is not None:
            return Cron(self.cron)
        if self.restart:
            return Restart()
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = (self.text or "").encode()
        if self.json_body is not None:
            body = json.dumps(self.json_body).encode()
            headers.setdefault("content-type", "application/json")
        method, _, target = (self.call or self.request or "").partition(" ")
        if self.call is not None:
            return Call(method.upper(), target, body)
        return Send(
            method.upper(),
            target,
            tuple(headers.items()),
            body,
            keep=self.keep,
            crash_when=self.crash_when,
        )


class Scenario(_Frozen):
    """The file: `match` names patterns of values that must differ."""

    match: dict[str, str] = {}
    step: list[ScenarioStep]


def plan_of_scenario(text: str, file: Path) -> Plan:
    """The plan that the scenario `text` of `file` describes.

    Errors: OperatorError (exit 2) that says what is wrong with it.
    """
    try:
        document = tomllib.loads(text)
        for one in document.get("step", []):
            if "json" in one:
                one["json_body"] = one.pop("json")
        scenario = Scenario.model_validate(document)
    except ValidationError as error:
        first = error.errors()[0]
        place = ".".join(map(str, first["loc"])).replace("json_body", "json")
        said = first["msg"].removeprefix("Value error, ")
        raise _refused(file, f"{place}: {said}") from error
    except (tomllib.TOMLDecodeError, TypeError, AttributeError) as error:
        raise _refused(file, str(error)) from error
    plan = Plan(tuple(one.step() for one in scenario.step), scenario.match)
    check_names(plan)
    return plan


def _refused(file: Path, said: str) -> OperatorError:
    return OperatorError(
        "verify/bad-scenario",
        f"{file}: {said}.",
        'A step is [[step]] with request = "GET /", call, cron or restart = true.',
        exit=Exit.USAGE,
    )
