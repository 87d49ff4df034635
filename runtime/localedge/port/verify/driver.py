"""The process that drives the real parts. node/README.md has its orders and answers."""

from __future__ import annotations

import asyncio
import itertools
import json
import os
import signal
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from localedge.errors import Exit, OperatorError
from localedge.port.verify.parts import DRIVER, Parts

TOKEN: Final = "x-localedge-verify"
"""The header without which a booted worker does not answer."""
_LONGEST_LINE: Final = 256 * 1024 * 1024
_ORDER_S: Final = 60.0
_END_S: Final = 5.0
_TAIL: Final = 2000


class DriverError(Exception):
    """An order failed on the other side.

    Shape: `name` is the JavaScript class of the error, `message` its text.
    """

    def __init__(self, name: str, message: str) -> None:
        super().__init__(f"{name}: {message}")
        self.name = name
        self.message = message


@dataclass(frozen=True, slots=True)
class Booted:
    """A worker that serves on Pyodide: `url` answers those who send `token`."""

    url: str
    token: str
    pyodide: str
    python: str
    boot_ms: int


class Driver:
    """One Node process over the stores in a folder."""

    def __init__(self, process: asyncio.subprocess.Process, log: Path) -> None:
        self._process = process
        self._log = log
        self._ids = itertools.count(1)
        self._answers: dict[int, asyncio.Future[Any]] = {}
        self._is_over = False

    async def order(self, op: str, *, within_s: float = _ORDER_S, **given: Any) -> Any:
        """What the process answers to one order.

        Errors: DriverError when the order failed, OperatorError when the process ended,
        TimeoutError after `within_s` seconds; the order may still be carried out then.
        """
        if self._is_over:
            raise self._ended()
        id_ = next(self._ids)
        answer = self._answers[id_] = asyncio.get_running_loop().create_future()
        assert self._process.stdin is not None
        try:
            with suppress(ConnectionError):
                line = json.dumps({"id": id_, "op": op, **given})
                self._process.stdin.write(line.encode() + b"\n")
                await self._process.stdin.drain()
            async with asyncio.timeout(within_s):
                return await answer
        finally:
            del self._answers[id_]

    async def open(
        self, state: Path, *, kv: Mapping[str, str], d1: Mapping[str, str], date: str
    ) -> dict[str, str]:
        """KV and D1 in the folder `state` are open; the versions of the parts.

        Shape: `kv` and `d1` map the name of a binding to the id of its store.
        """
        versions: dict[str, str] = await self.order(
            "open", state=str(state), kv=dict(kv), d1=dict(d1), compatibilityDate=date
        )
        return versions

    async def boot(
        self,
        sites: Sequence[Path],
        *,
        bundle: Path | None = None,
        main: str | None = None,
        vars: Mapping[str, Any] | None = None,
        flags: Mapping[str, bool] | None = None,
        cf: Mapping[str, Any] | None = None,
        within_s: float = _ORDER_S,
    ) -> Booted:
        """Pyodide runs, with the packages in `sites` and the worker whose module is `main`.

        Errors: DriverError with the traceback when the worker cannot be imported.
        """
        told = await self.order(
            "boot",
            within_s=within_s,
            sites=[str(site) for site in sites],
            bundle=None if bundle is None else str(bundle),
            main=main,
            vars=dict(vars or {}),
            flags=dict(flags or {}),
            cf=dict(cf or {}),
        )
        return Booted(**told)

    async def call(self, binding: str, *chain: Sequence[Any]) -> Any:
        """What a chain of calls comes to, as node/values.mjs writes values.

        Shape: a link is `[method, args]`.
        Errors: DriverError with the name and message of what JavaScript throws.
        """
        told = await self.order("call", binding=binding, chain=[list(link) for link in chain])
        if "raises" in told:
            raise DriverError(**told["raises"])
        return told["returns"]

    async def python(self, code: str, given: object = None) -> Any:
        """What lines of Python return that run on Pyodide with `env` and `given`."""
        return await self.order("python", code=code, input=given)

    async def empty(self, binding: str) -> None:
        """The store of a binding has nothing in it."""
        await self.order("empty", binding=binding)

    async def kill(self) -> None:
        """The process and all that it started are gone at once, as in a crash."""
        with suppress(ProcessLookupError):
            os.killpg(self._process.pid, signal.SIGKILL)
        await self._process.wait()

    async def read(self) -> None:
        """Answers reach whoever waits for them, until the process ends."""
        assert self._process.stdout is not None
        async for line in self._process.stdout:
            told = json.loads(line)
            answer = self._answers.get(told["id"])
            if answer is None or answer.done():
                continue
            if "error" in told:
                answer.set_exception(DriverError(**told["error"]))
            else:
                answer.set_result(told["ok"])
        self._is_over = True
        for answer in self._answers.values():
            if not answer.done():
                answer.set_exception(self._ended())

    def log(self) -> str:
        """What the worker and the parts have printed."""
        return self._log.read_text("utf-8", errors="replace")

    def _ended(self) -> OperatorError:
        return OperatorError(
            "verify/driver-ended",
            f"the real parts have ended unasked; their last words:\n{self.log()[-_TAIL:]}",
            "Run it again; if they end at the same request, the worker has ended Pyodide.",
            exit=Exit.UNREACHABLE,
        )


@asynccontextmanager
async def driven(parts: Parts, log: Path) -> AsyncIterator[Driver]:
    """A driver on `parts`, whose lines go to the file `log`; it is gone at the end."""
    with log.open("ab") as output:
        process = await asyncio.create_subprocess_exec(
            *(parts.node, "--experimental-wasm-jspi", DRIVER / "driver.mjs", parts.npm),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=output,
            limit=_LONGEST_LINE,
            # Whoever kills it kills workerd too.
            start_new_session=True,
        )
    driver = Driver(process, log)
    try:
        async with asyncio.TaskGroup() as group:
            group.create_task(driver.read())
            try:
                yield driver
            finally:
                await _end(process)
    finally:
        # Of a process that ended by itself, workerd may be left.
        await driver.kill()


async def _end(process: asyncio.subprocess.Process) -> None:
    assert process.stdin is not None
    process.stdin.close()
    try:
        async with asyncio.timeout(_END_S):
            await process.wait()
    except TimeoutError:
        # A worker that blocks its loop hears nothing.
        os.killpg(process.pid, signal.SIGKILL)
        await process.wait()
