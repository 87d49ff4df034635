"""Refuses at import what the edge refuses there: entropy, timers, sockets, bindings.

Module scope runs once there, before a snapshot of the memory is taken.
"""

from __future__ import annotations

import functools
import os
import random
import socket
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from types import FrameType
from typing import Any, Final

from localedge.errors import JsException
from localedge.isolate.ownership import EVENT
from localedge.probe import Call, Outcome
from localedge.sdk.web import crypto, subtle, timers

# Source: workerd src/pyodide/internal/topLevelEntropy/entropy_import_context.py, allow_entropy.py
# and src/workerd/io/io-context.c++, read 2026-12-01.
NO_ENTROPY: Final = "Cannot get entropy outside of request context"
DISALLOWED: Final = (
    "Disallowed operation called within global scope. Asynchronous I/O (ex: fetch() or connect()), "
    "setting a timeout, and generating random values are not allowed within global scope. To fix "
    "this error, perform this operation within a handler. "
    "https://developers.cloudflare.com/workers/runtime-apis/handlers/"
)
_ALLOWED: Final = frozenset(("Random", "SystemRandom"))
_VENDORED: Final = "python_modules"
_CRYPTO: Final = (crypto.__file__, subtle.__file__)


class GlobalScope:
    """Refuses calls that no event makes: those of module scope, whenever they are awaited."""

    async def before(self, call: Call) -> None:
        """Errors: JsException for a call outside of events."""
        if EVENT.get() is None:
            raise JsException(DISALLOWED)

    async def after(self, call: Call, outcome: Outcome) -> None:
        """Nothing is left to do."""


@contextmanager
def import_guard(bundle: Path) -> Iterator[None]:
    """In this block modules of `bundle` can draw no entropy, set no timer, and open no socket.

    What they took hold of meanwhile (`from random import choice`) works afterwards.
    """
    guard = _Guard(bundle.resolve())
    try:
        guard.put_up()
        yield
    finally:
        guard.take_down()


class _Guard:
    def __init__(self, bundle: Path) -> None:
        self._bundle = f"{bundle}{os.sep}"
        self._vendored = f"{bundle / _VENDORED}{os.sep}"
        self._is_up = False
        self._replaced: list[tuple[Any, str, Any]] = []

    def put_up(self) -> None:
        self._is_up = True
        for name in random.__all__:
            if name not in _ALLOWED:
                text = f"Cannot use random.{name}() outside of request context"
                self._replace(random, name, partial(RuntimeError, text))
        no_entropy = partial(OSError, NO_ENTROPY)
        for holder, name in ((os, "urandom"), (os, "getrandom"), (random, "_urandom")):
            if hasattr(holder, name):
                self._replace(holder, name, no_entropy)
        self._replace(random.Random, "seed", no_entropy, only_if=_is_unseeded)
        self._replace(timers, "_start", partial(JsException, DISALLOWED))
        self._replace(socket.socket, "connect", partial(JsException, DISALLOWED))

    def take_down(self) -> None:
        self._is_up = False
        for holder, name, original in reversed(self._replaced):
            setattr(holder, name, original)

    def _replace(
        self,
        holder: Any,
        name: str,
        error: Callable[[], Exception],
        *,
        only_if: Callable[..., bool] = lambda *_args, **_kwargs: True,
    ) -> None:
        original = getattr(holder, name)

        @functools.wraps(original)
        def guarded(*args: Any, **kwargs: Any) -> Any:
            if self._is_up and only_if(*args, **kwargs):
                self._refuse(sys._getframe(1), error)
            return original(*args, **kwargs)

        self._replaced.append((holder, name, original))
        setattr(holder, name, guarded)

    # Differs: the edge also refuses packages that draw entropy while they are imported, unless it
    # has a patch for them; here every package may.
    def _refuse(self, frame: FrameType | None, error: Callable[[], Exception]) -> None:
        """Raise when the innermost module that is being imported is one of the bundle's."""
        is_crypto = False
        while frame is not None:
            code = frame.f_code
            is_crypto = is_crypto or code.co_filename in _CRYPTO
            if code.co_name == "<module>":
                file = code.co_filename
                if file.startswith(self._bundle) and not file.startswith(self._vendored):
                    raise JsException(DISALLOWED) if is_crypto else error()
                return
            frame = frame.f_back


def _is_unseeded(_self: object, a: object = None, version: int = 2) -> bool:
    return a is None
