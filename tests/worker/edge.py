"""The reference worker in the test's own process, on a real Valkey and a real SQLite file."""

from __future__ import annotations

import json
import sys
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.worker.schema import create_tables

from localedge.binding import EnvWrapper
from localedge.d1.database import D1Database
from localedge.d1.sqlite import open_engine
from localedge.kv.namespace import KvNamespace
from localedge.kv.redis import connect
from localedge.probe import Call, Outcome, Probe
from localedge.sdk import finder
from localedge.sdk.context import ExecutionContext
from localedge.sdk.dispatch import Worker, load_worker
from localedge.sdk.host import Host, set_host
from localedge.sdk.web import Request

LEASE_S = 15
MAIN = Path(__file__).parents[2] / "worker" / "entry.py"


class Crash(BaseException):
    """The worker died: no handler of its own may catch this."""


class Death:
    """An observer that kills the worker at one binding call, before it or after it.

    Shape: `point` counts KV, D1 and fetch calls from 1; once dead, every later call dies too.
    """

    def __init__(self, point: int, *, after: bool) -> None:
        self._point = point
        self._after = after
        self.seen = 0
        self.dead = False

    async def before(self, _call: Call) -> None:
        """Die here, or have died."""
        self.seen += 1
        if self.dead or (not self._after and self.seen == self._point):
            self.dead = True
            raise Crash

    async def after(self, _call: Call, _outcome: Outcome) -> None:
        """Die although the call has had its effect."""
        if self._after and self.seen == self._point:
            self.dead = True
            raise Crash


@dataclass(frozen=True, slots=True)
class Answer:
    """What a client got."""

    status: int
    headers: dict[str, str]
    body: Any

    @property
    def code(self) -> str:
        """The error's code."""
        code: str = self.body["error"]["code"]
        return code


class Edge:
    """One worker with its bindings, and requests to it."""

    def __init__(self, worker: Worker, env: EnvWrapper, probe: Probe) -> None:
        self.worker = worker
        self.env = env
        self.probe = probe

    async def get(self, path: str) -> Answer:
        """The answer to a GET."""
        return await self.send("GET", path)

    async def post(self, path: str, body: Any) -> Answer:
        """The answer to a POST of `body` in JSON, or of bytes as they are."""
        raw = body if isinstance(body, bytes) else json.dumps(body).encode()
        return await self.send("POST", path, raw)

    async def get_unless(self, path: str, tag: str) -> Answer:
        """The answer to a GET by a client that has what `tag` names."""
        return await self.send("GET", path, headers=[("if-none-match", tag)])

    async def send(
        self,
        method: str,
        path: str,
        body: bytes | None = None,
        *,
        headers: Sequence[tuple[str, str]] = (),
    ) -> Answer:
        """The answer to any request, from a new instance of the entrypoint."""
        request = Request(method, f"http://edge.test{path}", list(headers), body)
        response = await self.worker.fetch(request, self.env, ExecutionContext())
        sent = response.body or b"null"
        assert isinstance(sent, bytes)
        return Answer(response.status, dict(response.headers.raw()), json.loads(sent))

    async def tick(self) -> None:
        """The cron fires."""
        now_ms = int(time.time() * 1000)
        await self.worker.scheduled("* * * * *", now_ms, self.env, ExecutionContext())

    async def session(self) -> str:
        """The id of a new session."""
        created = await self.post("/sessions", {"userId": "ada"})
        session_id: str = created.body["sessionId"]
        return session_id


@asynccontextmanager
async def running_edge(
    database: Path, *, valkey_url: str, namespace: str, travel_url: str
) -> AsyncIterator[Edge]:
    """A worker on the SQLite file `database` and on KV in `namespace`."""
    probe = Probe()
    create_tables(database)
    async with AsyncExitStack() as stack:
        redis = await stack.enter_async_context(connect(valkey_url))
        engine = await stack.enter_async_context(open_engine(database))
        bindings = {
            "SESSIONS": KvNamespace(redis.store(namespace)),
            "DB": D1Database(engine),
            "TRAVEL_URL": travel_url,
            "LEASE_S": LEASE_S,
        }
        env = EnvWrapper(bindings, probe)
        host = Host(probe, env)
        stack.push_async_callback(host.aclose)
        set_host(host)
        stack.callback(set_host, None)
        stack.callback(_forget_the_worker)
        yield Edge(load_worker(MAIN), env, probe)


def _forget_the_worker() -> None:
    root = str(MAIN.parent)
    for name in [name for name in sys.modules if name.partition(".")[0] in ("entry", "trip_agent")]:
        del sys.modules[name]
    finder.remove()
    if root in sys.path:
        sys.path.remove(root)
