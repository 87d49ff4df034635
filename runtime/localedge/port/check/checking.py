"""Runs every rule over a project."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from localedge.port.check import absent, calls, handlers, settings, sql, toplevel
from localedge.port.check.finding import Finding, Rule, at
from localedge.port.check.source import Source, files_of, read
from localedge.project.models import Project

SYNTAX: Final = Rule("syntax", "error", "this is not Python: {problem}.", "Correct it.")
SILENCE: Final = Rule(
    "silence-without-reason",
    "warning",
    "a comment that silences a rule says no reason.",
    "Write # localedge: ignore[rule] and why.",
)
_SUBJECTS: Final = (absent, toplevel, handlers, calls)


def rules() -> list[Rule]:
    """Every rule there is, by id."""
    modules = (*_SUBJECTS, sql, settings)
    found = {SYNTAX, SILENCE}
    for module in modules:
        found.update(value for value in vars(module).values() if isinstance(value, Rule))
    return sorted(found, key=lambda rule: rule.id)


def check_project(project: Project) -> list[Finding]:
    """What in `project` would fail or differ on the edge, in the order of files and lines."""
    found: list[Finding] = [*settings.check(project)]
    migrations = _migrations(project)
    for file in migrations:
        found.extend(sql.check_migration(file))
    if project.main is not None:
        columns = sql.text_columns(migrations)
        for file in files_of(project.bundle):
            found.extend(check_file(file, columns))
    return sorted(set(found), key=lambda one: (str(one.file), one.line, one.column, one.rule.id))


def check_file(file: Path, columns: frozenset[tuple[str, str]] = frozenset()) -> list[Finding]:
    """What the rules find in one Python file, without what it silences."""
    try:
        source = read(file)
    except SyntaxError as exc:
        return [at(SYNTAX, file, exc.lineno or 0, exc.offset or 1, problem=exc.msg)]
    return [one for one in _found(source, columns) if not _is_silenced(source, one)]


def _found(source: Source, columns: frozenset[tuple[str, str]]) -> Iterator[Finding]:
    for subject in _SUBJECTS:
        yield from subject.check(source)
    yield from sql.check_statements(source, columns)
    for line in source.unreasoned:
        yield at(SILENCE, source.file, line)


def _is_silenced(source: Source, finding: Finding) -> bool:
    if finding.rule.id in source.silenced.get(finding.line, ()):
        return True
    # A comment on any line of a statement of several lines speaks for the statement.
    for node in ast.walk(source.tree):
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            first, last = node.lineno, node.end_lineno or node.lineno
            if first <= finding.line <= last:
                lines = range(first, last + 1)
                return any(finding.rule.id in source.silenced.get(n, ()) for n in lines)
    return False


def _migrations(project: Project) -> list[Path]:
    found: set[Path] = set()
    for database in project.d1_databases:
        folder = project.root / (database.migrations_dir or "migrations")
        if folder.is_dir():
            found.update(folder.rglob("*.sql"))
    return sorted(found)
