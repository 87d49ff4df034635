"""Rules on calls of bindings: values that do not cross, KV as what it is not, D1's limits."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from typing import Final

from localedge.port.check.finding import Finding, Rule, at
from localedge.port.check.source import Source, functions

KEYS: Final = Rule(
    "listing-keys",
    "error",
    "{name}.keys is dict's own method on the edge, not the list of keys.",
    'Use ["keys"].',
)
TUPLE: Final = Rule(
    "tuple-argument",
    "error",
    "a {kind} cannot cross to a binding; the SDK raises TypeError.",
    "Pass a list, or bytes for a bytearray.",
)
IN_LIST: Final = Rule(
    "in-list",
    "error",
    "IN (?) with a list binds one BLOB, not its members.",
    "Write one ? for each member, or use json_each(?).",
)
TTL: Final = Rule(
    "kv-ttl",
    "error",
    "expirationTtl={value} is refused: the least that KV takes is 60 seconds.",
    "Use 60 or more.",
)
TTL_NAME: Final = Rule(
    "kv-option-name",
    "error",
    'KV has no option "{name}" and ignores it silently.',
    "Did you mean {meant}?",
)
LOCK: Final = Rule(
    "kv-lock",
    "warning",
    "KV cannot hold a lock: it has no conditional put, and reads lag by a minute.",
    "Keep locks in D1, in one UPDATE … WHERE.",
)
READ_MODIFY_WRITE: Final = Rule(
    "kv-read-modify-write",
    "warning",
    "{name} reads a KV key and writes it back: concurrent writers lose updates.",
    "Keep counters and indexes in D1, or use one key per member.",
)
WRITES: Final = Rule(
    "kv-write-rate",
    "warning",
    "the key {key} is written in a loop; KV takes one write a second per key.",
    "Collect and write once.",
)
EXEC_LINES: Final = Rule(
    "exec-lines",
    "error",
    "exec() takes every line for a statement of its own; this one goes over several lines.",
    "Put the statement on one line, or use prepare().",
)
LONG_SQL: Final = Rule(
    "sql-length", "error", "the statement has {count} bytes; D1 takes 100,000.", "Split it."
)
PARAMETERS: Final = Rule(
    "sql-parameters",
    "error",
    "the statement has {count} parameters; D1 takes 100.",
    "Use several statements in a batch, or json_each(?).",
)

_KV_METHODS: Final = frozenset(["get", "getWithMetadata", "put", "delete", "list"])
_BINDING_METHODS: Final = _KV_METHODS | {"bind", "batch"}
_MISNAMED: Final = {
    "expiration_ttl": "expirationTtl",
    "ttl": "expirationTtl",
    "ex": "expirationTtl",
    "cache_ttl": "cacheTtl",
    "expires": "expiration",
}
_IN_PARAMETER: Final = re.compile(r"\bIN\s*\(\s*\?\d*\s*\)", re.IGNORECASE)
_LOCK_KEY: Final = re.compile(r"\block|mutex|semaphore", re.IGNORECASE)


def check(source: Source) -> Iterator[Finding]:
    """What `source` gets wrong in calls of KV and D1."""
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield from _call(source, node, node.func)
        elif isinstance(node, ast.For | ast.While | ast.AsyncFor):
            yield from _loop(source, node)
    for function in functions(source.tree):
        yield from _function(source, function)


def _call(source: Source, node: ast.Call, func: ast.Attribute) -> Iterator[Finding]:
    place = (source.file, node.lineno, node.col_offset + 1)
    through_env = _through_env(source, func.value)
    if func.attr == "bind" or (through_env and func.attr in _BINDING_METHODS):
        for kind in _refused_kinds(node):
            yield at(TUPLE, *place, kind=kind)
    if func.attr == "bind":
        sql = _sql_of(func.value)
        if sql and _IN_PARAMETER.search(sql) and any(_is_list(arg) for arg in node.args):
            yield at(IN_LIST, *place)
    if func.attr == "put" and through_env:
        yield from _put(source, node)
    if func.attr in ("prepare", "exec") and node.args:
        yield from _statement(source, node, func.attr)


def _put(source: Source, node: ast.Call) -> Iterator[Finding]:
    place = (source.file, node.lineno, node.col_offset + 1)
    for keyword in node.keywords:
        if keyword.arg in _MISNAMED:
            meant = _MISNAMED[keyword.arg]
            rule = Rule(TTL_NAME.id, TTL_NAME.level, TTL_NAME.says, f"Did you mean {meant}?")
            yield at(rule, *place, name=keyword.arg)
        if keyword.arg == "expirationTtl" and isinstance(keyword.value, ast.Constant):
            ttl = keyword.value.value
            if ttl is None or (isinstance(ttl, int | float) and ttl < 60):
                yield at(TTL, *place, value=ttl)
    if node.args and _LOCK_KEY.search(ast.unparse(node.args[0])):
        yield at(LOCK, *place)


def _statement(source: Source, node: ast.Call, method: str) -> Iterator[Finding]:
    sql = _text(node.args[0])
    if sql is None:
        return
    place = (source.file, node.lineno, node.col_offset + 1)
    size = len(sql.encode())
    if size > 100_000:
        yield at(LONG_SQL, *place, count=f"{size:,}")
    if (count := len(re.findall(r"\?(?!\d)", re.sub(r"'[^']*'", "", sql)))) > 100:
        yield at(PARAMETERS, *place, count=count)
    lines = [line.strip() for line in sql.strip().split("\n")]
    if method == "exec" and len(lines) > 1 and any(_unfinished(line) for line in lines):
        yield at(EXEC_LINES, *place)


def _unfinished(line: str) -> bool:
    opened = line.count("(") - line.count(")")
    starts = re.match(r"(?i)(select|insert|update|delete|create|drop|alter|pragma|with|--|$)", line)
    return opened != 0 or starts is None


def _loop(source: Source, loop: ast.For | ast.While | ast.AsyncFor) -> Iterator[Finding]:
    for node in ast.walk(loop):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and node.func.attr == "put"
            and _through_env(source, node.func.value)
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            key = repr(node.args[0].value)
            yield at(WRITES, source.file, node.lineno, node.col_offset + 1, key=key)


def _function(
    source: Source, function: ast.FunctionDef | ast.AsyncFunctionDef
) -> Iterator[Finding]:
    read: dict[str, str] = {}
    listings: set[str] = set()
    for node in ast.walk(function):
        match node:
            case ast.Assign(
                targets=[ast.Name(id=target)],
                value=ast.Await(value=ast.Call(func=ast.Attribute() as func) as call),
            ) if _through_env(source, func.value):
                if func.attr == "list":
                    listings.add(target)
                if func.attr in ("get", "getWithMetadata") and call.args:
                    read[target] = ast.unparse(call.args[0])
    for node in ast.walk(function):
        match node:
            case ast.Attribute(value=ast.Name(id=name), attr="keys") if name in listings:
                if not _is_called(function, node):
                    yield at(KEYS, source.file, node.lineno, node.col_offset + 1, name=name)
            case ast.Call(func=ast.Attribute(attr="put") as func, args=[key, value, *_]) if (
                _through_env(source, func.value) and ast.unparse(key) in read.values()
            ):
                names = {n.id for n in ast.walk(value) if isinstance(n, ast.Name)}
                if any(read.get(name) == ast.unparse(key) for name in names):
                    place = (source.file, node.lineno, node.col_offset + 1)
                    yield at(READ_MODIFY_WRITE, *place, name=function.name)


def _is_called(function: ast.AST, attribute: ast.Attribute) -> bool:
    return any(isinstance(n, ast.Call) and n.func is attribute for n in ast.walk(function))


def _through_env(source: Source, node: ast.expr) -> bool:
    """Whether `node` is reached through `env`: `self.env.KV`, `env.DB`, `req.scope["env"].KV`."""
    text = ast.unparse(node)
    return bool(re.search(r"\benv\b", text))


def _sql_of(node: ast.expr) -> str | None:
    match node:
        case ast.Call(func=ast.Attribute(attr="prepare"), args=[sql, *_]):
            return _text(sql)
    return None


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _is_list(node: ast.expr) -> bool:
    return isinstance(node, ast.List | ast.ListComp)


def _refused_kinds(node: ast.Call) -> Iterator[str]:
    for value in [*node.args, *(k.value for k in node.keywords)]:
        for inner in ast.walk(value):
            match inner:
                case ast.Tuple(ctx=ast.Load()) if not _is_subscript(value, inner):
                    yield "tuple"
                case ast.Call(func=ast.Name(id="tuple" | "bytearray" as kind)):
                    yield kind


def _is_subscript(value: ast.expr, inner: ast.Tuple) -> bool:
    return any(isinstance(n, ast.Subscript) and n.slice is inner for n in ast.walk(value))
