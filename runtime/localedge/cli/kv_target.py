"""Which namespace a `kv` command is about, and the way to it: a running server's, or our own.

Source: wrangler 4 packages/wrangler/src/kv (helpers.ts, index.ts), read 2026-12-01.
"""

from __future__ import annotations

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path

import typer

from localedge import project
from localedge.cli.server_clock import its_clock
from localedge.errors import Exit, OperatorError
from localedge.kv.redis import connect
from localedge.kv.store import Store
from localedge.project.models import KVNamespace, Project
from localedge.supervisor import valkey
from localedge.supervisor.state import Run, locked, read_run

FALLBACK_STATE = ".localedge"


@dataclass(frozen=True, slots=True)
class Flags:
    """What every `kv` command takes.

    Shape: `cwd` is where a relative path starts; `preview` is None when it is not given.
    """

    cwd: Path
    config: Path | None = None
    environment: str | None = None
    binding: str | None = None
    namespace_id: str | None = None
    preview: bool | None = None
    persist_to: Path | None = None

    def check(self) -> None:
        """Errors: a usage error unless exactly one of --binding and --namespace-id is given."""
        if self.binding and self.namespace_id:
            raise typer.BadParameter("Arguments binding and namespace-id are mutually exclusive")
        if not (self.binding or self.namespace_id):
            raise typer.BadParameter(
                "Exactly one of the arguments binding and namespace-id is required"
            )


@dataclass(frozen=True, slots=True)
class Target:
    """A namespace: its id, the folder of local state, and a server that is not ours, if any."""

    namespace_id: str
    state: Path
    redis_url: str | None = None

    @asynccontextmanager
    async def open(self) -> AsyncIterator[Store]:
        """The namespace's store. Without a running server one is started, under the state's lock.

        Errors: OperatorError, exit 4, when there is no way to one.
        """
        run = read_run(self.state)
        with its_clock(run):
            async with self._opened(run) as store:
                yield store

    @asynccontextmanager
    async def _opened(self, run: Run | None) -> AsyncIterator[Store]:
        if self.redis_url is not None:
            async with connect(self.redis_url) as connection:
                yield connection.store(self.namespace_id)
            return
        if run is not None:
            if run.kv_url is None:
                raise OperatorError(
                    "kv/no-server",
                    f"The server that runs on {self.state} (process {run.pid}) has no KV server: "
                    "its project has no kv_namespaces.",
                    "Stop it first, or give this command another folder with --persist-to.",
                    exit=Exit.UNREACHABLE,
                )
            async with connect(run.kv_url) as connection:
                yield connection.store(self.namespace_id)
            return
        async with (
            locked(self.state),
            valkey.running(self.state / "kv") as url,
            connect(url) as connection,
        ):
            yield connection.store(self.namespace_id)


def target(flags: Flags) -> Target:
    """The namespace that `flags` name.

    Errors: OperatorError when no config has the binding, or when it has not the id asked for.
    """
    flags.check()
    found = _load(flags)
    namespace_id = flags.namespace_id or _id_of(flags, found)
    return Target(namespace_id, _state(flags, found), found.local.redis_url if found else None)


def _load(flags: Flags) -> Project | None:
    try:
        found = project.load(
            start=flags.cwd,
            config=flags.config,
            environment=flags.environment,
            process_env=os.environ,
            to_run=False,
        )
    except OperatorError as error:
        if error.code == "config/not-found" and flags.config is None and flags.namespace_id:
            return None
        raise
    for warning in found.warnings:
        typer.echo(warning, err=True)
    return found


def _state(flags: Flags, found: Project | None) -> Path:
    if flags.persist_to is not None:
        return flags.cwd / flags.persist_to
    return found.state if found else flags.cwd / FALLBACK_STATE


def _id_of(flags: Flags, found: Project | None) -> str:
    entries = found.kv_namespaces if found else ()
    if not entries:
        raise OperatorError(
            "kv/no-namespaces",
            "No KV Namespaces configured! Either use --namespace-id to upload directly or add a "
            "KV namespace to your wrangler config file.",
        )
    entry = next((entry for entry in entries if entry.binding == flags.binding), None)
    if entry is None:
        raise OperatorError(
            "kv/unknown-binding",
            f'A namespace with binding name "{flags.binding}" was not found in the configured '
            '"kv_namespaces".',
            f"It has {', '.join(entry.binding for entry in entries)}.",
        )
    return _chosen_id(entry, flags.preview)


def _chosen_id(entry: KVNamespace, preview: bool | None) -> str:
    """The id that `--preview` and `--no-preview` ask for; without them, what `dev` uses."""
    if preview is None:
        return entry.storage_id
    chosen = entry.preview_id if preview else entry.id
    if chosen is None:
        raise OperatorError(
            "kv/no-such-id",
            f"No {'preview' if preview else 'namespace'} ID found for {entry.binding}. Add one to "
            "your wrangler config file to use a separate namespace for previewing your worker.",
        )
    return chosen
