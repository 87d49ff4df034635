"""Rules on handlers: their arity, and parameters that are always None."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from localedge.port.check.finding import Finding, Rule, at
from localedge.port.check.source import Source

ARITY: Final = Rule(
    "handler-arity",
    "error",
    "{name} takes {count} arguments; the platform passes three and drops none.",
    "Write {name}(self, {first}, env, ctx).",
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
    "{name} is a module handler of the old kind; newer compatibility dates ignore it.",
    "Write class Default(WorkerEntrypoint) with a method {method}.",
)

# Source: reference/python-workers.md section 1.2, read 2026-12-01.
_STRICT: Final = {"scheduled": "controller", "queue": "batch", "email": "message", "tail": "events"}
_HANDLERS: Final = frozenset(["fetch", *_STRICT, "trace", "test"])
_LEGACY: Final = frozenset(f"on_{name}" for name in ("fetch", "scheduled", "queue", "trace"))


def check(source: Source) -> Iterator[Finding]:
    """What the handlers in `source` get wrong."""
    for node in source.tree.body:
        if isinstance(node, ast.ClassDef) and _is_entrypoint(source, node):
            for member in node.body:
                if isinstance(member, ast.FunctionDef | ast.AsyncFunctionDef):
                    yield from _handler(source, member)
        elif isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and node.name in _LEGACY:
            place = (source.file, node.lineno, node.col_offset + 1)
            yield _fixed(LEGACY, place, name=node.name, method=node.name.removeprefix("on_"))


def _is_entrypoint(source: Source, node: ast.ClassDef) -> bool:
    return any(source.name_of(base).endswith("WorkerEntrypoint") for base in node.bases)


def _handler(source: Source, node: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[Finding]:
    if node.name not in _HANDLERS:
        return
    positional = [*node.args.posonlyargs, *node.args.args]
    given = len(positional) - 1
    required = given - len(node.args.defaults)
    takes_three = node.args.vararg is not None or required <= 3 <= given
    place = (source.file, node.lineno, node.col_offset + 1)
    if node.name in _STRICT and not takes_three:
        yield _fixed(ARITY, place, name=node.name, count=given, first=_STRICT[node.name])
    unset = {a.arg for a in positional[2:]}
    for inner in ast.walk(node):
        if isinstance(inner, ast.Name) and isinstance(inner.ctx, ast.Load) and inner.id in unset:
            unset.discard(inner.id)
            attribute = "ctx" if "c" in inner.id[:1] else "env"
            where = (source.file, inner.lineno, inner.col_offset + 1)
            yield _fixed(UNSET, where, name=inner.id, attribute=attribute)


def _fixed(rule: Rule, place: tuple[Path, int, int], **fields: object) -> Finding:
    filled = Rule(rule.id, rule.level, rule.says, rule.fix.format(**fields))
    return at(filled, *place, **fields)
