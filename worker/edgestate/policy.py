"""When a task's progress is stored, and what a crash can make run again."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class CheckpointPolicy:
    """When results are stored; whatever it says, an intent is stored before its effect.

    Shape: `redo_bound` is how many finished or begun steps a crash can make run again (None:
    all of the task). Only steps that are safe to repeat are ever repeated.
    """

    name: str
    every: int | None
    at_key_points: bool
    redo_bound: int | None

    @classmethod
    def every_step(cls) -> CheckpointPolicy:
        """After each step. A crash repeats the step under way at most."""
        return cls("every_step", 1, True, 1)

    @classmethod
    def every_n(cls, steps: int) -> CheckpointPolicy:
        """After every `steps` results. A crash repeats at most `steps` steps."""
        if steps < 1:
            raise ValueError(f"every_n takes 1 or more, not {steps}")
        return cls(f"every_{steps}", steps, True, steps)

    @classmethod
    def key_points(cls) -> CheckpointPolicy:
        """At the end, on failure, when a tool is limited or retried, around a charge.

        A crash repeats what came after the last of these.
        """
        return cls("key_points", None, True, None)

    @classmethod
    def at_end(cls) -> CheckpointPolicy:
        """At the end and around a charge. A crash repeats what came after the last of these."""
        return cls("at_end", None, False, None)

    def is_due(self, results: int, *, is_key_point: bool) -> bool:
        """Whether `results` unstored ones are to be stored now."""
        if is_key_point and self.at_key_points:
            return True
        return self.every is not None and results >= self.every
