"""How events reach a worker: which class, which instance, which arguments, which results."""

from __future__ import annotations

from typing import Any

import pytest
from tests.sdk.conftest import Bench, Client, LoadWorker

from localedge.errors import JsException
from localedge.sdk.context import ExecutionContext

pytestmark = pytest.mark.anyio

FORMS = {
    "without a parameter": "def fetch(self): return Response('ok')",
    "with the request": "def fetch(self, request): return Response('ok')",
    "with three parameters": "def fetch(self, r, env, ctx): return Response(repr([env, ctx]))",
    "with any number": "def fetch(self, *args): return Response(str(len(args)))",
    "with a default": "def fetch(self, request=None, more=5): return Response(repr(more))",
    "with keywords": "def fetch(self, r, *, k=1, **more): return Response(repr([k, more]))",
}
ANSWERS = {
    "with three parameters": "[None, None]",
    "with any number": "3",
    "with a default": "None",
    "with keywords": "[1, {}]",
}


def worker_code(body: str) -> str:
    return f"""
from workers import Response, WorkerEntrypoint, DurableObject, WorkflowEntrypoint, FetchResponse

class Default(WorkerEntrypoint):
    {body}
"""


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("keyword", ["", "async "])
async def test_fetch_takes_as_many_arguments_as_it_wants(
    form: str, keyword: str, load: LoadWorker, client: Client
) -> None:
    worker = load(worker_code(keyword + FORMS[form]))

    answer = await client.send(worker)

    assert answer.text == ANSWERS.get(form, "ok")


async def test_every_event_gets_a_new_instance(load: LoadWorker, client: Client) -> None:
    worker = load(
        """
        from workers import Response, WorkerEntrypoint

        seen = []

        class Default(WorkerEntrypoint):
            def __init__(self, ctx, env):
                super().__init__(ctx, env)
                self.count = 0

            async def fetch(self, request):
                self.count += 1
                seen.append(self)
                return Response(str([self.count, len(seen)]))
        """
    )

    answers = [(await client.send(worker)).text for _ in range(2)]

    assert answers == ["[1, 1]", "[1, 2]"]


async def test_env_and_ctx_come_from_self(bench: Bench, load: LoadWorker, client: Client) -> None:
    bench.use({"NAME": "ada"})
    worker = load(
        worker_code(
            "async def fetch(self, r): return Response(self.env.NAME + str(self.ctx.props))"
        )
    )

    answer = await client.send(worker)

    assert answer.text == "ada{}"


@pytest.mark.parametrize("value", ["'text'", "None", "{'a': 1}", "b'x'", "5", "[]"])
async def test_a_result_that_is_no_response_is_a_type_error(
    value: str, load: LoadWorker, client: Client
) -> None:
    worker = load(worker_code(f"async def fetch(self, request): return {value}"))

    with pytest.raises(TypeError, match="did not resolve to 'Response'"):
        await client.send(worker)


@pytest.mark.parametrize(
    "value",
    [
        "Response('ok')",
        "Response('ok').js_object",
        "Response('ok').clone()",
        "__import__('js').Response.new('ok')",
    ],
)
async def test_every_kind_of_response_is_accepted(
    value: str, load: LoadWorker, client: Client
) -> None:
    worker = load(worker_code(f"async def fetch(self, request): return {value}"))

    answer = await client.send(worker)

    assert answer.text == "ok"


async def test_a_response_whose_body_was_read_is_refused(load: LoadWorker, client: Client) -> None:
    worker = load(
        worker_code("async def fetch(self, r): x = Response('a'); await x.text(); return x")
    )

    with pytest.raises(JsException, match="Body has already been used"):
        await client.send(worker)


async def test_what_the_handler_raises_comes_out(load: LoadWorker, client: Client) -> None:
    worker = load(worker_code("async def fetch(self, request): raise KeyError('lost')"))

    with pytest.raises(KeyError, match="lost"):
        await client.send(worker)


