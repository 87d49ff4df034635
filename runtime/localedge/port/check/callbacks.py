"""The rule on functions that JavaScript is to call later."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from localedge.port.check.edge import Edge
from localedge.port.check.finding import Finding, Rule, at
from localedge.port.check.source import Source

LENT: Final = Rule(
    "lent-function",
    "error",
    "{name}() keeps a Python function that ends with the call: when its time comes, it raises "
    "This borrowed proxy was automatically destroyed.",
    "Pass create_proxy(…) of it, or create_once_callable(…), from pyodide.ffi.",
)

# Source: pyodide.org/en/stable/usage/type-conversions.html, and recorded on Pyodide 314.0.7.
_KEEPING: Final = {"js.setTimeout": 0, "js.setInterval": 0, "js.queueMicrotask": 0}
_KEEPING_METHOD: Final = "addEventListener"


def check(source: Source, edge: Edge) -> Iterator[Finding]:
    """Functions that `source` lends to what calls them later."""
    del edge
    for node in source.nodes:
        if not isinstance(node, ast.Call):
            continue
        name = source.name_of(node.func)
        position = _KEEPING.get(name)
        if isinstance(node.func, ast.Attribute) and node.func.attr == _KEEPING_METHOD:
            name, position = _KEEPING_METHOD, 1
        if position is None or len(node.args) <= position:
            continue
        if _is_function(source, node.args[position]):
            place = (source.file, node.lineno, node.col_offset + 1)
            yield at(LENT, *place, name=name.removeprefix("js."))


def _is_function(source: Source, node: ast.expr) -> bool:
    """Whether `node` is certain to be a function of Python's own."""
    value = source.value_of(node)
    if isinstance(value, ast.Name):
        is_assigned = source.is_bound(value)
        return not is_assigned and any(one.name == value.id for one in source.functions())
    return isinstance(value, ast.Lambda)
