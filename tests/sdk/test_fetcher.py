"""Bindings that answer requests: `fetch` and methods of another worker."""

from __future__ import annotations

import datetime as dt
from typing import Any

import pytest
from tests.sdk.conftest import Bench, LoadWorker

from localedge.errors import JsException
from localedge.probe import Call, Outcome
from localedge.sdk import web
from localedge.sdk.context import ExecutionContext
from localedge.sdk.fetcher import Fetcher

pytestmark = pytest.mark.anyio

SERVICE = """
from workers import Request, Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        return Response(f"{request.method} {request.url} {await request.text()}", status=201)

    async def identity(self, value):
        return value

    def kinds(self, *values):
        return [type(value).__name__ for value in values]

    async def fail(self):
        raise ValueError("broken")
"""


@pytest.fixture
def env(bench: Bench, load: LoadWorker) -> Any:
    """An env whose SERVICE is another worker, and whose ASSETS answers requests only."""
    worker = load(SERVICE)

    async def send(request: web.Request) -> web.Response:
        return await worker.fetch(request, bench.env, ExecutionContext())

    async def invoke(method: str, arguments: list[Any]) -> Any:
        return await worker.call("Default", method, arguments, bench.env, ExecutionContext())

    return bench.use({"SERVICE": Fetcher(send, invoke), "ASSETS": Fetcher(send)})


async def test_a_request_reaches_the_other_worker(env: Any) -> None:
    from workers import Request, Response

    by_url = await env.SERVICE.fetch("https://a.test/x", method="PUT", body="b")
    by_request = await env.ASSETS.fetch(Request("https://a.test/y"))

    assert isinstance(by_url, Response)
    assert (by_url.status, await by_url.text()) == (201, "PUT https://a.test/x b")
    assert await by_request.text() == "GET https://a.test/y "


@pytest.mark.parametrize(
    "value", ["text", 1, 1.5, True, None, [1, [None]], {"a": {"b": None}}, {1, 2}]
)
async def test_a_value_survives_a_call(value: Any, env: Any) -> None:
    assert await env.SERVICE.identity(value) == value


async def test_objects_arrive_as_those_of_the_sdk(env: Any) -> None:
    from workers import Blob, FormData, Request, Response

    found = await env.SERVICE.kinds(
        Request("https://a.test/"),
        Response("x"),
        FormData(),
        Blob("x"),
        b"x",
        {},
        dt.datetime.now(),
    )

    assert found == ["Request", "Response", "FormData", "Blob", "memoryview", "JsDict", "datetime"]


async def test_keyword_arguments_are_one_object(env: Any) -> None:
    assert await env.SERVICE.identity(a=1) == {"a": 1}


@pytest.mark.parametrize("value", [1j, [range(3)], {"a": object()}])
async def test_an_object_of_pythons_own_cannot_be_sent(value: Any, env: Any) -> None:
    with pytest.raises(JsException, match=r"^DataCloneError"):
        await env.SERVICE.identity(value)


@pytest.mark.parametrize("value", [(1,), bytearray(b"x")])
async def test_a_tuple_or_a_bytearray_cannot_be_sent(value: Any, env: Any) -> None:
    with pytest.raises(TypeError, match="cannot be sent over RPC"):
        env.SERVICE.identity(value)


async def test_a_method_that_is_not_there_is_a_type_error(env: Any) -> None:
    with pytest.raises(JsException, match='does not implement the method "nope"'):
        await env.ASSETS.nope()


async def test_what_the_method_raises_reaches_the_caller(env: Any) -> None:
    with pytest.raises(ValueError, match="broken"):
        await env.SERVICE.fail()


def test_a_service_is_true_and_has_no_length(env: Any) -> None:
    assert env.SERVICE
    with pytest.raises(TypeError, match="'Fetcher' object has no len"):
        len(env.SERVICE)
    with pytest.raises(TypeError, match="'Fetcher' object is not iterable"):
        list(env.SERVICE)


async def test_the_probe_sees_requests_and_calls(env: Any, bench: Bench) -> None:
    seen: list[Any] = []

    class Watching:
        async def before(self, call: Call) -> None:
            seen.append((call.kind, call.binding, call.operation, call.arguments))

        async def after(self, call: Call, outcome: Outcome) -> None:
            return None

    detach = bench.probe.attach(Watching())

    await env.SERVICE.fetch("https://a.test/x")
    await env.SERVICE.identity(1)
    detach()

    assert seen == [
        ("service", "SERVICE", "fetch", ("https://a.test/x",)),
        ("service", "SERVICE", "identity", (1,)),
    ]
