"""Rules on handlers: arity, parameters that are always None, how many entrypoints there are."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from localedge.port.check.edge import Edge
from localedge.port.check.finding import Finding, Rule, at
from localedge.port.check.source import Function, Source

ARITY: Final = Rule(
    "handler-arity",
    "error",
    "{name} takes {takes}; the platform passes three arguments{drops}.",
    "Write {name}(self, {first}).",
)
UNSET: Final = Rule(
    "handler-env",
    "error",
    'the parameter "{name}" of a class handler is None on the edge.',
    "Use self.{attribute}.",
)
LEGACY: Final = Rule(
    "legacy-handler",
    "warning",
    "{name} is a module handler of the old kind, which gets raw JavaScript objects.",
    "Write class Default(WorkerEntrypoint) with a method {method}.",
)
IGNORED: Final = Rule(
    "ignored-handler",
    "error",
    "{name} is never called: the flag python_no_global_handlers is on for this date.",
    "Write class Default(WorkerEntrypoint) with a method {method}.",
)
TWO: Final = Rule(
    "two-entrypoints",
    "error",
    "the main module has two default entrypoints: {first} on line {line}, and {second}.",
    "Keep one of them.",
)
NONE: Final = Rule(
    "no-entrypoint",
    "error",
    "the main module defines no class Default(WorkerEntrypoint).",
    "Write one, with a method fetch(self, request).",
)

# Source: reference/python-workers.md section 1.2 and 1.7, read 2026-12-01.
_STRICT: Final = {"scheduled": "controller", "queue": "batch", "email": "message", "tail": "events"}
_RELAXED: Final = frozenset(("fetch", "test", "trace"))
_LEGACY: Final = frozenset(
    f"on_{name}" for name in ("fetch", "scheduled", "queue", "alarm", "trace", "pubsub")
)


def check(source: Source, edge: Edge) -> Iterator[Finding]:
    """What the handlers in `source` get wrong."""
    entrypoints = _entrypoints(source)
    for node in entrypoints:
        for member in node.body:
            if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
                yield from _handler(source, member)
    if source.file == edge.main:
        yield from _main(source, edge, entrypoints)


def _main(source: Source, edge: Edge, entrypoints: list[ast.ClassDef]) -> Iterator[Finding]:
    are_global_off = "python_no_global_handlers" in edge.flags
    defaults = [node for node in entrypoints if node.name == "Default"]
    legacy: list[Function] = [
        node
        for node in source.tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in _LEGACY
    ]
    for function in legacy:
        rule = IGNORED if are_global_off else LEGACY
        method = function.name.removeprefix("on_")
        place = (source.file, function.lineno, function.col_offset + 1)
        if not (are_global_off and defaults):
            yield at(rule, *place, name=function.name, method=method)
    entries: list[ast.ClassDef | Function] = [*defaults]
    if not are_global_off:
        entries += legacy[:1]
    if len(entries) > 1:
        first, second = sorted(entries, key=lambda entry: entry.lineno)[:2]
        place = (source.file, second.lineno, second.col_offset + 1)
        names = {"first": first.name, "line": first.lineno, "second": second.name}
        yield at(TWO, *place, **names)
    if not legacy and not _binds_default(source):
        yield at(NONE, source.file, 1)


def _entrypoints(source: Source) -> list[ast.ClassDef]:
    found: list[ast.ClassDef] = []
    names: set[str] = set()
    for node in source.tree.body:
        if isinstance(node, ast.ClassDef):
            bases = [source.name_of(base) for base in node.bases]
            if any(base in names or base.endswith("WorkerEntrypoint") for base in bases):
                found.append(node)
                names.add(node.name)
    return found


def _binds_default(source: Source) -> bool:
    """Whether any statement at the top could bind the name Default."""
    for node in source.nodes:
        match node:
            case ast.ClassDef(name="Default") | ast.Name(id="Default", ctx=ast.Store()):
                return True
            case ast.ImportFrom(names=names):
                if any((alias.asname or alias.name) in ("Default", "*") for alias in names):
                    return True
    return False


def _handler(source: Source, node: Function) -> Iterator[Finding]:
    if node.name not in _STRICT and node.name not in _RELAXED:
        return
    positional = [*node.args.posonlyargs, *node.args.args][1:]
    needed = len(positional) - len(node.args.defaults)
    takes_any = node.args.vararg is not None
    must_have = [
        argument.arg
        for argument, default in zip(node.args.kwonlyargs, node.args.kw_defaults, strict=True)
        if default is None
    ]
    is_strict = node.name in _STRICT
    fits = needed <= 3 and not must_have and (not is_strict or takes_any or len(positional) >= 3)
    if not fits:
        place = (source.file, node.lineno, node.col_offset + 1)
        yield at(
            ARITY,
            *place,
            name=node.name,
            takes=_count(len(positional), must_have),
            drops=" and drops none" if is_strict else ", and no more",
            first=f"{_STRICT[node.name]}, env, ctx" if is_strict else "request",
        )
    for argument, attribute in zip(positional[1:3], ("env", "ctx"), strict=False):
        yield from _unset(source, node, argument.arg, attribute)


def _count(positional: int, must_have: list[str]) -> str:
    if must_have:
        return f"the keyword {must_have[0]}"
    return f"{positional} argument{'' if positional == 1 else 's'}"


def _unset(source: Source, node: Function, name: str, attribute: str) -> Iterator[Finding]:
    uses = [inner for inner in ast.walk(node) if isinstance(inner, ast.Name) and inner.id == name]
    if any(isinstance(use.ctx, ast.Store) for use in uses):
        return
    first = min(uses, key=lambda use: (use.lineno, use.col_offset), default=None)
    if first is not None:
        place = (source.file, first.lineno, first.col_offset + 1)
        yield at(UNSET, *place, name=name, attribute=attribute)
