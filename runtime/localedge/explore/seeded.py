"""Randomness that is a function of the seed, the worker and how much it has drawn."""

from __future__ import annotations

import hashlib
import os
import random
import uuid
from collections.abc import Callable, Iterator
from contextlib import contextmanager

_BLOCK = 32


class Source:
    """What `os.urandom`, `uuid`, `secrets` and `random` give to one worker."""

    __slots__ = ("_drawn", "_name")

    def __init__(self, seed: int, worker: int) -> None:
        self._name = f"{seed}/{worker}/".encode()
        self._drawn = 0

    def draw(self, size: int) -> bytes:
        """`size` bytes that nobody drew before."""
        found = b""
        while len(found) < size:
            self._drawn += 1
            found += hashlib.blake2b(
                b"%b%d" % (self._name, self._drawn), digest_size=_BLOCK
            ).digest()
        return found[:size]

    def reseed(self) -> None:
        """The functions of `random` go on with this worker's numbers."""
        self._drawn += 1
        random.seed(int.from_bytes(self.draw(8)))


@contextmanager
def installed(current: Callable[[], Source | None]) -> Iterator[None]:
    """Everything random in this process comes from `current()`, where it is not None."""
    real = os.urandom

    def urandom(size: int, /) -> bytes:
        source = current()
        return real(size) if source is None else source.draw(size)

    state = random.getstate()
    # `uuid1` asks the C library, and `random.SystemRandom` has a name of its own for urandom.
    places = ((os, "urandom"), (random, "_urandom"), (uuid, "_generate_time_safe"))
    kept = [(module, name, getattr(module, name, None)) for module, name in places]
    os.urandom = urandom
    random._urandom = urandom  # type: ignore[attr-defined]
    uuid._generate_time_safe = None  # type: ignore[attr-defined]
    try:
        yield
    finally:
        for module, name, value in kept:
            setattr(module, name, value)
        random.setstate(state)
