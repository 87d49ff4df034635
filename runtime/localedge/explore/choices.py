"""What is chosen in a run: where a worker dies, whose turn it is, which old value a read gets.

A run is a function of its scenario, its seed and its choices; as JSON they reproduce it anywhere.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from localedge.errors import Exit, OperatorError


class Do(StrEnum):
    """What happens at a point.

    Shape: `BEFORE`: the worker dies and the call was not made; `AFTER`: the call was made and the
    worker died before it knew; `ERROR_AFTER`: the call was made and the worker is told that it
    failed; `LATE`: the worker dies, and its call is carried out when others are at point `at`,
    or, where that is 0, when all is over;
    `DUP`: the worker stalls, the client sends its request again, and the first one goes on once
    that is answered; `EXPIRE`: the worker stalls until every lease is over, and goes on;
    `SWITCH`: the next turn is worker `at`'s; `STALE`: a KV read gets the key's value number `at`,
    counted from the newest, which is 0.
    """

    BEFORE = "before"
    AFTER = "after"
    ERROR_AFTER = "error-after"
    LATE = "late"
    DUP = "dup"
    EXPIRE = "expire"
    SWITCH = "switch"
    STALE = "stale"


DEATHS: Final = (Do.BEFORE, Do.AFTER, Do.ERROR_AFTER)
CRASH_MODES: Final = (*DEATHS, Do.LATE, Do.DUP, Do.EXPIRE)


def modes_of(names: str) -> tuple[Do, ...]:
    """The modes that `names` lists with commas; "all" are all.

    Errors: OperatorError for a name that is none.
    """
    if names == "all":
        return CRASH_MODES
    for name in names.split(","):
        if name not in CRASH_MODES:
            raise OperatorError(
                "explore/bad-mode",
                f"there is no mode {name!r}; there are {', '.join(CRASH_MODES)}.",
                "Name some of them with commas between, or all.",
                exit=Exit.USAGE,
            )
    return tuple([Do(name) for name in names.split(",")])


@dataclass(frozen=True, slots=True, order=True)
class Choice:
    """One choice: what is done at `point`, which counts the calls of the whole run from 1.

    Shape: `at` as in Do; `nth` tells the keys of one bulk read apart.
    """

    point: int
    do: Do
    at: int = 0
    nth: int = 0

    def __str__(self) -> str:
        arguments = {
            Do.LATE: f" (lands at {self.at})" if self.at else " (lands at the end)",
            Do.SWITCH: f" to worker {self.at}",
            Do.STALE: f" value {self.at}",
        }
        return f"{self.point} {self.do}{arguments.get(self.do, '')}"


Choices = tuple[Choice, ...]


def to_json(choices: Iterable[Choice]) -> str:
    """`choices` as a JSON list that `from_json` reads."""
    found: list[dict[str, Any]] = []
    for choice in sorted(choices):
        entry: dict[str, Any] = {"point": choice.point, "do": str(choice.do)}
        if choice.at:
            entry["at"] = choice.at
        if choice.nth:
            entry["nth"] = choice.nth
        found.append(entry)
    return json.dumps(found, separators=(",", ":"))


def from_json(text: str) -> Choices:
    """The choices that `text` lists. Errors: OperatorError for anything else."""
    try:
        return tuple(
            sorted(
                Choice(int(e["point"]), Do(e["do"]), int(e.get("at", 0)), int(e.get("nth", 0)))
                for e in json.loads(text)
            )
        )
    except (ValueError, TypeError, KeyError, AttributeError) as exc:
        raise OperatorError(
            "explore/bad-choices",
            f"the choices are no list that a report has printed: {exc!r}.",
            f'Give a list such as [{{"point":17,"do":"after"}}]; "do" is one of: {", ".join(Do)}.',
            exit=Exit.USAGE,
        ) from exc
