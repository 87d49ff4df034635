"""One program on both sides: ours in this process, the real parts in Node."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from anyio.from_thread import BlockingPortal, start_blocking_portal

from localedge.binding import EnvWrapper
from localedge.d1.database import D1Database
from localedge.d1.sqlite import open_engine
from localedge.kv.namespace import KvNamespace
from localedge.kv.redis import RedisConnection, connect
from localedge.port.record.playing import play
from localedge.port.record.real import RealSide, real_side
from localedge.port.verify.parts import Parts
from localedge.probe import Probe

Call = list[Any]
Answer = dict[str, Any]


STORES = 200
"""How many programs one start of the real side lasts for; each has stores that nobody had."""


@dataclass
class Sides:
    """Both sides, for tests that are not async themselves."""

    portal: BlockingPortal
    parts: Parts
    connection: RedisConnection
    folder: Path
    programs: int = 0
    _real: RealSide | None = None
    _stack: ExitStack = field(default_factory=ExitStack)

    def play(self, calls: list[Call]) -> list[tuple[Call, Answer, Answer]]:
        """Each call with what it comes to on ours and on the real side, on new stores."""
        number = self.programs % STORES
        if number == 0:
            self._open()
        self.programs += 1
        ours, real = self.portal.call(self._both, calls, number)
        return list(zip(calls, ours, real, strict=True))

    def _open(self) -> None:
        """The real side has STORES new stores of each kind."""
        self.close()
        folder = self.folder / f"real {self.programs}"
        folder.mkdir()
        side = real_side(self.parts, folder, stores=STORES)
        self._real = self._stack.enter_context(self.portal.wrap_async_context_manager(side))

    def close(self) -> None:
        """The real side is gone."""
        self._stack.close()

    async def _both(self, calls: list[Call], number: int) -> tuple[list[Answer], list[Answer]]:
        assert self._real is not None
        store = self.connection.store(f"fuzz {self.folder} {self.programs}")
        async with open_engine(self.folder / f"{self.programs}.sqlite") as engine:
            bindings = {"KV": KvNamespace(store), "DB": D1Database(engine)}
            ours = await play(EnvWrapper(bindings, Probe()), calls)
        return ours, await self._real.play(calls, {"KV": f"KV{number}", "DB": f"DB{number}"})


@contextmanager
def opened_sides(parts: Parts, valkey_url: str, folder: Path) -> Iterator[Sides]:
    """Both sides, with their state in `folder`."""
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(connect(valkey_url)) as connection,
    ):
        sides = Sides(portal, parts, connection, folder)
        try:
            yield sides
        finally:
            sides.close()


def differing(sides: Sides, calls: list[Call]) -> str:
    """A program up to the first call that the sides answer otherwise, shown; "" when none is.

    After an error that is the other side's own, nothing more is compared: its stores are others.
    """
    shown = []
    for call, ours, real in sides.play(calls):
        shown.append(f"call {_short(call)}")
        if _AT_ONCE in real.get("raises", {}).get("message", ""):
            return ""
        if not is_same(ours, real):
            return "\n".join(["", *shown, f"ours {_short(ours)}", f"real {_short(real)}"])
    return ""


def _short(value: Any) -> str:
    return json.dumps(value, ensure_ascii=True)[:1500]


# What no program can be the same in, or what docs/differences.md names.
_MEASURED = {"duration", "sql_duration_ms", "size_after", "rows_read", "rows_written", "served_by"}
_SECONDS = 2
_OFFSET = re.compile(r" at offset \d+")
# workerd keeps statements. One whose table has gone since is first asked for its parameters; a text
# of several, of which one before the last gives rows, fails when it comes for the second time.
_COUNT = "Wrong number of parameter bindings"
_GONE = re.compile(r"no such (table|column)|has no column named")
_AT_ONCE = "A SQL prepared statement can only be executed once at a time."
_FRAMES = "\n    at "
# In the words of the machine's SQLite, which may be older.
_PATH = ("JSON path error near", "bad JSON path")
_EPOCH = re.compile(r"\b\d{10}\b")


def is_same(ours: Answer, real: Answer) -> bool:
    """Whether two answers are the same but for what may differ."""
    if "raises" in ours and "raises" in real:
        return bool(_error(ours["raises"], real["raises"]) == real["raises"])
    if "raises" in ours or "raises" in real:
        return False
    return _alike(ours["returns"], real["returns"])


def _error(ours: Answer, real: Answer) -> Answer:
    """`ours` in the words of `real` where only an offset is missing, or a second went by."""
    if ours["type"] == "JsException" == real["type"]:
        if _COUNT in real["message"] and _GONE.search(ours["message"]):
            return real
        if _PATH[0] in ours["message"] and _PATH[1] in real["message"]:
            return real
        texts = [_EPOCH.sub("<epoch>", one["message"]) for one in (ours, real)]
        texts[1] = texts[1].partition(_FRAMES)[0]
        if not _OFFSET.search(texts[0]):
            texts[1] = _OFFSET.sub("", texts[1])
        if texts[0] == texts[1]:
            return {**ours, "message": real["message"]}
    return ours


def _alike(ours: Any, real: Any) -> bool:
    if isinstance(ours, dict) and isinstance(real, dict):
        return list(ours) == list(real) and all(
            _is_free(key, ours[key], real[key]) or _alike(ours[key], real[key]) for key in ours
        )
    if isinstance(ours, list) and isinstance(real, list):
        return len(ours) == len(real) and all(map(_alike, ours, real))
    return type(ours) is type(real) and bool(ours == real)


def _is_free(key: str, ours: Any, real: Any) -> bool:
    """Whether two values of `key` may differ as they do."""
    if key == "cursor":
        return isinstance(ours, str) and isinstance(real, str)
    if key == "expiration":
        return abs(int(ours) - int(real)) <= _SECONDS
    return key in _MEASURED