async def test_a_worker_without_fetch_says_so(load: LoadWorker, client: Client) -> None:
    worker = load(worker_code("async def scheduled(self, controller, env, ctx): pass"))

    with pytest.raises(TypeError, match=r"does not export a fetch\(\) function"):
        await client.send(worker)


async def test_scheduled_gets_the_controller_and_two_nones(bench: Bench, load: LoadWorker) -> None:
    worker = load(
        """
        from workers import WorkerEntrypoint

        seen = []

        class Default(WorkerEntrypoint):
            async def scheduled(self, controller, env, ctx):
                seen.append((controller.cron, controller.scheduledTime, env, ctx))
                controller.noRetry()
        """
    )

    controller = await worker.scheduled("*/5 * * * *", 1000, bench.env, ExecutionContext())

    assert worker.module.seen == [("*/5 * * * *", 1000, None, None)]
    assert controller.retries is False


async def test_scheduled_with_one_parameter_is_refused_as_on_the_platform(
    bench: Bench, load: LoadWorker
) -> None:
    worker = load(worker_code("async def scheduled(self, controller): pass"))

    with pytest.raises(TypeError, match="takes 2 positional arguments but 4 were given"):
        await worker.scheduled("* * * * *", 0, bench.env, ExecutionContext())


async def test_a_worker_without_scheduled_says_so(bench: Bench, load: LoadWorker) -> None:
    worker = load(worker_code("async def fetch(self): pass"))

    with pytest.raises(TypeError, match=r"Handler does not export a scheduled\(\) function"):
        await worker.scheduled("* * * * *", 0, bench.env, ExecutionContext())


def test_handlers_are_those_of_the_default_class(load: LoadWorker) -> None:
    worker = load(
        worker_code("async def fetch(self): pass\n    async def scheduled(self, c, e, x): pass")
    )

    assert worker.handlers() == {"fetch", "scheduled"}


def test_a_handler_of_a_mixin_counts(load: LoadWorker) -> None:
    worker = load(
        """
        from workers import WorkerEntrypoint

        class Mixin:
            async def fetch(self, request): ...

        class Default(Mixin, WorkerEntrypoint):
            pass
        """
    )

    assert worker.handlers() == {"fetch"}


def test_named_entrypoints_and_imported_ones_are_found(load: LoadWorker) -> None:
    worker = load(
        """
        from workers import WorkerEntrypoint
        from parts import Imported

        class Default(WorkerEntrypoint): ...
        class Admin(WorkerEntrypoint): ...
        class _Hidden(WorkerEntrypoint): ...
        """,
        parts="from workers import WorkerEntrypoint\nclass Imported(WorkerEntrypoint): ...",
    )

    assert worker.entrypoints() == {"Default", "Admin", "Imported"}


def test_all_limits_what_is_found(load: LoadWorker) -> None:
    worker = load(
        """
        from workers import WorkerEntrypoint

        __all__ = ["Default"]

        class Default(WorkerEntrypoint): ...
        class Admin(WorkerEntrypoint): ...
        """
    )

    assert worker.entrypoints() == {"Default"}


def test_a_default_class_beside_a_legacy_handler_is_refused(load: LoadWorker) -> None:
    with pytest.raises(TypeError, match="Cannot define multiple default entrypoints"):
        load(worker_code("async def fetch(self): pass") + "\ndef on_fetch(request): ...\n")


def test_classes_of_kinds_that_are_not_here_are_named(load: LoadWorker) -> None:
    worker = load(
        worker_code("async def fetch(self): pass")
        + "\nclass Room(DurableObject): ...\nclass Flow(WorkflowEntrypoint): ...\n"
    )

    assert worker.unsupported == {"Room": "DurableObject", "Flow": "WorkflowEntrypoint"}


