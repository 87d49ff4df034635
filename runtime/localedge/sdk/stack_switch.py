"""`run_sync`: a call without `await` that waits, while the event loop goes on.

The handler of an event runs in a greenlet; `run_sync` leaves it with what is to be awaited, and
comes back with the result. Only workers that use it pay for that: `is_wanted` turns true when
they import it, or when their bundle says that a later line will.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Awaitable, Coroutine, Generator, Iterator
from pathlib import Path
from types import GeneratorType
from typing import Any, Final, NoReturn

_wanted: Final[list[bool]] = []


def want() -> None:
    """Handlers of this process run in greenlets from the next event on."""
    if not _wanted:
        import greenlet  # noqa: F401  (so that the first event does not pay for it)

        _wanted.append(True)


def is_wanted() -> bool:
    """Whether a worker of this process uses `run_sync`."""
    return bool(_wanted)


_NAMES: Final = (b"run_sync", b"asyncio.run(", b"run_until_complete")
_USERS: Final = ("django",)
"""Packages whose parts for the platform import it when they are first used."""
_NOT_OURS: Final = frozenset({"node_modules", "python_modules", "__pycache__"})


def want_for(bundle: Path) -> None:
    """`want`, when a file of the bundle names `run_sync` or what stands for it, in a function too.

    Without this the event that comes to the import first would have begun plainly already.
    """
    if _wanted:
        return
    if any(name in sys.modules for name in _USERS) or any(map(_waits, _sources(bundle))):
        want()


def _waits(source: Path) -> bool:
    text = source.read_bytes()
    return any(name in text for name in _NAMES)


def _sources(bundle: Path) -> Iterator[Path]:
    for folder, inner, files in os.walk(bundle):
        inner[:] = [name for name in inner if name[0] != "." and name not in _NOT_OURS]
        yield from (Path(folder, name) for name in files if name.endswith(".py"))


def forget() -> None:
    """Handlers run plainly again: for tests."""
    _wanted.clear()


class Switching(Coroutine[Any, Any, Any]):
    """`running`, so that code inside it, at any depth, can call `run_sync`.

    Shape: it can be awaited, or be a task of its own; `cr_code` is that of `running`, and what
    `inspect.getcoroutinestate` reads (anyio does, before it cancels a task) is how far it is.
    """

    __slots__ = ("_running", "_steps")

    def __init__(self, running: Coroutine[Any, Any, Any]) -> None:
        self._running = running
        self._steps: GeneratorType[Any, Any, Any] | None = None

    @property
    def cr_code(self) -> Any:
        """The code that runs."""
        return getattr(self._running, "cr_code", None)

    @property
    def cr_running(self) -> bool:
        """Whether it is being executed."""
        return self._steps is not None and self._steps.gi_running

    @property
    def cr_suspended(self) -> bool:
        """Whether it has begun, and waits."""
        steps = self._steps
        return steps is not None and not steps.gi_running and steps.gi_frame is not None

    @property
    def cr_frame(self) -> Any:
        """Its frame; None once it is over."""
        steps = self._steps
        return getattr(self._running, "cr_frame", None) if steps is None else steps.gi_frame

    @property
    def __name__(self) -> str:
        """The name of what runs, for whoever shows the task."""
        return getattr(self._running, "__name__", type(self._running).__name__)

    def __await__(self) -> Generator[Any, Any, Any]:
        self._steps = steps = _steps(self._running)
        return steps

    def send(self, value: Any) -> Any:
        """Go on to where something has to be waited for, which is returned."""
        if self._steps is None:
            self._steps = _steps(self._running)
        return self._steps.send(value)

    def throw(self, *error: Any) -> Any:
        """Go on with an error."""
        return (self._running if self._steps is None else self._steps).throw(*error)

    def close(self) -> None:
        """It ends where it is."""
        if self._steps is not None:
            self._steps.close()
        self._running.close()


def switchable(running: Any) -> Any:
    """`running` as a task of a worker that uses `run_sync` has to be; else as it is."""
    if not _wanted or isinstance(running, Switching) or not isinstance(running, Coroutine):
        return running
    return Switching(running)


def _steps(running: Coroutine[Any, Any, Any]) -> GeneratorType[Any, Any, Any]:
    made: GeneratorType[Any, Any, Any] = _switched(running)  # type: ignore[assignment]  # it is one
    return made


def _switched(running: Coroutine[Any, Any, Any]) -> Generator[Any, Any, Any]:
    sent: Any = None
    error: BaseException | None = None
    while True:
        finished, value = yield from _step(running, sent, error)
        if finished:
            return value
        sent, error = None, None
        try:
            sent = yield value
        except BaseException as thrown:  # noqa: BLE001  (it is thrown on, into `running`)
            error = thrown


def _step(
    running: Coroutine[Any, Any, Any], sent: Any, error: BaseException | None
) -> Generator[Any, Any, tuple[bool, Any]]:
    """One step of `running`: whether it is finished, and its result or what it waits for."""
    from greenlet import getcurrent, greenlet

    def advance() -> tuple[bool, Any]:
        try:
            if error is not None:
                return False, running.throw(error)
            return False, running.send(sent)
        except StopIteration as stop:
            return True, stop.value

    inside = greenlet(advance)
    inside.gr_context = getcurrent().gr_context
    outcome = inside.switch()
    while not inside.dead:
        try:
            value = yield from outcome.__await__()
        except BaseException as thrown:  # noqa: BLE001  (it is raised where run_sync was called)
            # The step of a switching task around this one may be another greenlet by now.
            inside.parent = getcurrent()
            outcome = inside.throw(thrown)
        else:
            inside.parent = getcurrent()
            outcome = inside.switch(value)
    finished: tuple[bool, Any] = outcome
    return finished


def run_sync(awaitable: Awaitable[Any]) -> Any:
    """The result of `awaitable`, waited for without blocking the event loop.

    Errors: RuntimeError outside of a handler, or in a task that the handler started.
    Source: pyodide.org/en/stable/usage/api/python-api/ffi.html, `run_sync`, read 2026-12-01.
    """
    from greenlet import getcurrent

    parent = getcurrent().parent
    if parent is None:
        _refuse(awaitable)
    return parent.switch(awaitable)


def _refuse(awaitable: Any) -> NoReturn:
    close = getattr(awaitable, "close", None)
    if close is not None:
        close()
    raise RuntimeError("Cannot stack switch: run_sync works inside a handler only")


def can_run_sync() -> bool:
    """Whether `run_sync` would work here."""
    if not _wanted:
        return False
    from greenlet import getcurrent

    return getcurrent().parent is not None
