"""Rules on work at import: the edge runs module scope once, to take a snapshot."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from localedge.port.check.finding import Finding, Rule, at
from localedge.port.check.source import Source, at_import

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
    '"from workers import {name}" at top level keeps a deploy from being snapshotted.',
    "Use self.ctx.waitUntil, or import it inside the handler.",
)

# Source: reference/python-workers.md section 4 (import time) and 1, read 2026-12-01.
_ENTROPY: Final = frozenset(
    ["os.urandom", "uuid.uuid1", "uuid.uuid4", "random.SystemRandom", "ssl.RAND_bytes"]
)
_ENTROPY_MODULES: Final = ("random.", "secrets.")
_CLOCK: Final = frozenset(
    (
        "time.time",
        "time.time_ns",
        "time.monotonic",
        "time.perf_counter",
        "datetime.datetime.now",
        "datetime.datetime.utcnow",
        "datetime.date.today",
    )
)
_IO: Final = frozenset(
    (
        "workers.fetch",
        "js.fetch",
        "pyodide.http.pyfetch",
        "httpx.get",
        "httpx.post",
        "requests.get",
        "requests.post",
        "urllib.request.urlopen",
        "asyncio.run",
        "asyncio.sleep",
        "time.sleep",
        "js.setTimeout",
    )
)


def check(source: Source) -> Iterator[Finding]:
    """What `source` does at import that the edge refuses or freezes."""
    for node in at_import(source.tree):
        if isinstance(node, ast.Call):
            yield from _call(source, node)
    for statement in source.tree.body:
        yield from _statement(source, statement)


def _call(source: Source, node: ast.Call) -> Iterator[Finding]:
    name = source.name_of(node.func)
    if name in _ENTROPY or name.startswith(_ENTROPY_MODULES):
        rule = ENTROPY
    elif name in _CLOCK:
        rule = CLOCK
    elif name in _IO:
        rule = IO
    else:
        return
    yield at(rule, source.file, node.lineno, node.col_offset + 1, name=f"{name}()")


def _statement(source: Source, node: ast.stmt) -> Iterator[Finding]:
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
            if _makes_js_object(source, value):
                yield at(SNAPSHOT, *place, name=target)


def _makes_js_object(source: Source, value: ast.expr) -> bool:
    if not isinstance(value, ast.Call):
        return False
    name = source.name_of(value.func)
    return name.startswith("js.") or name in (
        "pyodide.ffi.to_js",
        "pyodide.ffi.create_proxy",
        "workers.Response",
        "workers.Request",
    )
