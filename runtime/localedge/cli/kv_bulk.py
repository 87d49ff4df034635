"""`localedge kv bulk`: the keys of a file, put, got or deleted one after the other.

Source: wrangler 4 packages/wrangler/src/kv/index.ts, read 2026-12-01.
"""

from __future__ import annotations

from typing import Any

import typer

from localedge.cli.kv_flags import (
    Binding,
    Config,
    Cwd,
    Env,
    File,
    Force,
    Json,
    Local,
    NamespaceId,
    PersistTo,
    Preview,
    Remote,
    flags_of,
)
from localedge.cli.kv_input import read_key_values, read_keys
from localedge.cli.kv_running import is_interactive, print_json, run_on, tell
from localedge.cli.kv_target import target
from localedge.cli.progress import progress
from localedge.kv.namespace import KvNamespace

app = typer.Typer(no_args_is_help=True, help="Put, get and delete the keys in a file.")


@app.command("put")
def bulk_put(
    filename: File,
    json: Json = False,
    binding: Binding = None,
    namespace_id: NamespaceId = None,
    preview: Preview = None,
    local: Local = False,
    remote: Remote = False,
    persist_to: PersistTo = None,
    config: Config = None,
    env: Env = None,
    cwd: Cwd = None,
) -> None:
    """Upload multiple key-value pairs to a namespace.

    Examples: localedge kv bulk put pairs.json --binding KV
    """
    flags = flags_of(cwd, config, env, binding, namespace_id, preview, persist_to, remote)
    items = read_key_values(flags.cwd / filename)

    async def put_all(kv: KvNamespace) -> None:
        for done, item in enumerate(items, 1):
            await kv.put(item.key, item.content(), item.options())
            advance(done)

    to = target(flags)
    with progress("Writing keys", len(items)) as advance:
        run_on(to, put_all)
    _tell_done(len(items), to.namespace_id, json)


@app.command("get")
def bulk_get(
    filename: File,
    json: Json = False,
    binding: Binding = None,
    namespace_id: NamespaceId = None,
    preview: Preview = None,
    local: Local = False,
    remote: Remote = False,
    persist_to: PersistTo = None,
    config: Config = None,
    env: Env = None,
    cwd: Cwd = None,
) -> None:
    """Get multiple key-value pairs from a namespace, as JSON.

    Examples: localedge kv bulk get keys.json --binding KV
    """
    flags = flags_of(cwd, config, env, binding, namespace_id, preview, persist_to, remote)
    keys = read_keys(flags.cwd / filename, allow_objects=True)

    async def get_all(kv: KvNamespace) -> dict[str, Any]:
        found: dict[str, Any] = {}
        for done, key in enumerate(keys, 1):
            found[key] = {"value": await kv.get(key, "text")}
            advance(done)
        return found

    to = target(flags)
    with progress("Reading keys", len(keys)) as advance:
        found = run_on(to, get_all)
    print_json(found)
    if not json:
        tell("\nSuccess!")


@app.command("delete")
def bulk_delete(
    filename: File,
    force: Force = False,
    json: Json = False,
    binding: Binding = None,
    namespace_id: NamespaceId = None,
    preview: Preview = None,
    local: Local = False,
    remote: Remote = False,
    persist_to: PersistTo = None,
    config: Config = None,
    env: Env = None,
    cwd: Cwd = None,
) -> None:
    """Delete multiple key-value pairs from a namespace.

    Examples: localedge kv bulk delete keys.json --force --binding KV
    """
    flags = flags_of(cwd, config, env, binding, namespace_id, preview, persist_to, remote)
    to = target(flags)
    question = (
        f'Are you sure you want to delete all the keys read from "{filename}" from kv-namespace '
        f'with id "{to.namespace_id}"?'
    )
    if not (force or json) and is_interactive() and not typer.confirm(question, err=True):
        tell(f'Not deleting keys read from "{filename}".')
        return
    keys = read_keys(flags.cwd / filename, allow_objects=False)

    async def delete_all(kv: KvNamespace) -> None:
        for done, key in enumerate(keys, 1):
            await kv.delete(key)
            advance(done)

    with progress("Deleting keys", len(keys)) as advance:
        run_on(to, delete_all)
    _tell_done(len(keys), to.namespace_id, json)


def _tell_done(count: int, namespace_id: str, is_json: bool) -> None:
    if is_json:
        print_json({"keys": count, "namespace_id": namespace_id})
    else:
        tell("Success!")
