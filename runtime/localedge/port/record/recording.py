"""Records the answers of the real parts afresh, in the form of the stored ones."""

from __future__ import annotations

import difflib
import json
import tempfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, TypeAlias

from localedge.errors import Exit, OperatorError
from localedge.port.record.loosening import like, like_error, without_recorded
from localedge.port.record.real import RealSide, real_side
from localedge.port.verify.parts import Parts

PROGRAMS: Final = ("kv", "d1")
SDK: Final = "sdk"
KINDS: Final = (*PROGRAMS, SDK)
Step: TypeAlias = dict[str, Any]
Cases: TypeAlias = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Recorded:
    """Fresh answers: `cases` by kind, and the `versions` of the parts that gave them."""

    cases: Mapping[str, Cases]
    versions: Mapping[str, str]


def stored(folder: Path) -> dict[str, Cases]:
    """The recorded cases in `folder`, by kind.

    Errors: OperatorError when one of the files is missing or is none of ours.
    """
    found = {}
    for kind in KINDS:
        file = folder / f"{kind}.json"
        try:
            found[kind] = json.loads(file.read_bytes())
        except (OSError, ValueError) as error:
            raise OperatorError(
                "verify/no-vectors",
                f"{file} cannot be read: {error}.",
                "Name the folder with kv.json, d1.json and sdk.json: --vectors tests/vectors",
                exit=Exit.USAGE,
            ) from error
    return found


async def record(parts: Parts, programs: Mapping[str, Cases]) -> Recorded:
    """The real parts' own answers to the steps of `programs`; each case begins with empty stores.

    Shape: the steps are those of `programs`, in its order; only `returns` and `raises` are fresh.
    """
    count = max(len(programs[kind]) for kind in PROGRAMS)
    with tempfile.TemporaryDirectory(prefix="localedge-record-") as folder:
        async with real_side(parts, Path(folder), stores=count) as side:
            fresh: dict[str, Cases] = {}
            for kind in PROGRAMS:
                fresh[kind] = {
                    name: await _played(side, steps, number)
                    for number, (name, steps) in enumerate(programs[kind].items())
                }
            fresh[SDK] = {name: await _ran(side, case) for name, case in programs[SDK].items()}
            return Recorded(fresh, side.versions)


async def _played(side: RealSide, steps: list[Step], number: int) -> list[Step]:
    names = {"KV": f"KV{number}", "DB": f"DB{number}"}
    answers = await side.play([step["call"] for step in steps], names)
    return [_written(step, answer) for step, answer in zip(steps, answers, strict=True)]


async def _ran(side: RealSide, case: Step) -> Step:
    return _written(case, await side.run(case["code"]))


def _written(step: Step, answer: dict[str, Any]) -> Step:
    """`step` with the fresh answer in the place of the recorded one."""
    asked = {key: item for key, item in step.items() if key not in ("returns", "raises")}
    if "raises" in answer:
        return {**asked, "raises": like_error(step.get("raises", {}), answer["raises"])}
    return {**asked, "returns": like(step.get("returns"), answer["returns"], answer.get("now", 0))}


def text(cases: Cases) -> str:
    """A file of vectors."""
    return json.dumps(cases, indent=1, ensure_ascii=False)


def differences(before: Mapping[str, Cases], after: Mapping[str, Cases]) -> Iterator[str]:
    """Lines that show, case by case, which answers are others now; none when none is."""
    for kind in KINDS:
        for name, new in after[kind].items():
            old = before[kind].get(name)
            if without_recorded(old) == without_recorded(new):
                continue
            yield f"{kind}:{name}"
            yield from _lines(old, new)


def _lines(old: Any, new: Any) -> Iterator[str]:
    before, after = (
        json.dumps(without_recorded(one), indent=1, ensure_ascii=False).splitlines()
        for one in (old, new)
    )
    compared = difflib.unified_diff(before, after, n=2, lineterm="")
    yield from (f"  {line}" for line in list(compared)[2:])
