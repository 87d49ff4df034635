"""`localedge kv`: the local namespaces from the command line, in wrangler's words.

Source: wrangler 4 packages/wrangler/src/kv/index.ts, read 2026-12-01.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from localedge.boundary import from_js
from localedge.cli import kv_bulk
from localedge.cli.kv_flags import (
    Binding,
    Config,
    Cwd,
    Env,
    Expiration,
    Json,
    Key,
    Local,
    Metadata,
    NamespaceId,
    PersistTo,
    Preview,
    Remote,
    Ttl,
    flags_of,
)
from localedge.cli.kv_input import parse_metadata, read_bytes
from localedge.cli.kv_running import print_json, run_on, tell
from localedge.cli.kv_target import target
from localedge.cli.progress import progress
from localedge.errors import Exit
from localedge.kv.namespace import KvNamespace

app = typer.Typer(no_args_is_help=True, help="Read and write local KV namespaces.")
key_app = typer.Typer(no_args_is_help=True, help="Put, get, list and delete single keys.")
app.add_typer(key_app, name="key")
app.add_typer(kv_bulk.app, name="bulk")


@key_app.command("put")
def key_put(
    key: Key,
    value: Annotated[str | None, typer.Argument(help="The value.")] = None,
    path: Annotated[Path | None, typer.Option("--path", help="Read the value here.")] = None,
    ttl: Ttl = None,
    expiration: Expiration = None,
    metadata: Metadata = None,
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
    """Write a single key/value pair to the given namespace.

    Examples: localedge kv key put colour blue --binding KV
    · localedge kv key put logo --path logo.png --ttl 3600 --binding KV
    """
    flags = flags_of(cwd, config, env, binding, namespace_id, preview, persist_to, remote)
    if value is not None and path is not None:
        raise typer.BadParameter("Arguments value and path are mutually exclusive")
    if value is None and path is None:
        raise typer.BadParameter("Exactly one of the arguments value and path is required")
    given = {
        "expiration": expiration,
        "expirationTtl": ttl,
        "metadata": parse_metadata(metadata),
    }
    options = {name: option for name, option in given.items() if option is not None}
    content = value if path is None else read_bytes(flags.cwd / path)
    to = target(flags)
    what = f'the value "{value}" to' if path is None else f"the contents of {path} to the"
    with_metadata = f' with metadata "{metadata}"' if metadata else ""
    if not json:
        tell(f'Writing {what} key "{key}" on namespace {to.namespace_id}{with_metadata}.')
    run_on(to, lambda kv: kv.put(key, content, options))
    if json:
        print_json({"key": key, "namespace_id": to.namespace_id})


@key_app.command("get")
def key_get(
    key: Key,
    text: Annotated[bool, typer.Option("--text", help="Decode the value as UTF-8.")] = False,
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
    """Read a single value by key from the given namespace.

    Examples: localedge kv key get colour --text --binding KV
    · localedge kv key get logo --binding KV > logo.png
    """
    flags = flags_of(cwd, config, env, binding, namespace_id, preview, persist_to, remote)
    found = run_on(target(flags), lambda kv: kv.get_with_metadata(key, "arrayBuffer"))
    value: bytes | None = found["value"]
    if value is None:
        # Differs: wrangler prints this on standard output and ends with 0.
        tell("Value not found")
        raise typer.Exit(Exit.FAILED)
    if json:
        shown = value.decode("utf-8", "replace")
        print_json({"key": key, "value": shown, "metadata": from_js(found["metadata"])})
    elif text:
        typer.echo(value.decode("utf-8", "replace"))
    else:
        sys.stdout.buffer.write(value)
        sys.stdout.buffer.flush()


@key_app.command("list")
def key_list(
    prefix: Annotated[str | None, typer.Option("--prefix", help="Keys that begin so.")] = None,
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
    """Output a list of all keys in a given namespace, as JSON.

    Examples: localedge kv key list --binding KV · localedge kv key list --prefix user: --binding KV
    """
    flags = flags_of(cwd, config, env, binding, namespace_id, preview, persist_to, remote)

    async def all_keys(kv: KvNamespace) -> list[Any]:
        keys: list[Any] = []
        cursor: str | None = None
        while True:
            page = await kv.list({"prefix": prefix, "cursor": cursor})
            keys += page["keys"]
            advance(len(keys))
            if page["list_complete"]:
                return keys
            cursor = page["cursor"]

    with progress("Listing keys") as advance:
        found = run_on(target(flags), all_keys)
    print_json(from_js(found))


@key_app.command("delete")
def key_delete(
    key: Key,
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
    """Remove a single key value pair from the given namespace.

    Examples: localedge kv key delete colour --binding KV
    """
    flags = flags_of(cwd, config, env, binding, namespace_id, preview, persist_to, remote)
    to = target(flags)
    if not json:
        tell(f'Deleting the key "{key}" on namespace {to.namespace_id}.')
    run_on(to, lambda kv: kv.delete(key))
    if json:
        print_json({"key": key, "namespace_id": to.namespace_id})
