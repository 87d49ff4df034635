"""The rule on values that a binding cannot be given."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from localedge.port.check.edge import Edge
from localedge.port.check.finding import Finding, Rule, at
from localedge.port.check.source import Source

TUPLE: Final = Rule(
    "tuple-argument",
    "error",
    "a {kind} cannot cross to a binding: TypeError, <class '{kind}'> cannot be sent over RPC.",
    "{advice}",
)

_DEEPEST: Final = 20
# Source: reference/kv-d1-contract.md section 0, read 2026-12-01.
_ADVICE: Final = {"tuple": "Pass a list.", "bytearray": "Pass bytes(…)."}


def check(source: Source, edge: Edge) -> Iterator[Finding]:
    """Tuples and bytearrays that `source` passes to a binding, nested ones too."""
    for node in source.nodes:
        if isinstance(node, ast.Call) and _is_binding_call(source, edge, node.func):
            for value in [*node.args, *(keyword.value for keyword in node.keywords)]:
                for kind, found in _refused(source, value):
                    place = found if hasattr(found, "lineno") else node
                    yield at(
                        TUPLE,
                        source.file,
                        place.lineno,
                        place.col_offset + 1,
                        kind=kind,
                        advice=_ADVICE[kind],
                    )


def _is_binding_call(source: Source, edge: Edge, func: ast.expr) -> bool:
    if not isinstance(func, ast.Attribute):
        return False
    if edge.kind_of(source, func.value) is not None:
        return True
    return func.attr == "bind" and is_statement(source, edge, func.value)


def is_statement(source: Source, edge: Edge, node: ast.expr) -> bool:
    """Whether `node` is a statement of D1, where that is certain."""
    for _ in range(_DEEPEST):
        match source.value_of(node):
            case ast.Call(func=ast.Attribute(attr="prepare", value=database)):
                return edge.kind_of(source, database) == "d1"
            case ast.Call(func=ast.Attribute(attr="bind", value=inner)):
                node = inner
            case _:
                break
    return False


def _refused(source: Source, node: ast.expr, depth: int = 0) -> Iterator[tuple[str, ast.expr]]:
    if depth > _DEEPEST:
        return
    depth += 1
    if isinstance(node, ast.Starred):
        # What is unpacked may be a tuple; its members are what crosses.
        value = source.value_of(node.value)
        if isinstance(value, ast.Tuple | ast.List):
            for item in value.elts:
                yield from _refused(source, item, depth)
        return
    value = source.value_of(node)
    match value:
        case ast.Tuple():
            yield "tuple", node
        case ast.Call(func=ast.Name(id="tuple" | "bytearray" as kind)):
            yield kind, node
        case ast.List(elts=items):
            for item in items:
                yield from _refused(source, item, depth)
        case ast.Dict(values=items):
            for item in items:
                yield from _refused(source, item, depth)
        case ast.ListComp(elt=item):
            yield from _refused(source, item, depth)
