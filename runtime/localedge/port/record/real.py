"""The real side: programs carried out on Pyodide, by Cloudflare's SDK, over workerd's bindings."""

from __future__ import annotations

import inspect
import json
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any, Final

from localedge.port.record import playing
from localedge.port.verify.driver import Driver, driven
from localedge.port.verify.parts import Parts

VARS: Final = {"TEXT": "t", "NUM": 5, "FLAG": True, "OBJ": {"a": 1}}
"""What `env` holds beside the bindings. Source: tests/vectors, README, read 2026-12-01."""
DATE: Final = "2026-11-01"
_LOAD: Final = """
import sys, types
playing = types.ModuleType("playing")
exec(given, playing.__dict__)
sys.modules["playing"] = playing
"""
# JSON in a text: JavaScript, which passes it on, has no 1e20 that is no integer.
_PLAY: Final = """
import json, playing
given = json.loads(given)
return json.dumps(await playing.play(env, given["calls"], given["names"]))
"""
_RUN: Final = """
import json, playing
scope = {"env": env, "Request": Request, "Response": Response}
return json.dumps(await playing.run(json.loads(given), scope))
"""


class RealSide:
    """Carries out programs on the real parts.

    Shape: `env` has KV and DB, the numbered stores KV0, DB0, KV1, … that were asked for, and VARS.
    """

    def __init__(self, driver: Driver, versions: Mapping[str, str]) -> None:
        self._driver = driver
        self.versions = versions

    async def play(
        self, calls: Sequence[list[Any]], names: Mapping[str, str] | None = None
    ) -> list[dict[str, Any]]:
        """What `playing.play` says there."""
        given = {"calls": list(calls), "names": dict(names or {})}
        told: list[dict[str, Any]] = await self._told(_PLAY, given)
        return told

    async def run(self, code: Sequence[str]) -> dict[str, Any]:
        """What `playing.run` says there."""
        told: dict[str, Any] = await self._told(_RUN, list(code))
        return told

    async def _told(self, code: str, given: object) -> Any:
        return json.loads(await self._driver.python(code, json.dumps(given)))

    async def empty(self) -> None:
        """KV and DB have nothing in them."""
        await self._driver.empty("KV")
        await self._driver.empty("DB")


@asynccontextmanager
async def real_side(parts: Parts, folder: Path, *, stores: int = 0) -> AsyncIterator[RealSide]:
    """The real parts with empty stores in `folder`, `stores` numbered ones of each kind."""
    numbers = ["", *map(str, range(stores))]
    async with driven(parts, folder / "parts.log") as driver:
        versions = await driver.open(
            folder / "stores",
            kv={f"KV{number}": f"kv{number}" for number in numbers},
            d1={f"DB{number}": f"db{number}" for number in numbers},
            date=DATE,
        )
        booted = await driver.boot([parts.sdk], vars=VARS)
        await driver.python(_LOAD, inspect.getsource(playing))
        yield RealSide(driver, {**versions, "pyodide": booted.pyodide, "python": booted.python})
