"""A scenario: steps written by hand in a TOML file."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator

from localedge.errors import Exit, OperatorError
from localedge.port.verify.comparing import check_names
from localedge.port.verify.plan import Cron, Plan, Restart, Send, Step


class _Frozen(BaseModel):
    model_config = ConfigDict(frozen=True, extra="forbid")


class ScenarioStep(_Frozen):
    """One step: `request` ("METHOD /path"), `cron`, or `restart`; only a request has the rest."""

    request: str | None = None
    headers: dict[str, str] = {}
    json_body: Any = None
    text: str | None = None
    keep: dict[str, str] = {}
    cron: str | None = None
    restart: bool = False

    @model_validator(mode="after")
    def is_one_thing(self) -> Self:
        """Errors: ValueError when it is none of the three, or several."""
        kinds = [self.request is not None, self.cron is not None, self.restart]
        if kinds.count(True) != 1:
            raise ValueError("a step has one of request, cron, restart = true")
        if self.request is not None:
            method, _, target = self.request.partition(" ")
            if not method.isalpha() or not target.startswith("/"):
                raise ValueError('a request is "METHOD /path", such as "GET /"')
            if self.json_body is not None and self.text is not None:
                raise ValueError("a request has one of json, text")
        elif self.headers or self.keep or self.text is not None or self.json_body is not None:
            raise ValueError("only a request has headers, json, text, keep")
        return self

    def step(self) -> Step:
        """The step of the plan."""
        if self.cron is not None:
            return Cron(self.cron)
        if self.request is None:
            return Restart()
        method, _, target = self.request.partition(" ")
        headers = {name.lower(): value for name, value in self.headers.items()}
        body = (self.text or "").encode()
        if self.json_body is not None:
            body = json.dumps(self.json_body).encode()
            headers.setdefault("content-type", "application/json")
        return Send(method.upper(), target, tuple(headers.items()), body, keep=self.keep)


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
        'A step is [[step]] with request = "GET /", cron = "* * * * *" or restart = true.',
        exit=Exit.USAGE,
    )
