"""How a `kv` command works on the namespace that its flags name."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from collections.abc import Awaitable, Callable
from typing import TypeVar

import typer

from localedge.cli.kv_target import Target
from localedge.errors import Exit, JsException, OperatorError
from localedge.kv.namespace import KvNamespace
from localedge.kv.store import StoreError, UnavailableError

T = TypeVar("T")
_RUNNING = "Look whether the server at `redis_url` runs; without that key localedge starts its own."


def run_on(to: Target, work: Callable[[KvNamespace], Awaitable[T]]) -> T:
    """What `work` gives for the namespace. Errors: OperatorError for what the platform refuses."""

    async def running() -> T:
        async with to.open() as store:
            return await work(KvNamespace(store))

    try:
        return asyncio.run(running())
    except JsException as exc:
        if isinstance(exc.__cause__, UnavailableError):
            raise OperatorError(
                "kv/unreachable",
                f"{exc.message}: {exc.__cause__}",
                _RUNNING,
                exit=Exit.UNREACHABLE,
            ) from exc
        # The platform's own words, which say what is allowed.
        raise OperatorError("kv/refused", exc.message, "") from exc
    except StoreError as exc:
        raise OperatorError("kv/unreachable", str(exc), _RUNNING, exit=Exit.UNREACHABLE) from exc


def tell(text: str) -> None:
    """Say `text` on standard error."""
    typer.echo(text, err=True)


def print_json(value: object) -> None:
    """`value` on standard output."""
    typer.echo(json.dumps(value, indent=2, ensure_ascii=False))


def is_interactive() -> bool:
    """Whether somebody is there to answer a question."""
    return sys.stdin.isatty() and sys.stdout.isatty() and not os.environ.get("CI")
