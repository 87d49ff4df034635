"""What belongs to the running event: waitUntil, env, patches, JavaScript modules."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from tests.sdk.conftest import Bench, Client, LoadWorker

from localedge.errors import JsException
from localedge.sdk.context import ExecutionContext, current

pytestmark = pytest.mark.anyio


@pytest.fixture
def context(bench: Bench) -> Iterator[ExecutionContext]:
    made = ExecutionContext()
    token = current.set(made)
    yield made
    current.reset(token)


@pytest.mark.parametrize("form", ["coroutine", "task", "future", "promise", "proxy"])
async def test_everything_that_can_be_awaited_is_waited_for(
    form: str, context: ExecutionContext
) -> None:
    from js import Promise
    from pyodide.ffi import create_proxy

    done: list[str] = []

    async def work() -> None:
        await asyncio.sleep(0)
        done.append(form)

    makers: dict[str, Callable[[], Any]] = {
        "coroutine": lambda: work(),
        "task": lambda: asyncio.create_task(work()),
        "future": lambda: asyncio.ensure_future(work()),
        "promise": lambda: Promise.resolve(create_proxy(asyncio.create_task(work()))),
        "proxy": lambda: create_proxy(asyncio.create_task(work())),
    }

    context.waitUntil(makers[form]())
    await context.drain(5)

    assert done == [form]


async def test_a_value_that_cannot_be_awaited_counts_as_done(context: ExecutionContext) -> None:
    context.waitUntil(5)

    assert not context.has_tasks()


async def test_tasks_are_independent_and_failures_are_logged(
    context: ExecutionContext, caplog: pytest.LogCaptureFixture
) -> None:
    done = []

    async def fail() -> None:
        raise ValueError("broken")

    async def work() -> None:
        done.append(1)

    context.waitUntil(fail())
    context.waitUntil(work())
    with caplog.at_level(logging.ERROR):
        await context.drain(5)

    assert done == [1]
    assert [record.getMessage() for record in caplog.records] == ["waitUntil task failed"]


async def test_what_a_task_adds_is_waited_for_too(context: ExecutionContext) -> None:
    done = []

    async def second() -> None:
        done.append(2)

    async def first() -> None:
        context.waitUntil(second())

    context.waitUntil(first())
    await context.drain(5)

    assert done == [2]


async def test_a_task_that_lasts_too_long_is_cancelled(
    context: ExecutionContext, caplog: pytest.LogCaptureFixture
) -> None:
    async def endless() -> None:
        await asyncio.Event().wait()

    task = asyncio.create_task(endless())
    context.waitUntil(task)

    with caplog.at_level(logging.WARNING):
        await context.drain(0.01)

    assert task.cancelled()
    assert caplog.records[0].getMessage() == "waitUntil tasks were cancelled"


async def test_pass_through_is_noted(context: ExecutionContext) -> None:
    context.passThroughOnException()

    assert context.passes_through


async def test_exports_of_the_context_say_that_they_are_not_here(
    context: ExecutionContext,
) -> None:
    with pytest.raises(JsException, match=r"ctx\.exports exists on the platform"):
        context.exports  # noqa: B018


async def test_the_modules_wait_until_belongs_to_the_event(
    load: LoadWorker, client: Client
) -> None:
    worker = load(
        """
        import asyncio
        from workers import Response, WorkerEntrypoint

        done = []

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                from workers import wait_until, waitUntil

                async def work(name):
                    done.append(name)

                wait_until(asyncio.ensure_future(work(1)))
                waitUntil(asyncio.ensure_future(work(2)))
                return Response("ok")
        """
    )

    await client.send(worker)

    assert worker.module.done == [1, 2]


async def test_a_bare_coroutine_for_the_modules_wait_until_is_warned_about(
    context: ExecutionContext, caplog: pytest.LogCaptureFixture
) -> None:
    import workers

    async def work() -> None: ...

    with caplog.at_level(logging.WARNING):
        workers.wait_until(work())
        await context.drain(5)

    assert "bare coroutine" in caplog.text


def test_wait_until_outside_of_an_event_is_refused(bench: Bench) -> None:
    import workers

    with pytest.raises(JsException, match="Disallowed operation called within global scope"):
        workers.wait_until(None)


def test_each_look_at_env_is_a_new_wrapper_of_the_same_values(bench: Bench) -> None:
    import workers

    bench.use({"A": "1"})

    assert workers.env.A == "1"
    assert workers.env is not workers.env


def test_env_at_the_top_of_a_module_sees_the_env_of_later(bench: Bench) -> None:
    from workers import env

    bench.use({"A": "2"})

    assert env.A == "2"


@pytest.mark.parametrize(
    "patch",
    [lambda w: w.patch_env({"A": "new"}), lambda w: w.patch_env([("A", "new")]),
     lambda w: w.patch_env(A="new")],
)  # fmt: skip
def test_patching_env_lasts_as_long_as_its_block(patch: Any, bench: Bench) -> None:
    import workers

    own = bench.use({"A": "old", "B": "kept"})

    with patch(workers):
        inside = (workers.env.A, workers.env.B, own.A)

    assert inside == ("new", "kept", "old")
    assert workers.env.A == "old"


def test_patches_lie_over_each_other(bench: Bench) -> None:
    import workers

    with workers.patch_env(A=1), workers.patch_env(B=2):
        assert (workers.env.A, workers.env.B) == (1, 2)


def test_a_json_var_is_an_object_of_the_platform(bench: Bench) -> None:
    from pyodide.ffi import JsProxy, jsnull

    env = bench.use({"OBJ": {"a": {"b": [1, 2.0, None]}}})

    value = env.OBJ
    assert isinstance(value, JsProxy)
    assert (value.a.b[0], value.a.b[1], value.a.b[2]) == (1, 2, jsnull)
    assert value.to_py() == {"a": {"b": [1, 2, jsnull]}}


async def test_the_platforms_module_has_the_raw_env(bench: Bench) -> None:
    from workers import import_from_javascript

    bench.use({"A": "1", "OBJ": {"a": 1}})

    module = import_from_javascript("cloudflare:workers")

    assert (module.env.A, module.env.OBJ.a) == ("1", 1)


async def test_the_platforms_module_waits_too(context: ExecutionContext) -> None:
    from pyodide.ffi import create_proxy
    from workers import import_from_javascript

    done = []

    async def work() -> None:
        done.append(1)

    import_from_javascript("cloudflare:workers").waitUntil(
        create_proxy(asyncio.create_task(work()))
    )
    await context.drain(5)

    assert done == [1]


def test_sockets_of_the_platform_say_that_they_are_not_here(bench: Bench) -> None:
    from workers import import_from_javascript

    with pytest.raises(JsException, match="cloudflare:sockets exists on the platform"):
        import_from_javascript("cloudflare:sockets").connect("a.test:80")


def test_another_javascript_module_is_an_import_error(bench: Bench) -> None:
    from workers import import_from_javascript

    with pytest.raises(ImportError, match="Failed to import 'node:fs'"):
        import_from_javascript("node:fs")


def test_every_public_name_of_workers_is_there(bench: Bench) -> None:
    import workers

    missing = [name for name in workers.__all__ if not hasattr(workers, name)]

    assert missing == []


def test_an_unknown_name_of_workers_is_an_attribute_error(bench: Bench) -> None:
    import workers

    with pytest.raises(AttributeError, match="no attribute 'Nope'"):
        workers.Nope  # noqa: B018
