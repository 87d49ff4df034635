"""Loads a worker's main module and hands events to it."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Awaitable, Callable, Mapping
from pathlib import Path
from types import FrameType, ModuleType, TracebackType
from typing import Any, Final

from localedge import clock
from localedge.binding import EnvWrapper
from localedge.boundary import JsProxy, to_js
from localedge.errors import OperatorError, js_type_error
from localedge.sdk import discovery, finder, stack_switch, web
from localedge.sdk.context import ExecutionContext, current
from localedge.sdk.controller import ScheduledController
from localedge.sdk.legacy import raw_env
from localedge.sdk.surprises import surprises
from localedge.sdk.web.body import USED_TEXT
from localedge.sdk.web.coding import carried_out

_NOT_A_RESPONSE: Final = "Incorrect type for Promise: the Promise did not resolve to 'Response'."
_NO_ANSWER: Final = (
    "A Response with status {} cannot be sent: 101 is for a WebSocket, 0 for Response.error()."
)
_OUR_FOLDERS: Final = (str(Path(__file__).parents[1]), str(Path(clock.__file__).parent))
_NO_NAME: Final = "There is no '{}' class defined in the Python Worker's main module"


class Worker:
    """A loaded main module.

    Shape: `module` is it; `warnings` are sentences about handlers that will surprise.
    """

    def __init__(
        self, module: ModuleType, *, is_legacy: bool = False, allows_global_handlers: bool = True
    ) -> None:
        import workers

        self.module = module
        self._request_of = workers.Request._of
        self._is_legacy = is_legacy
        found = discovery.discover(module, allows_global_handlers=allows_global_handlers)
        self._entrypoints: Mapping[str, type[Any]] = found.classes
        self._default = found.default
        self._legacy = found.legacy
        self.unsupported: Mapping[str, str] = found.unsupported
        self._takes: dict[tuple[object, str], int] = {}
        self._fetch_takes = self._arity(found.default, "fetch") if found.default else 0
        self.warnings = tuple(surprises(found, is_legacy=is_legacy))

    def handlers(self) -> frozenset[str]:
        """Names of the events that the default entrypoint handles: "fetch", "scheduled", …"""
        if self._default is None:
            return frozenset(self._legacy)
        names = (name for name in discovery.CLASS_HANDLERS if hasattr(self._default, name))
        return frozenset(names)

    def entrypoints(self) -> frozenset[str]:
        """Names of the entrypoint classes of the main module."""
        return frozenset(self._entrypoints)

    async def fetch(
        self,
        request: web.Request,
        env: EnvWrapper,
        ctx: ExecutionContext,
        entrypoint: str | None = None,
    ) -> web.Response:
        """The worker's response to `request`, from a new instance of an entrypoint.

        Shape: `entrypoint` None is the default one.
        Errors: what the worker raises; TypeError when it gives anything but a Response.
        """
        current.set(ctx)
        if entrypoint is not None:
            return await self._fetch_at(entrypoint, request, env, ctx)
        default = self._default
        if default is None:
            return await self._legacy_fetch(request, env, ctx)
        instance = default(ctx, raw_env(env) if self._is_legacy else env)
        method = getattr(instance, "fetch", None)
        if method is None:
            raise TypeError("Handler does not export a fetch() function.")
        arguments = (self._request_of(request), None, None)[: self._fetch_takes]
        if stack_switch.is_wanted():
            return response_of(await _switching(method, arguments))
        result = method(*arguments)
        if hasattr(result, "__await__"):
            result = await result
        return response_of(result)

    async def scheduled(
        self, cron: str, scheduled_time_ms: int, env: EnvWrapper, ctx: ExecutionContext
    ) -> ScheduledController:
        """The default entrypoint has handled the cron trigger; returns its controller.

        Errors: TypeError when there is no handler, or one that does not take three arguments.
        """
        current.set(ctx)
        controller = ScheduledController(cron, scheduled_time_ms)
        proxy = JsProxy(controller)
        if self._default is None:
            await self._legacy_call("scheduled", proxy, env, ctx)
            return controller
        instance = self._default(ctx, raw_env(env) if self._is_legacy else env)
        method = getattr(instance, "scheduled", None)
        if method is None:
            raise TypeError("Handler does not export a scheduled() function.")
        await _called(method, (proxy, None, None))
        return controller

    async def call(
        self,
        entrypoint: str,
        method: str,
        args: list[Any],
        env: EnvWrapper,
        ctx: ExecutionContext,
    ) -> Any:
        """The result of an RPC method; its arguments and result are values of the platform.

        Errors: TypeError when the class or the method does not exist.
        """
        from workers.rpc import from_far

        current.set(ctx)
        cls = self._class(entrypoint)
        if method not in discovery.public_methods(cls):
            raise TypeError(f'The RPC receiver does not implement the method "{method}".')
        instance = cls(ctx, raw_env(env) if self._is_legacy else env)
        given = tuple(from_far(argument) for argument in args)
        return to_js(await _called(getattr(instance, method), given))

    async def _fetch_at(
        self, entrypoint: str, request: web.Request, env: EnvWrapper, ctx: ExecutionContext
    ) -> web.Response:
        cls = self._class(entrypoint)
        if not hasattr(cls, "fetch"):
            raise TypeError("Handler does not export a fetch() function.")
        instance = cls(ctx, raw_env(env) if self._is_legacy else env)
        arguments = (self._request_of(request), None, None)[: self._arity(cls, "fetch")]
        return response_of(await _called(instance.fetch, arguments))

    def _class(self, entrypoint: str) -> type[Any]:
        cls = self._entrypoints.get(entrypoint)
        if cls is None:
            raise TypeError(_NO_NAME.format(entrypoint))
        return cls

    async def _legacy_fetch(
        self, request: web.Request, env: EnvWrapper, ctx: ExecutionContext
    ) -> web.Response:
        return response_of(await self._legacy_call("fetch", JsProxy(request), env, ctx))

    async def _legacy_call(
        self, name: str, event: JsProxy, env: EnvWrapper, ctx: ExecutionContext
    ) -> Any:
        function = self._legacy.get(name)
        if function is None:
            raise TypeError(f"Handler does not export a {name}() function.")
        takes = discovery.handler(name, function, bound=False).takes
        return await _called(function, (event, raw_env(env), ctx)[:takes])

    def _arity(self, cls: type[Any], name: str) -> int:
        function = getattr(cls, name, None)
        return 0 if function is None else discovery.handler(name, function, bound=True).takes


async def _called(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    if stack_switch.is_wanted():
        return await _switching(function, arguments)
    result = function(*arguments)
    return await result if hasattr(result, "__await__") else result


def _switching(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Awaitable[Any]:
    async def run() -> Any:
        result = function(*arguments)
        return await result if hasattr(result, "__await__") else result

    return stack_switch.Switching(run())


def response_of(result: Any) -> web.Response:
    """The platform's Response that `result` of a fetch handler stands for.

    Errors: TypeError when it is none, when its body was read already, or when its status is none
    that can be sent.
    """
    inner = getattr(result, "_js", None)
    if not isinstance(inner, web.Response):
        raise TypeError(_NOT_A_RESPONSE)
    if inner.body_used:
        raise js_type_error(USED_TEXT)
    if inner.status < 200:
        raise js_type_error(_NO_ANSWER.format(inner.status))
    for name, _ in inner.headers.raw():
        if name == "content-encoding":
            return carried_out(inner)
    return inner


def load_worker(
    main: Path, *, is_legacy: bool = False, allows_global_handlers: bool = True
) -> Worker:
    """The worker whose main module is the file `main`; its folder is the root of imports.

    Shape: `is_legacy` gives classes the raw env of the older world; without
    `allows_global_handlers` a module's own `on_fetch` and the like are not seen.
    Errors: OperatorError for a folder that hides our own package or for a main module named
    like one of the platform's; whatever the module itself raises, unchanged.
    """
    root = main.resolve().parent
    _refuse_hiding(root, main)
    finder.install()
    if str(root) not in sys.path:
        sys.path.insert(0, str(root))
    module = _import_main(main.resolve())
    stack_switch.want_for(root)
    return Worker(module, is_legacy=is_legacy, allows_global_handlers=allows_global_handlers)


def _refuse_hiding(root: Path, main: Path) -> None:
    if (root / "localedge").is_dir():
        raise OperatorError(
            "worker/reserved-folder",
            f"{root.name}/localedge hides the package that runs this worker.",
            "Give the folder another name.",
        )
    if main.stem in finder.OFFERED:
        raise OperatorError(
            "worker/reserved-name",
            f'the main module "{main.name}" has the name of a module of the platform.',
            "Rename it, for example to entry.py.",
        )


def _import_main(main: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(main.stem, main)
    if spec is None or spec.loader is None:
        raise OperatorError(
            "worker/not-python",
            f'the main module "{main.name}" is not a Python file.',
            'Set "main" to a file that ends in .py.',
        )
    module = importlib.util.module_from_spec(spec)
    sys.modules[main.stem] = module
    try:
        spec.loader.exec_module(module)
    except BaseException:
        sys.modules.pop(main.stem, None)
        raise
    return module


def worker_frames(traceback: TracebackType | None) -> TracebackType | None:
    """`traceback` from the first frame on that is the worker's: what its author should see.

    None when no frame is, for example for a syntax error in the main module.
    """
    step = traceback
    while step is not None and step.tb_frame.f_code.co_filename != __file__:
        step = step.tb_next
    if step is None:
        step = traceback
    while step is not None and _is_ours(step.tb_frame):
        step = step.tb_next
    return step


def _is_ours(frame: FrameType) -> bool:
    file = frame.f_code.co_filename
    return file.startswith(("<frozen importlib", *_OUR_FOLDERS))
