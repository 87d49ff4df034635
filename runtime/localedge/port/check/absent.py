"""Rules on what does not exist on the edge: threads, processes, sockets, files, modules."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from localedge.port.check.finding import Finding, Rule, at
from localedge.port.check.source import Source

THREAD: Final = Rule(
    "thread", "error", "{name} starts a thread; the edge has none.", "Use async code."
)
PROCESS: Final = Rule(
    "process", "error", "{name} starts a process; the edge has none.", "Use a service over fetch."
)
SOCKET: Final = Rule(
    "socket", "error", "{name} needs a socket that the edge does not offer.", "Use fetch."
)
BLOCKING: Final = Rule(
    "event-loop",
    "warning",
    "{name} runs inline on the edge's one event loop.",
    "Await asynchronous code instead.",
)
FILE: Final = Rule(
    "file",
    "warning",
    "{name} writes a file; the edge keeps files in memory until its isolate ends.",
    "Keep what must last in KV or D1.",
)
MODULE: Final = Rule(
    "missing-module",
    "error",
    'the module "{name}" does not exist on the edge.',
    "Do without it there.",
)
PACKAGE: Final = Rule(
    "no-edge-build",
    "error",
    'the package "{name}" has no build for the edge.',
    "Take a pure Python package or one with a PyEmscripten wheel.",
)
STUB: Final = Rule(
    "stub-module",
    "warning",
    'the module "{name}" can be imported on the edge but does not work there.',
    "Do not rely on it.",
)

_CALLS: Final = {
    "threading.Thread": THREAD,
    "threading.Timer": THREAD,
    "_thread.start_new_thread": THREAD,
    "concurrent.futures.ThreadPoolExecutor": THREAD,
    "concurrent.futures.ProcessPoolExecutor": PROCESS,
    "multiprocessing.Process": PROCESS,
    "multiprocessing.Pool": PROCESS,
    "os.fork": PROCESS,
    "os.system": PROCESS,
    "os.popen": PROCESS,
    "subprocess.run": PROCESS,
    "subprocess.Popen": PROCESS,
    "subprocess.call": PROCESS,
    "subprocess.check_call": PROCESS,
    "subprocess.check_output": PROCESS,
    "asyncio.create_subprocess_exec": PROCESS,
    "asyncio.create_subprocess_shell": PROCESS,
    "socket.create_server": SOCKET,
    "asyncio.start_server": SOCKET,
    "asyncio.start_unix_server": SOCKET,
    "socketserver.TCPServer": SOCKET,
    "http.server.HTTPServer": SOCKET,
    "asyncio.to_thread": BLOCKING,
    "sqlite3.connect": FILE,
    "shelve.open": FILE,
}
_METHODS: Final = {"run_in_executor": BLOCKING, "add_reader": SOCKET, "add_signal_handler": PROCESS}
# Source: reference/python-workers.md section 4, read 2026-12-01.
_MISSING: Final = frozenset(
    (
        "curses",
        "dbm",
        "ensurepip",
        "fcntl",
        "grp",
        "idlelib",
        "lib2to3",
        "msvcrt",
        "pwd",
        "resource",
        "syslog",
        "termios",
        "tkinter",
        "turtle",
        "venv",
        "winreg",
        "winsound",
        "pty",
        "tty",
    )
)
_STUBS: Final = frozenset(["multiprocessing", "webbrowser", "ssl"])
_NO_BUILD: Final = frozenset(["uvloop", "psycopg2", "mysqlclient", "MySQLdb", "gevent", "greenlet"])
_WRITES: Final = frozenset("wax+")


def check(source: Source) -> Iterator[Finding]:
    """What `source` uses that is not there on the edge."""
    for node in ast.walk(source.tree):
        match node:
            case ast.Call():
                yield from _call(source, node)
            case ast.Import(names=names):
                for alias in names:
                    yield from _module(source, node, alias.name)
            case ast.ImportFrom(module=str(module), level=0):
                yield from _module(source, node, module)


def _call(source: Source, node: ast.Call) -> Iterator[Finding]:
    name = source.name_of(node.func)
    rule = _CALLS.get(name)
    if rule is None and isinstance(node.func, ast.Attribute):
        rule = _METHODS.get(node.func.attr)
        name = node.func.attr if rule else name
    if rule is None and name == "open" and _opens_for_writing(node):
        rule = FILE
    if rule is not None:
        yield at(rule, source.file, node.lineno, node.col_offset + 1, name=f"{name}()")


def _opens_for_writing(node: ast.Call) -> bool:
    modes = [*node.args[1:2], *(k.value for k in node.keywords if k.arg == "mode")]
    return any(
        isinstance(m, ast.Constant) and isinstance(m.value, str) and bool(_WRITES & set(m.value))
        for m in modes
    )


def _module(source: Source, node: ast.stmt, module: str) -> Iterator[Finding]:
    top = module.split(".")[0]
    for names, rule in ((_MISSING, MODULE), (_NO_BUILD, PACKAGE), (_STUBS, STUB)):
        if top in names:
            yield at(rule, source.file, node.lineno, node.col_offset + 1, name=top)
