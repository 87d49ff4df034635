"""A worker's Python files as the rules read them: parsed, with what names stand for."""

from __future__ import annotations

import ast
import os
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, TypeAlias

from localedge.port.check import silence
from localedge.port.check.silence import Silences
from localedge.project.own_files import is_export

Function: TypeAlias = ast.FunctionDef | ast.AsyncFunctionDef
_SKIPPED: Final = {"node_modules", "python_modules", "__pycache__", "vendor"}
_DEEPEST: Final = 100
_SCOPES: Final = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.Module)


@dataclass
class Source:
    """One parsed file.

    Shape: `imports` maps a local name to what it stands for ("js.fetch", "threading"); `parents`
    maps each node to the one that it lies in; `nodes` are all, in the order of the text.
    """

    file: Path
    text: str
    tree: ast.Module
    silences: Silences = field(default_factory=Silences)
    imports: dict[str, str] = field(default_factory=dict)
    parents: dict[ast.AST, ast.AST] = field(default_factory=dict)
    nodes: list[ast.AST] = field(default_factory=list)
    _spans: dict[ast.AST, tuple[int, int]] = field(default_factory=dict)
    _assigned: dict[ast.AST, dict[str, list[ast.expr | None]]] = field(default_factory=dict)
    _attributes: dict[ast.AST, dict[str, list[ast.expr]]] = field(default_factory=dict)

    def index(self) -> None:
        """`nodes`, `parents` and what `walk` needs are filled in."""
        # Without recursion, because a sum of a thousand terms is a thousand levels deep.
        waiting: list[tuple[ast.AST, int | None]] = [(self.tree, None)]
        while waiting:
            node, start = waiting.pop()
            if start is not None:
                self._spans[node] = (start, len(self.nodes))
                continue
            waiting.append((node, len(self.nodes)))
            self.nodes.append(node)
            children = [*ast.iter_child_nodes(node)]
            for child in children:
                self.parents[child] = node
            waiting.extend((child, None) for child in reversed(children))

    def walk(self, node: ast.AST) -> list[ast.AST]:
        """`node` and all that lies in it, in the order of the text."""
        start, end = self._spans[node]
        return self.nodes[start:end]

    def functions(self) -> Iterator[Function]:
        """Every function of the file, methods too."""
        for node in self.nodes:
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                yield node

    def name_of(self, node: ast.AST) -> str:
        """The full name that an expression such as `a.b.c` stands for; "" when it is no name."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        parts.append(self.imports.get(node.id, node.id))
        return ".".join(reversed(parts))

    def value_of(self, node: ast.expr) -> ast.expr:
        """What `node` was assigned, where it is a name that is assigned once; else `node`."""
        for _ in range(8):
            if not isinstance(node, ast.Name):
                break
            found = self._lookup(node)
            if found is None:
                break
            node = found
        return node

    def text_of(self, node: ast.expr, *, depth: int = 0) -> str | None:
        """The text that `node` is certain to be, else None; None when it is made of itself."""
        if depth > _DEEPEST:
            return None
        depth += 1
        match self.value_of(node):
            case ast.Constant(value=str(text)):
                return text
            case ast.BinOp(left=left, op=ast.Add(), right=right):
                first = self.text_of(left, depth=depth)
                second = self.text_of(right, depth=depth)
                return None if first is None or second is None else first + second
            case ast.JoinedStr(values=values):
                parts = [self.text_of(part, depth=depth) for part in values]
                return None if None in parts else "".join(part for part in parts if part)
            case ast.FormattedValue(value=value, conversion=-1, format_spec=None):
                return self.text_of(value, depth=depth)
        return None

    def function_of(self, node: ast.AST) -> ast.AST:
        """The function, lambda or module that `node` lies in."""
        node = self.parents.get(node, self.tree)
        while not isinstance(node, _SCOPES):
            node = self.parents[node]
        return node

    def enclosing(self, node: ast.AST) -> Iterator[ast.AST]:
        """What `node` lies in, from the inside out."""
        while (above := self.parents.get(node)) is not None:
            yield above
            node = above

    def is_bound(self, node: ast.Name) -> bool:
        """Whether something is assigned to the name where `node` stands, or around it."""
        scope = self.function_of(node)
        while node.id not in self._values_in(scope):
            if scope is self.tree:
                return False
            scope = self.function_of(scope)
        return True

    def set_on_self(self, owner: ast.ClassDef, name: str) -> list[ast.expr]:
        """What `owner` assigns to `self.name`."""
        known = self._attributes.get(owner)
        if known is None:
            known = self._attributes[owner] = {}
            for node in self.walk(owner):
                match node:
                    case ast.Assign(
                        targets=[ast.Attribute(value=ast.Name(id="self"), attr=attr)], value=value
                    ):
                        known.setdefault(attr, []).append(value)
        return known.get(name, [])

    def _lookup(self, node: ast.Name) -> ast.expr | None:
        scope = self.function_of(node)
        while True:
            values = self._values_in(scope).get(node.id)
            if values is not None:
                return values[0] if len(values) == 1 else None
            if scope is self.tree:
                return None
            scope = self.function_of(scope)

    def _values_in(self, scope: ast.AST) -> dict[str, list[ast.expr | None]]:
        known = self._assigned.get(scope)
        if known is None:
            known = self._assigned[scope] = {}
            for name, value in _bindings(scope):
                known.setdefault(name, []).append(value)
        return known


def read(file: Path) -> Source:
    """`file` parsed.

    Errors: SyntaxError when this Python cannot read it, RecursionError when it is nested too deep.
    """
    with tokenize.open(file) as opened:
        text = opened.read()
    source = Source(file, text, ast.parse(text, str(file)), silence.of_python(text))
    source.index()
    for node in source.nodes:
        if isinstance(node, ast.Import):
            for alias in node.names:
                local = alias.asname or alias.name.split(".")[0]
                source.imports[local] = alias.name if alias.asname else local
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                source.imports[alias.asname or alias.name] = f"{node.module}.{alias.name}"
    return source


def shown(node: ast.AST) -> str:
    """`node` as a line of text; "…" for one that is nested too deep to be shown."""
    try:
        return ast.unparse(node)
    except RecursionError:
        return "…"


def files_of(bundle: Path) -> Iterator[Path]:
    """The Python files of a bundle, without caches, vendored packages, environments and exports."""
    for folder, folders, names in os.walk(bundle):
        folders[:] = sorted(name for name in folders if _is_searched(Path(folder, name)))
        yield from (Path(folder, name) for name in sorted(names) if name.endswith(".py"))


def _is_searched(folder: Path) -> bool:
    is_made = (folder / "pyvenv.cfg").is_file() or is_export(folder)
    return not (folder.name in _SKIPPED or folder.name.startswith(".") or is_made)


def _bindings(scope: ast.AST) -> Iterator[tuple[str, ast.expr | None]]:
    """Each name that `scope` binds, with its value where an assignment says it."""
    if isinstance(scope, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda):
        given = scope.args
        for argument in [*given.posonlyargs, *given.args, *given.kwonlyargs]:
            yield argument.arg, None
        for extra in (given.vararg, given.kwarg):
            if extra is not None:
                yield extra.arg, None
    waiting = [*ast.iter_child_nodes(scope)]
    while waiting:
        node = waiting.pop()
        match node:
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                yield name, value
                waiting.append(value)
                continue
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                yield name, value
                waiting.append(value)
                continue
            case ast.NamedExpr(target=ast.Name(id=name), value=value):
                yield name, value
                waiting.append(value)
                continue
            case ast.Name(id=name, ctx=ast.Store() | ast.Del()):
                yield name, None
            case ast.Global(names=names) | ast.Nonlocal(names=names):
                yield from ((name, None) for name in names)
        if not isinstance(node, _SCOPES):
            waiting.extend(ast.iter_child_nodes(node))
