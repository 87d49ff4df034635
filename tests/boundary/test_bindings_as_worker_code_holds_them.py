"""`env` and its bindings: attributes, calls, what observers see."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest
from tests.waiting import wait_until

from localedge.binding import EnvWrapper, JsBinding
from localedge.errors import JsException
from localedge.probe import Call, Outcome, Probe

pytestmark = pytest.mark.anyio


class Child(JsBinding):
    """A binding that a method returns, as a statement is."""

    js_class = "Child"
    js_methods: ClassVar[Mapping[str, str]] = {"name": "name"}

    def name(self) -> str:
        return "child"


class Thing(JsBinding):
    """A binding with one method of each kind."""

    kind: ClassVar[str] = "thing"
    js_class = "Thing"
    js_methods: ClassVar[Mapping[str, str]] = {"echo": "echo", "make": "make", "fail": "fail"}
    js_properties: ClassVar[Mapping[str, str]] = {"size": "size"}
    size = 2.0

    def __init__(self) -> None:
        self.echoed: list[tuple[Any, ...]] = []

    async def echo(self, *args: Any) -> Any:
        self.echoed.append(args)
        return list(args)

    async def fail(self) -> None:
        raise JsException("no")

    def make(self) -> Child:
        return Child()


@pytest.fixture
def thing() -> Thing:
    return Thing()


@pytest.fixture
def probe() -> Probe:
    return Probe()


@pytest.fixture
def env(thing: Thing, probe: Probe) -> Any:
    return EnvWrapper({"THING": thing, "TEXT": "t", "NONE": None, "OBJECT": {"a": [1]}}, probe)


async def test_a_call_converts_its_arguments_and_its_result(env: Any, thing: Thing) -> None:
    found = await env.THING.echo(1, {"a": None}, b=b"x")

    assert thing.echoed == [(1, {"a": None}, {"b": b"x"})]
    assert found == [1, {"a": None}, {"b": memoryview(b"x")}]
    assert found[1].a is None


async def test_a_call_has_begun_before_anybody_awaits_it(env: Any, thing: Thing) -> None:
    call = env.THING.echo(1)

    await wait_until(lambda: thing.echoed)

    assert await call == [1]


async def test_a_refused_argument_is_an_error_where_the_call_is_made(env: Any) -> None:
    with pytest.raises(TypeError, match="cannot be sent over RPC"):
        env.THING.echo((1,))


async def test_a_binding_that_a_method_returns_is_wrapped(env: Any) -> None:
    child = env.THING.make()

    assert child.name() == "child"
    assert bool(child) is True


async def test_properties_are_converted(env: Any) -> None:
    assert type(env.THING.size) is int


async def test_what_a_binding_cannot_do_is_said_in_its_own_name(env: Any) -> None:
    with pytest.raises(TypeError, match="'Thing' object is not iterable"):
        iter(env.THING)
    with pytest.raises(TypeError, match=r"'Thing' object has no len\(\)"):
        len(env.THING)
    with pytest.raises(AttributeError, match="nope"):
        _ = env.THING.nope


async def test_env_has_vars_as_they_are_and_objects_as_proxies(env: Any) -> None:
    assert env.TEXT == "t"
    assert env.NONE is None
    assert env.OBJECT.a[0] == 1
    assert env.OBJECT.to_py() == {"a": [1]}
    assert getattr(env, "MISSING", None) is None
    with pytest.raises(TypeError, match="'_EnvWrapper' object is not subscriptable"):
        env["TEXT"]


class Notes:
    """An observer that writes down what it sees."""

    def __init__(self) -> None:
        self.seen: list[Any] = []

    async def before(self, call: Call) -> None:
        self.seen.append((call.kind, call.binding, call.operation, call.arguments))

    async def after(self, call: Call, outcome: Outcome) -> None:
        self.seen.append(outcome.value if outcome.error is None else str(outcome.error))


async def test_every_call_passes_the_observers(env: Any, probe: Probe) -> None:
    notes = Notes()
    detach = probe.attach(notes)

    await env.THING.echo(1)
    with pytest.raises(JsException):
        await env.THING.fail()
    detach()
    await env.THING.echo(2)

    assert notes.seen == [
        ("thing", "THING", "echo", (1,)),
        [1],
        ("thing", "THING", "fail", ()),
        "Error: no",
    ]


async def test_who_stops_waiting_does_not_stop_the_call(env: Any, thing: Thing) -> None:
    waiting = asyncio.ensure_future(env.THING.echo(1))
    waiting.cancel()

    with pytest.raises(asyncio.CancelledError):
        await waiting

    assert await wait_until(lambda: thing.echoed) == [(1,)]
