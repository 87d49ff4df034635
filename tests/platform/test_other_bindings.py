"""Rate limits, the version, hyperdrive, secrets; and what is bound on the platform only."""

from __future__ import annotations

from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import pytest
from tests.platform.projects import template, write
from tests.runtime.edge import Edge, edge, kill
from tests.waiting import wait_until

from localedge.binding import EnvWrapper
from localedge.errors import JsException, OperatorError
from localedge.isolate.boot import Boot
from localedge.isolate.environment import open_env
from localedge.isolate.rate_counters import Counters
from localedge.isolate.ratelimits import RateLimitBinding
from localedge.probe import Probe
from localedge.project import load
from localedge.project.attached import RateLimit

pytestmark = pytest.mark.anyio

ENTRY = """
import os

from pyodide.ffi import JsException
from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return await getattr(self, request.url.rpartition("/")[2])()

    async def limit(self):
        outcome = await self.env.LIMITER.limit(key="one")
        if hasattr(outcome, "to_py"):
            outcome = outcome.to_py()
        return Response(str(outcome["success"]))

    async def version(self):
        version = self.env.VERSION
        return Response.json([version.id, version.tag, version.timestamp])

    async def drive(self):
        drive = self.env.DRIVE
        parts = [drive.host, drive.port, drive.user, drive.password, drive.database]
        print("password is", drive.password)
        return Response.json([*parts, drive.connectionString])

    async def secret(self):
        print("secret is", self.env.TOKEN)
        return Response.json([self.env.TOKEN, self.env.NAME])

    async def absent(self):
        said = []
        for use in (
            lambda: self.env.QUEUE.send({"a": 1}),
            lambda: self.env.ROOMS.idFromName("a"),
            lambda: self.env.ROOMS.get,
            lambda: self.env.FILES.put("key", "value"),
            lambda: self.env.FLOW.create(),
        ):
            try:
                use()
            except JsException as error:
                said.append(str(error))
        return Response.json(said)
"""
CONFIG: dict[str, Any] = {
    "ratelimits": [
        {"name": "LIMITER", "namespace_id": "1", "simple": {"limit": 3, "period": 60}},
    ],
    "version_metadata": {"binding": "VERSION"},
    "hyperdrive": [
        {
            "binding": "DRIVE",
            "id": "x",
            "localConnectionString": "postgresql://us%40er:pass%2Fword@db.test/shop",
        }
    ],
    "vars": {"NAME": "plain", "TOKEN": "of the file"},
    "queues": {
        "producers": [{"binding": "QUEUE", "queue": "jobs"}],
        "consumers": [{"queue": "jobs"}],
    },
    "durable_objects": {"bindings": [{"name": "ROOMS", "class_name": "Room"}]},
    "migrations": [{"tag": "v1", "new_sqlite_classes": ["Room"]}],
    "r2_buckets": [{"binding": "FILES", "bucket_name": "files"}],
    "workflows": [{"binding": "FLOW", "name": "flow", "class_name": "Flow"}],
}
CLASSES = """
from workers import DurableObject, WorkflowEntrypoint

class Room(DurableObject):
    async def fetch(self, request): ...

class Flow(WorkflowEntrypoint):
    async def run(self, event, step): ...
"""


async def server_has_lost(server: Edge, pids: set[int]) -> bool:
    """Whether the server knows that none of these isolates lives."""
    return pids.isdisjoint(await server.isolates())


@pytest.mark.processes
async def test_limits_are_shared_by_all_isolates_and_outlive_them(tmp_path: Path) -> None:
    template(tmp_path, ENTRY, **CONFIG)

    async with edge(tmp_path) as server:
        await server.order("clock", set=1893499205.0)
        first = [await server.get("/limit") for _ in range(3)]
        pids = {int(answer.headers["x-localedge-isolate"]) for answer in first}
        for pid in pids:
            kill(pid)
        await wait_until(lambda: server_has_lost(server, pids))
        refused = await server.get("/limit")
        await server.order("clock", advance=60)
        later = await server.get("/limit")

    assert [answer.text for answer in first] == ["True"] * 3
    assert len({answer.headers["x-localedge-isolate"] for answer in first}) == 2
    assert refused.text == "False"
    assert later.text == "True"


