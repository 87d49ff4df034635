"""`localedge kv`: the local namespaces from the command line, in wrangler's words.

Source: wrangler 4 packages/wrangler/src/kv/index.ts, read 2026-12-01.
"""

from __future__ import annotations

import asyncio
import json as json_text
import os
import sys
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Annotated, Any, TypeVar

import typer

from localedge.boundary import from_js
from localedge.cli.kv_flags import (
    Binding,
    Config,
    Cwd,
    Env,
    Expiration,
    File,
    Force,
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
from localedge.cli.kv_input import parse_metadata, read_bytes, read_key_values, read_keys
from localedge.cli.kv_target import Target, target
from localedge.errors import Exit, JsException, OperatorError
from localedge.kv.namespace import KvNamespace
from localedge.kv.store import StoreError, UnavailableError

app = typer.Typer(no_args_is_help=True, help="Read and write local KV namespaces.")
key_app = typer.Typer(no_args_is_help=True, help="Put, get, list and delete single keys.")
bulk_app = typer.Typer(no_args_is_help=True, help="Put, get and delete the keys in a file.")
app.add_typer(key_app, name="key")
app.add_typer(bulk_app, name="bulk")

T = TypeVar("T")


def _run(to: Target, work: Callable[[KvNamespace], Awaitable[T]]) -> T:
    """What `work` gives for the namespace. Errors: OperatorError for what the platform refuses."""

    async def running() -> T:
        async with to.open() as store:
            return await work(KvNamespace(store))

    try:
        return asyncio.run(running())
    except JsException as exc:
        if isinstance(exc.__cause__, UnavailableError):
            raise OperatorError(
                "kv/unreachable", f"{exc.message}: {exc.__cause__}", exit=Exit.UNREACHABLE
            ) from exc
        raise OperatorError("kv/refused", exc.message) from exc
    except StoreError as exc:
        raise OperatorError("kv/unreachable", str(exc), exit=Exit.UNREACHABLE) from exc


def _tell(text: str) -> None:
    typer.echo(text, err=True)


def _print_json(value: object) -> None:
    typer.echo(json_text.dumps(value, indent=2, ensure_ascii=False))


@key_app.command("put")
def key_put(
    key: Key,
    value: Annotated[str | None, typer.Argument(help="The value.")] = None,
    path: Annotated[Path | None, typer.Option("--path", help="Read the value here.")] = None,
    ttl: Ttl = None,
    expiration: Expiration = None,
    metadata: Metadata = None,
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
    """Write a single key/value pair to the given namespace."""
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
    _tell(f'Writing {what} key "{key}" on namespace {to.namespace_id}{with_metadata}.')
    _run(to, lambda kv: kv.put(key, content, options))


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
    """Read a single value by key from the given namespace."""
    flags = flags_of(cwd, config, env, binding, namespace_id, preview, persist_to, remote)
    found = _run(target(flags), lambda kv: kv.get_with_metadata(key, "arrayBuffer"))
    value: bytes | None = found["value"]
    if value is None:
        # Differs: wrangler prints this on standard output and ends with 0.
        _tell("Value not found")
        raise typer.Exit(Exit.FAILED)
    if json:
        shown = value.decode("utf-8", "replace")
        _print_json({"key": key, "value": shown, "metadata": from_js(found["metadata"])})
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
    """Output a list of all keys in a given namespace, as JSON."""
    flags = flags_of(cwd, config, env, binding, namespace_id, preview, persist_to, remote)

    async def all_keys(kv: KvNamespace) -> list[Any]:
        keys: list[Any] = []
        cursor: str | None = None
        while True:
            page = await kv.list({"prefix": prefix, "cursor": cursor})
            keys += page["keys"]
            if page["list_complete"]:
                return keys
            cursor = page["cursor"]

    _print_json(from_js(_run(target(flags), all_keys)))


@key_app.command("delete")
def key_delete(
    key: Key,
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
    """Remove a single key value pair from the given namespace."""
    flags = flags_of(cwd, config, env, binding, namespace_id, preview, persist_to, remote)
    to = target(flags)
    _tell(f'Deleting the key "{key}" on namespace {to.namespace_id}.')
    _run(to, lambda kv: kv.delete(key))


@bulk_app.command("put")
def bulk_put(
    filename: File,
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
    """Upload multiple key-value pairs to a namespace."""
    flags = flags_of(cwd, config, env, binding, namespace_id, preview, persist_to, remote)
    items = read_key_values(flags.cwd / filename)

    async def put_all(kv: KvNamespace) -> None:
        for item in items:
            await kv.put(item.key, item.content(), item.options())

    _run(target(flags), put_all)
    _tell("Success!")


@bulk_app.command("get")
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
    """Get multiple key-value pairs from a namespace, as JSON."""
    flags = flags_of(cwd, config, env, binding, namespace_id, preview, persist_to, remote)
    keys = read_keys(flags.cwd / filename, allow_objects=True)

    async def get_all(kv: KvNamespace) -> dict[str, Any]:
        return {key: {"value": await kv.get(key, "text")} for key in keys}

    _print_json(_run(target(flags), get_all))
    _tell("\nSuccess!")


@bulk_app.command("delete")
def bulk_delete(
    filename: File,
    force: Force = False,
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
    """Delete multiple key-value pairs from a namespace."""
    flags = flags_of(cwd, config, env, binding, namespace_id, preview, persist_to, remote)
    to = target(flags)
    question = (
        f'Are you sure you want to delete all the keys read from "{filename}" from kv-namespace '
        f'with id "{to.namespace_id}"?'
    )
    if not force and _is_interactive() and not typer.confirm(question, err=True):
        _tell(f'Not deleting keys read from "{filename}".')
        return
    keys = read_keys(flags.cwd / filename, allow_objects=False)

    async def delete_all(kv: KvNamespace) -> None:
        for key in keys:
            await kv.delete(key)

    _run(to, delete_all)
    _tell("Success!")


def _is_interactive() -> bool:
    """Whether somebody is there to answer a question."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not os.environ.get("CI")
