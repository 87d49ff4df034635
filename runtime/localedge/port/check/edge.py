"""What the rules know of the edge that a project is meant for, and of the project itself."""

from __future__ import annotations

import ast
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Literal, TypeAlias

from localedge.port.check.dependencies import Dependencies
from localedge.port.check.source import Source
from localedge.project import compatibility
from localedge.project.models import Project

_DEEPEST: Final = 20
"""How far assignments are followed; two attributes may be assigned to each other."""
Kind: TypeAlias = Literal["kv", "d1", "other"]


@dataclass(frozen=True, slots=True)
class Edge:
    """The edge of one project.

    Shape: `python` is its (major, minor) there; `flags` those that are set, by date or by name;
    `bindings` maps a name in `env` to its kind; `text_columns` holds (table, column) in lower
    case; `bundle` is the folder that is uploaded, `root` the project's.
    """

    root: Path
    bundle: Path
    main: Path
    python: tuple[int, int]
    flags: frozenset[str]
    bindings: dict[str, Kind]
    dependencies: Dependencies
    text_columns: frozenset[tuple[str, str]] = field(default_factory=frozenset)

    def is_env(self, source: Source, node: ast.expr) -> bool:
        """Whether `node` is the env: `self.env`, `env`, `request.scope["env"]`."""
        match source.value_of(node):
            case ast.Name(id="env") | ast.Attribute(attr="env"):
                return True
            case ast.Subscript(slice=ast.Constant(value="env" | "workers.env")):
                return True
        return False

    def kind_of(self, source: Source, node: ast.expr, *, depth: int = 0) -> Kind | None:
        """Which kind of binding `node` is, where that is certain."""
        if depth > _DEEPEST:
            return None
        match source.value_of(node):
            case ast.Attribute(value=env, attr=name) if self.is_env(source, env):
                return self.bindings.get(name)
            case ast.Call(
                func=ast.Name(id="getattr"), args=[env, ast.Constant(value=str(name)), *_]
            ) if self.is_env(source, env):
                return self.bindings.get(name)
            case ast.Attribute(value=ast.Name(id="self"), attr=name):
                return self._attribute(source, node, name, depth)
            case ast.Call(func=ast.Attribute(value=inner, attr="withSession")):
                return self.kind_of(source, inner, depth=depth + 1)
        return None

    def _attribute(self, source: Source, node: ast.AST, name: str, depth: int) -> Kind | None:
        """The kind of `self.name`, where the class assigns it once."""
        for above in source.enclosing(node):
            if isinstance(above, ast.ClassDef):
                values = source.set_on_self(above, name)
                if len(values) != 1 or values[0] is node:
                    return None
                return self.kind_of(source, values[0], depth=depth + 1)
        return None


def edge_of(
    project: Project, main: Path, text_columns: frozenset[tuple[str, str]] = frozenset()
) -> Edge:
    """The edge of `project`, whose main module is `main`."""
    date = project.compatibility_date or compatibility.default_date()
    flags = compatibility.python_flags(date, project.compatibility_flags)
    release = compatibility.python_release(date, project.compatibility_flags)
    major, minor = release.python.split(".")[:2]
    bindings: dict[str, Kind] = dict.fromkeys(
        (*project.placeholders, *project.attached.classes()), "other"
    )
    bindings |= dict.fromkeys((one.binding for one in project.kv_namespaces), "kv")
    bindings |= dict.fromkeys((one.binding for one in project.d1_databases), "d1")
    return Edge(
        root=project.root,
        bundle=main.parent,
        main=main,
        python=(int(major), int(minor)),
        flags=flags,
        bindings=bindings,
        dependencies=Dependencies.read(project.root),
        text_columns=text_columns,
    )
