"""What is sent to both sides, step by step."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TypeAlias

Lines: TypeAlias = tuple[tuple[str, str], ...]


@dataclass(frozen=True, slots=True)
class Recorded:
    """The answer that a request had when it was recorded."""

    status: int
    headers: Lines
    body: bytes


@dataclass(frozen=True, slots=True)
class Send:
    """One HTTP request.

    Shape: `target` is the path with the query; `keep` maps a name to the place of a value in the
    JSON answer ("tasks.0.taskId"), which `${name}` stands for in later steps. With `recorded`, ids
    of that answer in later steps stand for the side's own. With `crash_when`, a URL, the worker's
    process dies before it has answered, once a GET of that URL is answered with 2xx.
    """

    method: str
    target: str
    headers: Lines = ()
    body: bytes = b""
    keep: Mapping[str, str] = field(default_factory=dict)
    recorded: Recorded | None = None
    crash_when: str | None = None

    @property
    def title(self) -> str:
        """The step in one line."""
        return f"{self.method} {self.target}"


@dataclass(frozen=True, slots=True)
class Cron:
    """The worker's `scheduled` handler is called."""

    expression: str

    @property
    def title(self) -> str:
        """The step in one line."""
        return f'cron "{self.expression}"'


@dataclass(frozen=True, slots=True)
class Restart:
    """The worker's process dies, and another one serves; the stores stay."""

    @property
    def title(self) -> str:
        """The step in one line."""
        return "restart"


@dataclass(frozen=True, slots=True)
class Call:
    """Something outside is asked or told, once for each side; its answer is not compared."""

    method: str
    url: str
    body: bytes = b""

    @property
    def title(self) -> str:
        """The step in one line."""
        return f"call {self.method} {self.url}"


Step: TypeAlias = Send | Cron | Restart | Call


@dataclass(frozen=True, slots=True)
class Plan:
    """All steps; `patterns` are the file's own for values that must differ; `notes` for people."""

    steps: tuple[Step, ...]
    patterns: Mapping[str, str] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
