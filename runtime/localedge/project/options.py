"""From what a command line says to the arguments of `load`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TypedDict


class LoadArguments(TypedDict):
    """The arguments of `localedge.project.load`, `to_run` apart."""

    start: Path
    config: Path | None
    environment: str | None
    env_files: tuple[Path, ...]
    process_env: Mapping[str, str]


def load_arguments(
    *,
    cwd: Path,
    process_env: Mapping[str, str],
    configs: Sequence[Path] | None = None,
    env: str | None = None,
    env_files: Sequence[Path] | None = None,
) -> list[LoadArguments]:
    """Return the arguments of `load` for each worker that the options ask for.

    Shape: one per `--config`, or one when there is none; `env` is None when `--env` was not given,
    and "" chooses the top level.
    """
    return [
        LoadArguments(
            start=cwd,
            config=config,
            environment=env,
            env_files=tuple(env_files or ()),
            process_env=process_env,
        )
        for config in (configs or (None,))
    ]