@pytest.mark.processes
async def test_all_else_that_is_bound_is_there_in_one_project(tmp_path: Path) -> None:
    template(tmp_path, ENTRY + CLASSES, **CONFIG)
    write(tmp_path, {".dev.vars": 'TOKEN = "secret-value"\n'})

    async with edge(tmp_path) as server:
        versions = [(await server.get("/version")).json() for _ in range(3)]
        drive = (await server.get("/drive")).json()
        secret = (await server.get("/secret")).json()
        absent = (await server.get("/absent")).json()
        shown = [await server.wait_log("secret is"), await server.wait_log("password is")]
        warned = server.logged()

    assert versions[0] == versions[1] == versions[2]
    assert len(versions[0][0]) == 36
    assert versions[0][2].endswith("Z")
    assert drive[:5] == ["db.test", 5432, "us@er", "pass/word", "shop"]
    assert drive[5] == CONFIG["hyperdrive"][0]["localConnectionString"]
    assert secret == ["secret-value", "plain"]
    assert [line[-3:] for line in shown] == ["***", "***"]
    assert [text.partition(", which")[0] for text in absent] == [
        "Error: env.QUEUE is a WorkerQueue",
        "Error: env.ROOMS is a DurableObjectNamespace",
        "Error: env.ROOMS is a DurableObjectNamespace",
        "Error: env.FILES is a R2Bucket",
        "Error: env.FLOW is a Workflow",
    ]
    assert '"queues" is not run by localedge' in warned


@pytest.mark.processes
async def test_the_older_world_has_them_raw(tmp_path: Path) -> None:
    template(tmp_path, ENTRY, compatibility_date="2026-03-01", **CONFIG)

    async with edge(tmp_path) as server:
        limits = [(await server.get("/limit")).text for _ in range(4)]
        version = (await server.get("/version")).json()
        drive = (await server.get("/drive")).json()

    assert limits == ["True", "True", "True", "False"]
    assert len(version) == 3
    assert drive[0] == "db.test"


def test_periods_begin_at_multiples_of_their_length() -> None:
    counters = Counters()

    taken = [
        counters.take("1", "key", limit=1, period_s=10, now=now) for now in (9.0, 9.9, 10.0, 19.0)
    ]

    assert taken == [True, False, True, False]


def test_keys_and_namespaces_are_counted_apart() -> None:
    counters = Counters()

    taken = [
        counters.take(namespace, key, limit=1, period_s=10, now=1)
        for namespace, key in (("1", "a"), ("1", "b"), ("2", "a"), ("1", "a"))
    ]

    assert taken == [True, True, True, False]


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ((), "invalid rate limit options"),
        (("key",), "invalid rate limit options"),
        (({"name": "x", "other": 1},), "bad rate limit options: [name,other]"),
        (({"key": 1},), "invalid key: 1"),
        (({"limit": "x"},), "limit must be a number: x"),
        (({"period": 30},), "unsupported period: 30"),
    ],
)
async def test_options_that_are_none_are_refused(options: tuple[Any, ...], said: str) -> None:
    async def take(*_: object) -> bool:
        return True

    settings = RateLimit(binding="L", namespace_id="1", limit=1, period_s=10)
    limiter = EnvWrapper({"L": RateLimitBinding(settings, take)}, Probe()).L

    with pytest.raises(JsException) as caught:
        await limiter.limit(*options)

    assert caught.value.message == said


async def test_without_a_server_limits_are_counted_and_services_say_so(tmp_path: Path) -> None:
    services = [{"binding": "OTHER", "service": "other"}]
    template(tmp_path, "", services=services, **CONFIG)
    project = load(start=tmp_path, process_env={})
    boot = Boot(project=project, state=tmp_path, kv_url=None, generation=0)

    async with AsyncExitStack() as stack:
        env = await open_env(stack, boot, Probe())
        limits = [(await env.LIMITER.limit(key="k")).success for _ in range(4)]
        with pytest.raises(JsException, match="start it too"):
            await env.OTHER.hello()

    assert limits == [True, True, True, False]


def hyperdrive(folder: Path, text: str | None, **process_env: str) -> Any:
    """The project of one hyperdrive with that connection string."""
    entry: dict[str, Any] = {"binding": "DRIVE", "id": "x"}
    if text is not None:
        entry["localConnectionString"] = text
    template(folder, "", hyperdrive=[entry])
    return load(start=folder, process_env=process_env)


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("sqlite://x/y", "only postgresql and mysql are supported"),
        ("postgresql://localhost/db", "it has no user and no password"),
        ("postgresql://u:p@localhost/", "it has no database name"),
        ("postgresql://u:p@localhost:x/db", "it is no URL"),
    ],
)
def test_a_connection_string_that_cannot_be_is_refused(
    text: str, said: str, tmp_path: Path
) -> None:
    with pytest.raises(OperatorError) as caught:
        hyperdrive(tmp_path, text)

    assert said in caught.value.message
    assert "u:p" not in caught.value.message


def test_a_variable_says_where_the_database_is(tmp_path: Path) -> None:
    name = "CLOUDFLARE_HYPERDRIVE_LOCAL_CONNECTION_STRING_DRIVE"

    project = hyperdrive(tmp_path, None, **{name: "mysql://u:p@h/db"})

    assert (project.attached.hyperdrive[0].host, project.attached.hyperdrive[0].port) == ("h", 3306)


def test_a_hyperdrive_without_a_database_starts_and_says_what_is_missing(tmp_path: Path) -> None:
    project = hyperdrive(tmp_path, None)

    assert project.placeholders == {"DRIVE": "Hyperdrive"}
    assert any('set "localConnectionString"' in warning for warning in project.warnings)