@pytest.mark.parametrize("kind", ["DurableObject", "WorkflowEntrypoint"])
def test_making_a_class_that_is_not_here_says_so(kind: str, platform: None) -> None:
    import workers

    with pytest.raises(NotImplementedError, match=f"{kind} exists on the platform"):
        getattr(workers, kind)(None, None)


def test_a_handler_that_reads_the_env_parameter_is_warned_about(
    load: LoadWorker,
) -> None:
    worker = load(worker_code("async def fetch(self, request, env): return await env.KV.get('a')"))

    assert worker.warnings == (
        "Default.fetch reads its parameter 'env', which is None for a class handler: use self.env",
    )


def test_a_handler_that_ignores_the_env_parameter_is_not_warned_about(load: LoadWorker) -> None:
    worker = load(worker_code("async def scheduled(self, controller, env, ctx): pass"))

    assert worker.warnings == ()


def test_a_parameter_read_in_a_nested_function_is_warned_about(load: LoadWorker) -> None:
    worker = load(
        worker_code(
            "async def fetch(self, request, env, ctx):\n"
            "        def later(): return ctx.waitUntil\n        return later()"
        )
    )

    assert len(worker.warnings) == 1
    assert "use self.ctx" in worker.warnings[0]


@pytest.mark.parametrize(
    ("code", "named"),
    [
        ("x = 1", ""),
        (
            "from workers import WorkerEntrypoint\nclass Main(WorkerEntrypoint): ...",
            " (Main can be called by other workers only)",
        ),
    ],
)
def test_a_module_that_answers_nothing_is_warned_about(
    code: str, named: str, load: LoadWorker
) -> None:
    worker = load(code)

    assert worker.warnings == (
        f"nothing answers: the main module has no class Default(WorkerEntrypoint){named}",
    )


RPC = """
from workers import WorkerEntrypoint

class Admin(WorkerEntrypoint):
    def add(self, a, b): return a + b
    async def later(self, a): return [a]
    def _hidden(self): ...
    @staticmethod
    def fixed(): ...
"""


async def call(worker: Any, bench: Bench, name: str, method: str, *args: Any) -> Any:
    return await worker.call(name, method, list(args), bench.env, ExecutionContext())


async def test_rpc_calls_public_methods(bench: Bench, load: LoadWorker) -> None:
    worker = load(RPC)

    results = [
        await call(worker, bench, "Admin", "add", 1, 2),
        await call(worker, bench, "Admin", "later", 3),
    ]

    assert results == [3, [3]]


@pytest.mark.parametrize("method", ["_hidden", "fixed", "missing", "__init__"])
async def test_rpc_refuses_what_is_no_public_method(
    method: str, bench: Bench, load: LoadWorker
) -> None:
    worker = load(RPC)

    with pytest.raises(TypeError, match="does not implement the method"):
        await call(worker, bench, "Admin", method)


async def test_rpc_names_a_class_that_does_not_exist(bench: Bench, load: LoadWorker) -> None:
    worker = load(RPC)

    with pytest.raises(TypeError, match="There is no 'Nobody' class defined"):
        await call(worker, bench, "Nobody", "add")


async def test_rpc_passes_exactly_the_callers_arguments(bench: Bench, load: LoadWorker) -> None:
    worker = load(RPC)

    with pytest.raises(TypeError, match="positional argument"):
        await call(worker, bench, "Admin", "add", 1, 2, 3)


def test_global_handlers_are_not_seen_where_the_platform_does_not(load: LoadWorker) -> None:
    worker = load("async def on_fetch(request): ...", allows_global_handlers=False)

    assert worker.handlers() == frozenset()


def test_a_legacy_handler_is_told_the_modern_form(load: LoadWorker) -> None:
    worker = load("async def on_fetch(request): ...")

    assert "the modern form is class Default(WorkerEntrypoint)" in worker.warnings[0]


def test_a_decorated_legacy_handler_is_not_warned_about(load: LoadWorker) -> None:
    worker = load("from workers import handler\n@handler\nasync def on_fetch(request): ...")

    assert worker.warnings == ()
