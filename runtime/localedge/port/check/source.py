"""A worker's Python files as the rules read them: parsed, with names resolved and silences."""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

_SILENCE = re.compile(r"#\s*localedge:\s*ignore\[([\w\-, ]+)\]\s*(.*)")
_SKIPPED = {"node_modules", "python_modules", "__pycache__", "vendor"}


@dataclass
class Source:
    """One parsed file.

    Shape: `imports` maps a local name to what it stands for ("js.fetch", "threading"); `silenced`
    maps a line to the rule ids that a comment with a reason there silences; `unreasoned` are the
    lines whose comment gives no reason.
    """

    file: Path
    text: str
    tree: ast.Module
    imports: dict[str, str] = field(default_factory=dict)
    silenced: dict[int, frozenset[str]] = field(default_factory=dict)
    unreasoned: list[int] = field(default_factory=list)

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


def read(file: Path) -> Source:
    """`file` parsed. Errors: SyntaxError when it is not Python."""
    text = file.read_text("utf-8-sig")
    source = Source(file, text, ast.parse(text, str(file)))
    _collect_imports(source)
    _collect_silences(source)
    return source


def files_of(bundle: Path) -> Iterator[Path]:
    """The Python files of a bundle, without caches, vendored packages and environments."""
    for path in sorted(bundle.rglob("*.py")):
        folders = path.relative_to(bundle).parts[:-1]
        if not any(name in _SKIPPED or name.startswith(".") for name in folders):
            yield path


def _collect_imports(source: Source) -> None:
    for node in ast.walk(source.tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                local = alias.asname or alias.name.split(".")[0]
                source.imports[local] = alias.name if alias.asname else local
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                source.imports[alias.asname or alias.name] = f"{node.module}.{alias.name}"


def _collect_silences(source: Source) -> None:
    for token in tokenize.generate_tokens(io.StringIO(source.text).readline):
        found = _SILENCE.match(token.string) if token.type == tokenize.COMMENT else None
        if found is None:
            continue
        line = token.start[0]
        alone = not token.line[: token.start[1]].strip()
        if not found[2].strip():
            source.unreasoned.append(line)
            continue
        ids = frozenset(name.strip() for name in found[1].split(","))
        source.silenced[line + 1 if alone else line] = ids


def functions(tree: ast.AST) -> Iterator[ast.FunctionDef | ast.AsyncFunctionDef]:
    """Every function of `tree`, methods too."""
    for node in ast.walk(tree):
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            yield node


def at_import(tree: ast.Module) -> Iterator[ast.AST]:
    """The nodes that run when the module is imported: not the bodies of functions."""
    waiting: list[ast.AST] = list(tree.body)
    while waiting:
        node = waiting.pop(0)
        if isinstance(node, ast.If) and _is_main_guard(node.test):
            continue
        yield node
        for child in ast.iter_child_nodes(node):
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
                if child in node.decorator_list or child in node.args.defaults:
                    waiting.append(child)
            elif isinstance(node, ast.Lambda):
                continue
            else:
                waiting.append(child)


def _is_main_guard(test: ast.expr) -> bool:
    return (
        isinstance(test, ast.Compare)
        and isinstance(test.left, ast.Name)
        and test.left.id == "__name__"
    )
