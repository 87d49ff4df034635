"""Rules on KV: its options, and uses that its consistency cannot bear."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from localedge.port.check.edge import Edge
from localedge.port.check.finding import Finding, Rule, at
from localedge.port.check.source import Source, shown

KEYS: Final = Rule(
    "listing-keys",
    "error",
    "{name}.keys is dict's own method on the edge, not the list of keys.",
    'Use ["keys"].',
)
TTL: Final = Rule(
    "kv-ttl",
    "error",
    "{option}={value} is refused: the least that KV takes is {least} seconds.",
    "Use {least} or more, or leave it out.",
)
NAME: Final = Rule(
    "kv-option-name",
    "error",
    'KV has no option "{name}" and passes over it silently.',
    "Did you mean {meant}?",
)
LOCK: Final = Rule(
    "kv-lock",
    "warning",
    "KV cannot hold a lock: it has no conditional put, and reads lag by a minute.",
    "Keep locks in D1, in one UPDATE … WHERE.",
)
COUNTER: Final = Rule(
    "kv-counter",
    "warning",
    "{name} counts in a KV key: concurrent writers lose counts, and reads lag by a minute.",
    "Count in D1: UPDATE … SET n = n + 1.",
)
INDEX: Final = Rule(
    "kv-index",
    "warning",
    "{name} keeps a collection in a KV key: concurrent writers lose members.",
    "Use one key per member and list(prefix=…), or a table in D1.",
)
REWRITE: Final = Rule(
    "kv-read-modify-write",
    "warning",
    "{name} reads a KV key and writes it back changed: concurrent writers lose updates.",
    "Keep in D1 what several requests change.",
)
RATE: Final = Rule(
    "kv-write-rate",
    "warning",
    "the key {key} is written more than once in a row; KV takes one write a second per key.",
    "Collect, and write once.",
)

# Source: reference/kv-d1-contract.md 1.5, 1.8 and 1.11, read 2026-12-01.
_LEAST_S: Final = {"expirationTtl": 60, "cacheTtl": 30}
_MISNAMED: Final = {
    "expiration_ttl": "expirationTtl",
    "expirationttl": "expirationTtl",
    "ttl": "expirationTtl",
    "ex": "expirationTtl",
    "expire": "expirationTtl",
    "expires": "expiration",
    "cache_ttl": "cacheTtl",
    "cachettl": "cacheTtl",
}
_DEEPEST: Final = 20
_METHODS: Final = frozenset(("get", "getWithMetadata", "put", "delete", "list"))
_LOCK_KEY: Final = re.compile(r"(?<![a-z])(lock|mutex|semaphore|lease)s?(?![a-z])", re.IGNORECASE)
_GROWS: Final = frozenset(
    [
        "append",
        "extend",
        "insert",
        "remove",
        "pop",
        "add",
        "discard",
        "update",
        "setdefault",
        "clear",
    ]
)


def check(source: Source, edge: Edge) -> Iterator[Finding]:
    """What `source` gets wrong in its calls of KV."""
    for node in source.nodes:
        match node:
            case ast.Call(func=ast.Attribute(attr=method, value=binding)) if method in _METHODS:
                if edge.kind_of(source, binding) == "kv":
                    yield from _options(source, node)
                    if method == "put" and node.args and _names_lock(source, node.args[0]):
                        yield at(LOCK, source.file, node.lineno, node.col_offset + 1)
            case ast.Attribute(attr="keys", value=listing) if not _is_called(source, node):
                if _method(source, edge, listing) == "list":
                    place = (source.file, node.lineno, node.col_offset + 1)
                    yield at(KEYS, *place, name=shown(listing))
    for function in source.functions():
        yield from _rewrites(source, edge, function)


def call_of(source: Source, edge: Edge, node: ast.expr) -> tuple[str, ast.Call] | None:
    """The KV method and call whose result `node` is, where that is certain."""
    value = source.value_of(node)
    if isinstance(value, ast.Await):
        value = value.value
    match value:
        case ast.Call(func=ast.Attribute(attr=method, value=binding)) if (
            edge.kind_of(source, binding) == "kv"
        ):
            return method, value
    return None


def _method(source: Source, edge: Edge, node: ast.expr) -> str | None:
    found = call_of(source, edge, node)
    return found[0] if found else None


def _options(source: Source, node: ast.Call) -> Iterator[Finding]:
    given = [(k.arg, k.value, k) for k in node.keywords if k.arg is not None]
    for argument in node.args[1:]:
        options = source.value_of(argument)
        if isinstance(options, ast.Dict):
            for key, value in zip(options.keys, options.values, strict=True):
                if isinstance(key, ast.Constant) and isinstance(key.value, str):
                    given.append((key.value, value, key))  # type: ignore[arg-type]  # has a place
    for name, value, where in given:
        place = (source.file, where.lineno, where.col_offset + 1)
        if name in _MISNAMED:
            yield at(NAME, *place, name=name, meant=_MISNAMED[name])
        number = _number(source, value) if name in _LEAST_S else None
        if number is not None and (number[0] is None or number[0] < _LEAST_S[name]):
            yield at(TTL, *place, option=name, value=number[0], least=_LEAST_S[name])


def _number(source: Source, node: ast.expr, depth: int = 0) -> tuple[float | None] | None:
    """The number or None that `node` is certain to be, in a tuple."""
    if depth > _DEEPEST:
        return None
    match source.value_of(node):
        case ast.Constant(value=None):
            return (None,)
        case ast.Constant(value=int() | float() as value):
            return (value,)
        case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int() | float() as value)):
            return (-value,)
        case ast.BinOp(left=left, op=ast.Mult(), right=right):
            first, second = (_number(source, one, depth + 1) for one in (left, right))
            if first and second and first[0] is not None and second[0] is not None:
                return (first[0] * second[0],)
    return None


def _names_lock(source: Source, key: ast.expr) -> bool:
    value = source.value_of(key)
    texts = [
        node.value
        for node in source.walk(value)
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    ]
    return any(_LOCK_KEY.search(text) for text in texts)


def _is_called(source: Source, attribute: ast.Attribute) -> bool:
    parent = source.parents.get(attribute)
    return isinstance(parent, ast.Call) and parent.func is attribute


def _rewrites(source: Source, edge: Edge, function: ast.AST) -> Iterator[Finding]:
    """Keys that `function` reads, changes and writes."""
    name = getattr(function, "name", "")
    read: dict[str, str] = {}
    puts: list[tuple[ast.Call, str]] = []
    for node in source.walk(function):
        match node:
            case ast.Assign(targets=[ast.Name(id=target)], value=ast.expr() as value) | (
                ast.NamedExpr(target=ast.Name(id=target), value=value)
            ):
                for key in _keys_read(source, edge, value):
                    read[target] = key
            case ast.Call(func=ast.Attribute(attr="put", value=binding), args=[key, _, *_]):
                if edge.kind_of(source, binding) == "kv":
                    puts.append((node, _key(source, key)))
    derived = _derived(source, function, read)
    for put, key in puts:
        names = {n.id for n in source.walk(put.args[1]) if isinstance(n, ast.Name)}
        tainted = {one for one in names if derived.get(one) == key}
        inline = key in _keys_read(source, edge, put.args[1])
        if (tainted and _is_changed(source, function, put, tainted)) or inline:
            rule = _rewrite_rule(source, function, {n for n, k in derived.items() if k == key})
            yield at(rule, source.file, put.lineno, put.col_offset + 1, name=name)


def _keys_read(source: Source, edge: Edge, value: ast.expr) -> list[str]:
    found: list[str] = []
    for node in source.walk(value):
        match node:
            case ast.Call(
                func=ast.Attribute(attr="get" | "getWithMetadata", value=binding), args=[key, *_]
            ) if edge.kind_of(source, binding) == "kv":
                found.append(_key(source, key))
    return found


def _key(source: Source, node: ast.expr) -> str:
    return shown(source.value_of(node))


def _derived(source: Source, function: ast.AST, read: dict[str, str]) -> dict[str, str]:
    """`read`, and the names that are computed from those in it."""
    derived = dict(read)
    for _ in range(3):
        for node in source.walk(function):
            match node:
                case ast.Assign(targets=[ast.Name(id=target)], value=value) if (
                    target not in derived
                ):
                    for inner in source.walk(value):
                        if isinstance(inner, ast.Name) and inner.id in derived:
                            derived[target] = derived[inner.id]
    return derived


def _is_changed(source: Source, function: ast.AST, put: ast.Call, names: set[str]) -> bool:
    """Whether what is put differs from what was read: a plain copy renews a TTL, say."""
    if not (isinstance(put.args[1], ast.Name)):
        return True
    return any(_changes(node, names) for node in source.walk(function)) or any(
        isinstance(node, ast.Assign)
        and isinstance(node.targets[0], ast.Name)
        and node.targets[0].id in names
        and not isinstance(node.value, ast.Await)
        for node in source.walk(function)
    )


def _changes(node: ast.AST, names: set[str]) -> bool:
    match node:
        case ast.Call(func=ast.Attribute(value=ast.Name(id=name), attr=method)):
            return name in names and method in _GROWS
        case ast.Subscript(value=ast.Name(id=name), ctx=ast.Store() | ast.Del()):
            return name in names
        case ast.AugAssign(target=ast.Name(id=name)):
            return name in names
    return False


def _rewrite_rule(source: Source, function: ast.AST, names: set[str]) -> Rule:
    nodes = source.walk(function)
    if any(_adds_one(source, node, names) for node in nodes):
        return COUNTER
    if any(_changes(node, names) and not isinstance(node, ast.AugAssign) for node in nodes):
        return INDEX
    return REWRITE


def _adds_one(source: Source, node: ast.AST, names: set[str]) -> bool:
    match node:
        case ast.BinOp(op=ast.Add() | ast.Sub(), left=left, right=ast.Constant(value=int())):
            return any(isinstance(n, ast.Name) and n.id in names for n in source.walk(left)) or any(
                isinstance(n, ast.Attribute) and n.attr == "get" for n in source.walk(left)
            )
        case ast.AugAssign(
            target=ast.Name(id=name), op=ast.Add() | ast.Sub(), value=ast.Constant(value=int())
        ):
            return name in names
    return False
