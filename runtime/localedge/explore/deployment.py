"""A worker as the explorer runs it: loaded once, as good as new for each event."""

from __future__ import annotations

import ast
import copy
import itertools
import os
import sys
from collections import OrderedDict, defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any, Final

from localedge import clock
from localedge.errors import Exit, OperatorError
from localedge.explore.answers import Answer
from localedge.explore.incarnation import Incarnation, WorkerKilled
from localedge.explore.scenario import Scenario
from localedge.isolate.ownership import EVENT
from localedge.project import load
from localedge.project.models import Project
from localedge.sdk import finder
from localedge.sdk.dispatch import Worker, load_worker
from localedge.sdk.host import Host
from localedge.sdk.web import Request
from localedge.stream import ReadableStream

_ORIGIN: Final = "http://explored.test"
_KINDS: Final = (dict, list, set, deque, defaultdict, OrderedDict)
_COUNT: Final = type(itertools.count())


@dataclass(slots=True)
class _Global:
    """A module's variable that changes, and what it is in a new isolate."""

    module: ModuleType
    name: str
    value: Any
    first: Any


@dataclass(slots=True)
class Deployment:
    """A loaded worker, if the scenario has one, and the env of its events."""

    host: Host
    worker: Worker | None = None
    root: Path | None = None
    _globals: list[_Global] = field(default_factory=list)
    _names: dict[str, dict[str, Any]] = field(default_factory=dict)

    async def serve(self, worker: Incarnation) -> Answer:
        """The worker's answer to its event; an error of its own is an answer too."""
        EVENT.set(worker.event)
        try:
            if worker.ask.kind == "run":
                assert worker.ask.function is not None
                value = await worker.ask.function(self.host.env, *worker.ask.arguments)
                return Answer(value=value)
            return await self._event(worker)
        except WorkerKilled:
            raise
        except Exception as error:  # noqa: BLE001  (the boundary of worker code)
            return Answer(500, error=f"{type(error).__name__}: {error}")

    async def _event(self, worker: Incarnation) -> Answer:
        if self.worker is None:
            raise OperatorError(
                "explore/no-worker",
                f"the scenario sends {worker.ask}, and there is no worker to answer it.",
                "Name the project's config file, or let the client `run` a function.",
                exit=Exit.CONFIG,
            )
        ask, context = worker.ask, worker.event.context
        if ask.kind == "scheduled":
            await self.worker.scheduled(ask.path, clock.now_ms(), self.host.env, context)
            return Answer()
        request = Request(ask.method, _ORIGIN + ask.path, ask.headers, ask.body)
        response = await self.worker.fetch(request, self.host.env, context)
        body = response.body
        if isinstance(body, ReadableStream):
            body = b"".join([bytes(chunk) async for chunk in body])
        return Answer(response.status, tuple(response.headers.raw()), body or b"")

    # --- what a new isolate does not remember ---

    def learn_globals(self) -> None:
        """The worker's modules are as a new isolate has them: remember what may change."""
        for name, module in [*sys.modules.items()]:
            file = getattr(module, "__file__", None)
            if self.root is None or not file or not Path(file).is_relative_to(self.root):
                continue
            self._names[name] = dict(vars(module))
            for variable, value in vars(module).items():
                if type(value) in _KINDS or type(value) is _COUNT:
                    if variable.startswith("__"):
                        continue
                    self._globals.append(_Global(module, variable, value, _copied(value)))

    def forget_globals(self) -> None:
        """Module variables are as a new isolate has them."""
        for one in self._globals:
            if type(one.value) is _COUNT:
                fresh = self._names[one.module.__name__][one.name] = _copied(one.first)
                setattr(one.module, one.name, fresh)
            elif one.value != one.first:
                _refill(one.value, _copied(one.first))
        for name, variables in self._names.items():
            module = sys.modules.get(name)
            # One comparison of the whole is a tenth of the time that one of each variable takes.
            if module is not None and vars(module) != variables:
                _restore(vars(module), variables)


def _copied(value: Any) -> Any:
    if type(value) is _COUNT:
        # It cannot be copied from Python 3.14 on; its repr is count(first) or count(first, step).
        try:
            return _COUNT(*ast.literal_eval(f"({repr(value)[6:-1]},)"))
        except (ValueError, SyntaxError):
            # One of Decimals, say: it goes on counting, as a value of an unknown class does.
            return value
    return copy.deepcopy(value)


def _restore(now: dict[str, Any], variables: dict[str, Any]) -> None:
    for name in now.keys() - variables.keys():
        # A module that was imported later is one of these, too: it stays.
        if not name.startswith("__") and not isinstance(now[name], ModuleType):
            del now[name]
    now.update(variables)


def _refill(value: Any, first: Any) -> None:
    value.clear()
    if isinstance(value, list | deque):
        value.extend(first)
    else:
        value.update(first)


def project_of(scenario: Scenario, folder: Path) -> Project | None:
    """The project that the scenario's worker belongs to; None if it brings its own setting.

    Errors: OperatorError when there is none, or it is wrong.
    """
    if scenario.setting is not None:
        return None
    file = scenario.config
    if file is not None and not file.is_absolute():
        file = folder / file
    return load(start=folder, config=file, process_env=os.environ)


@contextmanager
def loaded(main: Path | None, host: Host) -> Iterator[Deployment]:
    """The worker whose main module is `main`; at the end its modules are forgotten.

    Errors: what `load_worker` and the module itself raise.
    """
    if main is None:
        yield Deployment(host)
        return
    was_installed = "workers" in sys.modules
    known = {*sys.modules}
    root = main.resolve().parent
    had_root = str(root) in sys.path
    try:
        deployment = Deployment(host, load_worker(main), root)
        deployment.learn_globals()
        yield deployment
    finally:
        for name in {*sys.modules} - known:
            file = getattr(sys.modules[name], "__file__", None) or ""
            if file and Path(file).is_relative_to(root) and name.partition(".")[0] != "edgestate":
                del sys.modules[name]
        if not had_root and str(root) in sys.path:
            sys.path.remove(str(root))
        if not was_installed:
            finder.remove()
