"""A bar on stderr for what takes more than a second, when somebody looks at a terminal."""

from __future__ import annotations

import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

DELAY_S: Final = 1.0

Advance = Callable[[int], None]
"""Called with how much is done by now, from any thread."""


@contextmanager
def progress(title: str, total: int | None = None) -> Iterator[Advance]:
    """Show how far `title` has come, of `total` or as a spinner, until the end of the block.

    Nothing is shown during the first second, nor where stderr is no terminal.
    """
    if not sys.stderr.isatty():
        yield lambda _done: None
        return
    shown = _Shown(title, total)
    timer = threading.Timer(DELAY_S, shown.start)
    timer.daemon = True
    timer.start()
    try:
        yield shown.advance
    finally:
        timer.cancel()
        shown.stop()


class _Shown:
    """The bar, once it is there."""

    def __init__(self, title: str, total: int | None) -> None:
        self._title = title
        self._total = total
        self._done = 0
        self._lock = threading.Lock()
        self._is_over = False
        self._stop: Callable[[], None] | None = None
        self._update: Advance | None = None
        self._began_s = time.monotonic()

    def start(self) -> None:
        """It is on the terminal, unless all is over."""
        with self._lock:
            if self._is_over:
                return
            # Few commands take a second; the others do not pay for the import.
            from rich.console import Console
            from rich.progress import (
                BarColumn,
                Progress,
                SpinnerColumn,
                TextColumn,
                TimeElapsedColumn,
            )

            columns = [SpinnerColumn(), TextColumn("{task.description}")]
            if self._total is not None:
                columns += [BarColumn(), TextColumn("{task.completed:.0f} of {task.total:.0f}")]
            bar = Progress(
                *columns,
                TimeElapsedColumn(),
                console=Console(stderr=True),
                transient=True,
                # Results stay on stdout, whoever reads that.
                redirect_stdout=False,
            )
            task = bar.add_task(self._title, total=self._total, completed=self._done)
            self._update = lambda done: bar.update(task, completed=done)
            self._stop = bar.stop
            bar.start()
            # What was done since it was made was told to nobody.
            bar.update(task, completed=self._done)

    def advance(self, done: int) -> None:
        """So much is done."""
        self._done = done
        if self._update is not None:
            self._update(done)

    def stop(self) -> None:
        """It is gone."""
        with self._lock:
            self._is_over = True
            if self._stop is not None:
                self._stop()
