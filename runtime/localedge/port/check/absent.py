"""Rules on what does not exist on the edge: threads, processes, sockets, lasting files."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from localedge.port.check.edge import Edge
from localedge.port.check.finding import Finding, Rule, at
from localedge.port.check.source import Source

THREAD: Final = Rule(
    "thread",
    "error",
    "{name} starts a thread; on the edge that is RuntimeError: can't start new thread.",
    "Use async code.",
)
PROCESS: Final = Rule(
    "process", "error", "{name} needs processes; the edge has none.", "Use a service over fetch."
)
SIGNAL: Final = Rule(
    "signal", "error", "{name} needs signals; the edge has none.", "Leave it out there."
)
SOCKET: Final = Rule(
    "socket", "error", "{name} needs a socket that the edge does not offer.", "{advice}"
)
BLOCKING: Final = Rule(
    "event-loop",
    "warning",
    "{name} runs inline on the edge's one event loop: it keeps everything else waiting.",
    "Await asynchronous code instead.",
)
FILE: Final = Rule(
    "file",
    "warning",
    "{name} writes a file; the edge keeps files in memory, for one isolate, until it ends.",
    "Keep what must last in KV or D1.",
)
ENVIRON: Final = Rule(
    "process-environment",
    "warning",
    "{name} reads the process environment; vars and secrets are not in it on the edge.",
    "Use self.env.",
)

# Source: reference/python-workers.md section 4, read 2026-12-01.
_CALLS: Final = {
    "threading.Thread": THREAD,
    "threading.Timer": THREAD,
    "_thread.start_new_thread": THREAD,
    "concurrent.futures.ThreadPoolExecutor": THREAD,
    "multiprocessing.pool.ThreadPool": THREAD,
    "multiprocessing.dummy.Pool": THREAD,
    "concurrent.futures.ProcessPoolExecutor": PROCESS,
    "asyncio.create_subprocess_exec": PROCESS,
    "asyncio.create_subprocess_shell": PROCESS,
    "signal.signal": SIGNAL,
    "signal.alarm": SIGNAL,
    "signal.setitimer": SIGNAL,
    "signal.pthread_kill": SIGNAL,
    "os.kill": SIGNAL,
    "asyncio.to_thread": BLOCKING,
    "sqlite3.connect": FILE,
    "shelve.open": FILE,
    "dbm.open": FILE,
    "os.mkdir": FILE,
    "os.makedirs": FILE,
    "shutil.copy": FILE,
    "shutil.copyfile": FILE,
    "shutil.move": FILE,
    "logging.FileHandler": FILE,
    "logging.handlers.RotatingFileHandler": FILE,
    "os.getenv": ENVIRON,
}
_PREFIXES: Final = {
    "subprocess.": PROCESS,
    "multiprocessing.": PROCESS,
    "os.fork": PROCESS,
    "os.exec": PROCESS,
    "os.spawn": PROCESS,
    "os.posix_spawn": PROCESS,
    "os.system": PROCESS,
    "os.popen": PROCESS,
    "socketserver.": SOCKET,
    "http.server.": SOCKET,
}
_NOT_CALLS: Final = frozenset(
    ("subprocess.CompletedProcess", "subprocess.list2cmdline", "multiprocessing.cpu_count")
)
_LISTENING: Final = frozenset(
    (
        "socket.create_server",
        "asyncio.start_server",
        "asyncio.start_unix_server",
        "uvicorn.run",
        "wsgiref.simple_server.make_server",
    )
)
_OUTGOING: Final = frozenset(
    ("socket.socket", "socket.create_connection", "asyncio.open_connection")
)
_OUTGOING_SINCE: Final = (3, 14)
_LOOP_METHODS: Final = {
    "run_in_executor": BLOCKING,
    "add_reader": SOCKET,
    "add_writer": SOCKET,
    "create_server": SOCKET,
    "add_signal_handler": SIGNAL,
    "subprocess_exec": PROCESS,
    "subprocess_shell": PROCESS,
}
_PATH_WRITES: Final = frozenset(("write_text", "write_bytes"))
_WRITES: Final = frozenset("wax+")
_FETCH: Final = "Use fetch."
_SERVED: Final = "The platform calls your handler; nothing listens."


def check(source: Source, edge: Edge) -> Iterator[Finding]:
    """What `source` uses that is not there on the edge."""
    for node in source.nodes:
        place = (source.file, getattr(node, "lineno", 0), getattr(node, "col_offset", 0) + 1)
        match node:
            case ast.Call():
                for rule, name, advice in _of_call(source, edge, node):
                    yield at(rule, *place, name=f"{name}()", advice=advice)
            case ast.ClassDef(bases=bases):
                names = {source.name_of(base) for base in bases}
                if "threading.Thread" in names:
                    yield at(THREAD, *place, name=node.name)
                if "multiprocessing.Process" in names:
                    yield at(PROCESS, *place, name=node.name)
            case ast.Attribute() if source.name_of(node) == "os.environ":
                if _is_read(source, node):
                    yield at(ENVIRON, *place, name="os.environ")


def _of_call(source: Source, edge: Edge, node: ast.Call) -> Iterator[tuple[Rule, str, str]]:
    name = source.name_of(node.func)
    rule = _CALLS.get(name)
    if rule is None and name not in _NOT_CALLS:
        rule = next((r for start, r in _PREFIXES.items() if name.startswith(start)), None)
    if rule is not None:
        yield rule, name, _SERVED
    elif name in _LISTENING:
        yield SOCKET, name, _SERVED
    elif name in _OUTGOING and edge.python < _OUTGOING_SINCE:
        yield SOCKET, name, f"{_FETCH[:-1]}, or a compatibility date with Python 3.14."
    elif _is_writing_open(source, name, node):
        yield FILE, "open", ""
    elif isinstance(node.func, ast.Attribute):
        yield from _of_method(source, node, node.func)


def _of_method(
    source: Source, node: ast.Call, func: ast.Attribute
) -> Iterator[tuple[Rule, str, str]]:
    if func.attr in _LOOP_METHODS and _is_loop(source, func.value):
        yield _LOOP_METHODS[func.attr], func.attr, _FETCH
    elif func.attr in _PATH_WRITES and len(node.args) == 1:
        yield FILE, func.attr, ""
    elif func.attr == "open" and _has_writing_mode(node.args[:1], node):
        yield FILE, "open", ""


def _is_loop(source: Source, node: ast.expr) -> bool:
    value = source.value_of(node)
    if isinstance(value, ast.Call):
        return source.name_of(value.func).startswith("asyncio.")
    return "loop" in source.name_of(value)


def _is_writing_open(source: Source, name: str, node: ast.Call) -> bool:
    return name in ("open", "io.open", "aiofiles.open") and _has_writing_mode(node.args[1:2], node)


def _has_writing_mode(positional: list[ast.expr], node: ast.Call) -> bool:
    modes = [*positional, *(k.value for k in node.keywords if k.arg == "mode")]
    return any(
        isinstance(mode, ast.Constant)
        and isinstance(mode.value, str)
        and len(mode.value) <= 3
        and bool(_WRITES & set(mode.value))
        for mode in modes
    )


def _is_read(source: Source, node: ast.AST) -> bool:
    match source.parents.get(node):
        case ast.Subscript(ctx=ast.Load()):
            return True
        case ast.Attribute(attr="get" | "items" | "copy"):
            return True
    return False
