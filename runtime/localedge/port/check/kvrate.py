"""The rule on the rate of KV: one write a second per key."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from localedge.port.check.edge import Edge
from localedge.port.check.finding import Finding, at
from localedge.port.check.kv import RATE
from localedge.port.check.source import Source, shown


def check(source: Source, edge: Edge) -> Iterator[Finding]:
    """Keys that `source` writes more than once within a second."""
    for node in source.nodes:
        if isinstance(node, ast.For | ast.While | ast.AsyncFor):
            yield from _loop(source, edge, node)
        for name in ("body", "orelse", "finalbody"):
            block = getattr(node, name, None)
            if isinstance(block, list):
                yield from _block(source, edge, block)


def _loop(
    source: Source, edge: Edge, loop: ast.For | ast.While | ast.AsyncFor
) -> Iterator[Finding]:
    if any(_waits(source, node) for node in source.walk(loop)):
        return
    changing = {
        node.id
        for node in source.walk(loop)
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    for put in _puts(source, edge, loop):
        names = {node.id for node in source.walk(put.args[0]) if isinstance(node, ast.Name)}
        has_call = any(isinstance(node, ast.Call) for node in source.walk(put.args[0]))
        if not names & changing and not has_call and not _leaves(source, put, loop):
            yield _found(source, put)


def _block(source: Source, edge: Edge, block: list[ast.stmt]) -> Iterator[Finding]:
    """Two writes of one key in one sequence of statements."""
    seen: set[tuple[str, str]] = set()
    for statement in block:
        if any(_waits(source, node) for node in source.walk(statement)):
            seen.clear()
        if isinstance(statement, ast.If | ast.Try | ast.Match | ast.For | ast.While | ast.With):
            continue
        if isinstance(statement, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            continue
        for put in _puts(source, edge, statement):
            assert isinstance(put.func, ast.Attribute)
            written = (shown(put.func.value), shown(put.args[0]))
            if written in seen:
                yield _found(source, put)
            seen.add(written)
        for node in source.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store):
                seen = {(binding, key) for binding, key in seen if node.id not in key}


def _found(source: Source, put: ast.Call) -> Finding:
    place = (source.file, put.lineno, put.col_offset + 1)
    return at(RATE, *place, key=shown(put.args[0]))


def _puts(source: Source, edge: Edge, tree: ast.AST) -> Iterator[ast.Call]:
    for node in source.walk(tree):
        match node:
            case ast.Call(func=ast.Attribute(attr="put", value=binding), args=[_, *_]) if (
                edge.kind_of(source, binding) == "kv"
            ):
                yield node


def _waits(source: Source, node: ast.AST) -> bool:
    match node:
        case ast.Call(func=func, args=[pause, *_]) if source.name_of(func) == "asyncio.sleep":
            value = source.value_of(pause)
            return not isinstance(value, ast.Constant) or (
                isinstance(value.value, int | float) and value.value >= 1
            )
    return False


def _leaves(source: Source, put: ast.Call, loop: ast.AST) -> bool:
    """Whether the loop ends in the block of statements that `put` stands in."""
    inner: ast.AST = put
    for above in source.enclosing(put):
        for name in ("body", "orelse"):
            block = getattr(above, name, [])
            is_block = isinstance(block, list) and inner in block
            if is_block and isinstance(block[-1], ast.Return | ast.Break | ast.Raise):
                return True
        if above is loop:
            return False
        inner = above
    return False
