"""Rules on work at import: the edge runs module scope once, to take a snapshot."""

from __future__ import annotations

import ast
from collections import deque
from collections.abc import Iterator
from typing import Final

from localedge.port.check.edge import Edge
from localedge.port.check.finding import Finding, Rule, at
from localedge.port.check.source import Function, Source, shown

ENTROPY: Final = Rule(
    "import-entropy",
    "error",
    "{name} draws entropy at import; the edge refuses it outside of a request.",
    "Call it inside a handler.",
)
CLOCK: Final = Rule(
    "import-time",
    "warning",
    "{name} reads the clock at import; on the edge that is the moment of the snapshot.",
    "Read the clock inside a handler.",
)
IO: Final = Rule(
    "import-io",
    "error",
    "{name} is I/O at import; the edge refuses it within global scope.",
    "Do it inside a handler.",
)
SNAPSHOT: Final = Rule(
    "import-snapshot",
    "error",
    '"{name}" keeps a JavaScript object in a top-level variable; no snapshot can hold it.',
    "Make it inside a handler.",
)
WAIT_UNTIL: Final = Rule(
    "import-wait-until",
    "error",
    '"from workers import {name}" at top level: no snapshot can hold it, so the deploy fails.',
    "Use self.ctx.waitUntil, or import it inside the handler.",
)

# Source: reference/python-workers.md section 4 (import time) and 1, and workerd
# src/pyodide/internal/topLevelEntropy/entropy_import_context.py, read 2026-12-01.
_ENTROPY: Final = frozenset(
    (
        "os.urandom",
        "os.getrandom",
        "uuid.uuid1",
        "uuid.uuid4",
        "ssl.RAND_bytes",
        "js.crypto.randomUUID",
        "js.crypto.getRandomValues",
        "js.Math.random",
    )
)
_ENTROPY_MODULES: Final = ("random.", "secrets.", "numpy.random.")
# Making a generator is allowed; without a seed it draws one.
_SEEDED: Final = frozenset(("random.Random", "numpy.random.default_rng"))
_ALLOWED: Final = frozenset(
    ("random.SystemRandom", "secrets.SystemRandom", "secrets.compare_digest")
)
_CLOCK: Final = frozenset(
    (
        "time.time",
        "time.time_ns",
        "time.monotonic",
        "time.perf_counter",
        "time.strftime",
        "time.localtime",
        "time.gmtime",
        "datetime.datetime.now",
        "datetime.datetime.utcnow",
        "datetime.datetime.today",
        "datetime.date.today",
        "js.Date.now",
    )
)
_IO: Final = frozenset(
    (
        "workers.fetch",
        "js.fetch",
        "pyodide.http.pyfetch",
        "pyodide.http.open_url",
        "urllib.request.urlopen",
        "asyncio.run",
        "asyncio.sleep",
        "time.sleep",
        "pyodide.ffi.run_sync",
        "js.setTimeout",
        "js.setInterval",
        "socket.create_connection",
        "asyncio.create_task",
        "asyncio.ensure_future",
    )
)
_IO_MODULES: Final = ("requests.", "httpx.")
_VERBS: Final = frozenset(("get", "post", "put", "patch", "delete", "head", "options", "request"))
_JS_OBJECTS: Final = frozenset(
    (
        "pyodide.ffi.to_js",
        "pyodide.ffi.create_proxy",
        "pyodide.ffi.create_once_callable",
        "workers.Response",
        "workers.Response.json",
        "workers.Request",
        "workers.FormData",
        "workers.Blob",
        "workers.File",
        "workers.import_from_javascript",
    )
)


def check(source: Source, edge: Edge) -> Iterator[Finding]:
    """What `source` does at import that the edge refuses or freezes."""
    for node in at_import(source):
        if isinstance(node, ast.Call):
            yield from _call(source, edge, node)
    for statement in source.tree.body:
        yield from _statement(source, edge, statement)


def at_import(source: Source) -> Iterator[ast.AST]:
    """The nodes that run when the module is imported, functions that it then calls included."""
    defined = {
        node.name: node
        for node in source.tree.body
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    }
    entered: set[str] = set()
    waiting: deque[ast.AST] = deque(source.tree.body)
    while waiting:
        node = waiting.popleft()
        if isinstance(node, ast.If) and _is_main_guard(node.test):
            continue
        yield node
        match node:
            case ast.Call(func=ast.Name(id=name)) if name in defined and name not in entered:
                called = defined[name]
                if isinstance(called, ast.FunctionDef) and not _is_generator(called):
                    entered.add(name)
                    waiting.extend(called.body)
        waiting.extend(_inner(node))


def _inner(node: ast.AST) -> list[ast.AST]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        defaults = [default for default in node.args.kw_defaults if default is not None]
        return [*node.decorator_list, *node.args.defaults, *defaults]
    if isinstance(node, ast.Lambda | ast.GeneratorExp):
        return []
    return [*ast.iter_child_nodes(node)]


def _is_generator(function: Function) -> bool:
    return any(isinstance(node, ast.Yield | ast.YieldFrom) for node in ast.walk(function))


def _call(source: Source, edge: Edge, node: ast.Call) -> Iterator[Finding]:
    name = source.name_of(node.func)
    rule: Rule | None = None
    if _draws(name, node):
        rule = ENTROPY
    elif name in _CLOCK:
        rule = CLOCK
    elif name in _IO or (name.startswith(_IO_MODULES) and name.rpartition(".")[2] in _VERBS):
        rule = IO
    elif isinstance(node.func, ast.Attribute) and edge.kind_of(source, node.func.value):
        rule, name = IO, shown(node.func)
    if rule is not None:
        yield at(rule, source.file, node.lineno, node.col_offset + 1, name=f"{name}()")


def _draws(name: str, node: ast.Call) -> bool:
    if name in _SEEDED:
        return not node.args and not node.keywords
    is_random = name in _ENTROPY or name.startswith(_ENTROPY_MODULES)
    return is_random and name not in _ALLOWED


def _statement(source: Source, edge: Edge, node: ast.stmt) -> Iterator[Finding]:
    place = (source.file, node.lineno, node.col_offset + 1)
    match node:
        case ast.ImportFrom(module="workers", names=names):
            for alias in names:
                if alias.name in ("wait_until", "waitUntil"):
                    yield at(WAIT_UNTIL, *place, name=alias.name)
        case (
            ast.Assign(targets=[ast.Name(id=target)], value=value)
            | ast.AnnAssign(target=ast.Name(id=target), value=ast.expr() as value)
        ):
            if _makes_js_object(source, edge, value):
                yield at(SNAPSHOT, *place, name=target)


def _makes_js_object(source: Source, edge: Edge, value: ast.expr) -> bool:
    match value:
        case ast.Call():
            name = source.name_of(value.func)
            is_js = name.startswith("js.") and not name.startswith(("js.Date.now", "js.Math."))
            return is_js or name in _JS_OBJECTS
        case ast.List(elts=items) | ast.Tuple(elts=items) | ast.Set(elts=items):
            return any(_makes_js_object(source, edge, item) for item in items)
        case ast.Dict(values=items):
            return any(_makes_js_object(source, edge, item) for item in items)
        case ast.Attribute():
            return edge.kind_of(source, value) is not None
    return False


def _is_main_guard(test: ast.expr) -> bool:
    match test:
        case ast.Compare(left=ast.Name(id="__name__")):
            return True
    return False
