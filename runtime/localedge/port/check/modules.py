"""Rules on imports: modules and packages that the edge lacks, or has in another form."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator
from typing import Final

from localedge.port.check import installed
from localedge.port.check.absent import SOCKET
from localedge.port.check.edge import Edge
from localedge.port.check.finding import Finding, Rule, at
from localedge.port.check.source import Source
from localedge.sdk import lacking, upstream
from localedge.sdk.finder import OFFERED

MODULE: Final = Rule(
    "missing-module", "error", 'the module "{name}" does not exist on the edge.', "{advice}"
)
STUB: Final = Rule(
    "stub-module",
    "warning",
    'the module "{name}" can be imported on the edge, but does not work there.',
    "{advice}",
)
PACKAGE: Final = Rule(
    "no-edge-build", "error", 'the package "{name}" has no build for the edge.', "{advice}"
)
UNDECLARED: Final = Rule(
    "undeclared-package",
    "warning",
    'the package of the module "{name}" is no dependency of the project: the edge will lack it.',
    "Add it to [project].dependencies in pyproject.toml.",
)
UNKNOWN: Final = Rule("not-in-localedge", "error", "localedge has no {name}.", "{advice}")
ROOT: Final = Rule(
    "import-root",
    "error",
    'the import of "{name}" names the bundle\'s own folder, which the edge does not know.',
    "Imports begin in that folder: write {instead}.",
)

RELATIVE: Final = Rule(
    "relative-import",
    "error",
    'the import of "{name}" begins above the bundle\'s folder, which is no package.',
    "Imports begin in that folder: write {instead}.",
)

_DO_WITHOUT: Final = (
    "Do without it there, or import it where it is used, in try … except ImportError."
)
# Source: reference/python-workers.md section 4, read 2026-12-01.
_MISSING: Final = {
    **dict.fromkeys(
        (
            *("curses", "ensurepip", "fcntl", "grp", "idlelib", "lib2to3", "msvcrt", "pty", "pwd"),
            *("resource", "syslog", "termios", "tkinter", "tty", "turtle", "venv", "winreg"),
            *("winsound", "crypt", "nis", "ossaudiodev", "spwd"),
        ),
        _DO_WITHOUT,
    ),
    "dbm": "Keep what must last in KV or D1.",
}
_STUBS: Final = {
    "multiprocessing": "The edge has no processes: use async code.",
    "webbrowser": "Answer with a redirect instead.",
    "ssl": "fetch does TLS by itself.",
    "sqlite3": "It has failed to load there: use D1.",
}
_PURE: Final = "Take a pure Python package, or one with a PyEmscripten wheel."
_NO_BUILD: Final = {
    "uvloop": "The edge has a loop of its own: leave it out.",
    "psycopg2": "Use D1, or a Hyperdrive binding with a driver in pure Python.",
    "psycopg": "Use D1, or a Hyperdrive binding with a driver in pure Python.",
    "asyncpg": "Use D1, or a Hyperdrive binding with a driver in pure Python.",
    "MySQLdb": "Use D1.",
    "gevent": "Use async code.",
    "eventlet": "Use async code.",
    "greenlet": "Use async code.",
    "httptools": "The platform does HTTP: leave it out.",
    "watchfiles": "The edge has no files to watch: leave it out.",
    "tensorflow": _PURE,
    "torch": _PURE,
    "grpc": "Use fetch.",
    "uwsgi": "Use workers.wsgi.",
    "gunicorn": "Use workers.wsgi or workers.asgi.",
    "hiredis": "Leave it out, and use KV.",
    "aiosqlite": "It needs threads and sqlite3: use D1.",
}
_SOCKETS: Final = {
    "redis": "It needs sockets: use KV, or a compatibility date with Python 3.14.",
    "pg8000": "It needs sockets: use a compatibility date with Python 3.14.",
}
"""Packages in pure Python that open connections of their own."""
_SOCKETS_SINCE: Final = (3, 14)


def check(source: Source, edge: Edge) -> Iterator[Finding]:
    """What `source` imports that the edge has not, or that we have not."""
    undeclared: set[str] = set()
    for node, module in _imports(source):
        for one in _module(source, edge, node, module):
            # One missing dependency is one thing to do, however often a file imports it.
            if one.rule is UNDECLARED:
                if one.message in undeclared:
                    continue
                undeclared.add(one.message)
            yield one
    depth = len(source.file.parent.relative_to(edge.bundle).parts)
    for relative in source.nodes:
        if isinstance(relative, ast.ImportFrom) and relative.level > depth:
            yield _relative(source, relative)


def _imports(source: Source) -> Iterator[tuple[ast.Import | ast.ImportFrom, str]]:
    for node in source.nodes:
        match node:
            case ast.Import(names=names):
                for alias in names:
                    yield node, alias.name
            case ast.ImportFrom(module=str(module), level=0):
                yield node, module


def _relative(source: Source, node: ast.ImportFrom) -> Finding:
    name = "." * node.level + (node.module or "")
    names = ", ".join(alias.name for alias in node.names)
    instead = f'"from {node.module} import …"' if node.module else f'"import {names}"'
    return at(RELATIVE, source.file, node.lineno, node.col_offset + 1, name=name, instead=instead)


def _module(
    source: Source,
    edge: Edge,
    node: ast.Import | ast.ImportFrom,
    module: str,
) -> Iterator[Finding]:
    top = module.split(".")[0]
    place = (source.file, node.lineno, node.col_offset + 1)
    if _is_guarded(source, node) or _is_local(edge, source, top):
        return
    if top in OFFERED and (lacking.exists(module) or module in upstream.KNOWN):
        return
    if advice := lacking.nearest(module):
        yield at(UNKNOWN, *place, name=f'module "{module}"', advice=advice)
    elif top in _MISSING:
        yield at(MODULE, *place, name=top, advice=_MISSING[top])
    elif top in _STUBS:
        yield at(STUB, *place, name=top, advice=_STUBS[top])
    elif top in _NO_BUILD:
        yield at(PACKAGE, *place, name=top, advice=_NO_BUILD[top])
    elif top in _SOCKETS and edge.python < _SOCKETS_SINCE:
        yield at(SOCKET, *place, name=f"the package {top}", advice=_SOCKETS[top])
    elif top == edge.bundle.name and edge.bundle != edge.root:
        rest = module.partition(".")[2]
        instead = f'"from {rest} import …"' if rest else '"import …"'
        yield at(ROOT, *place, name=module, instead=instead)
    elif _is_foreign(top) and not installed.is_provided(top, edge.dependencies):
        yield at(UNDECLARED, *place, name=top)


def _is_foreign(top: str) -> bool:
    """Whether the module comes from a package, and from none that is always there."""
    return top not in sys.stdlib_module_names and not top.startswith("_pyodide")


def _is_guarded(source: Source, node: ast.AST) -> bool:
    """Whether the import may fail, or is for type checkers only."""
    inner: ast.AST = node
    for above in source.enclosing(node):
        match above:
            case ast.Try(body=body, handlers=handlers) if inner in body:
                if any(_catches_import_error(handler) for handler in handlers):
                    return True
            case ast.If(test=test, body=body) if inner in body:
                if source.name_of(test).rpartition(".")[2] == "TYPE_CHECKING":
                    return True
        inner = above
    return False


def _catches_import_error(handler: ast.ExceptHandler) -> bool:
    if handler.type is None:
        return True
    names = {node.id for node in ast.walk(handler.type) if isinstance(node, ast.Name)}
    return bool(names & {"ImportError", "ModuleNotFoundError", "Exception"})


def _is_local(edge: Edge, source: Source, top: str) -> bool:
    """Whether the bundle itself has the module; imports begin in its folder."""
    return any(
        (folder / f"{top}.py").is_file() or (folder / top).is_dir()
        for folder in (edge.bundle, edge.bundle / "python_modules")
    )
