"""Runs every rule over a project."""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Final

from localedge.port.check import (
    absent,
    callbacks,
    crossing,
    d1,
    handlers,
    kv,
    kvrate,
    modules,
    packages,
    settings,
    silence,
    sql,
    sqlcheck,
    toplevel,
)
from localedge.port.check.edge import Edge, edge_of
from localedge.port.check.finding import Finding, Rule, at
from localedge.port.check.settings import Settings
from localedge.port.check.silence import Silences
from localedge.port.check.source import Source, files_of, read
from localedge.project.models import Project
from localedge.project.resolution import Resolved

SYNTAX: Final = Rule(
    "syntax", "error", "Python {here}, which reads it here, cannot: {problem}.", "{advice}"
)
UNREASONED: Final = Rule(
    "silence-without-reason",
    "warning",
    "a comment that silences a rule says no reason, and so silences nothing.",
    "Write why, after the bracket.",
)
UNKNOWN: Final = Rule(
    "silence-unknown-rule", "warning", 'there is no rule "{name}" to silence.', "{advice}"
)
_KEY: Final = re.compile(r"[\w.\"-]+\s*=|\[")
_SUBJECTS: Final = (absent, modules, toplevel, handlers, crossing, callbacks, kv, kvrate, d1)
_OTHERS: Final = (packages, settings, sql, sqlcheck)


def rules() -> list[Rule]:
    """Every rule there is, by id."""
    found = {SYNTAX, UNREASONED, UNKNOWN}
    for module in (*_SUBJECTS, *_OTHERS):
        found.update(value for value in vars(module).values() if isinstance(value, Rule))
    return sorted(found, key=lambda rule: rule.id)


def check_project(project: Project, resolved: Resolved | None) -> list[Finding]:
    """What in `project` would fail or differ on the edge, in the order of files and lines.

    Shape: `resolved` is the configuration as it is written, None when there is no file.
    """
    assert project.main is not None
    migrations = _migrations(project)
    edge = edge_of(project, project.main, sql.text_columns(migrations))
    found = [*settings.check(Settings(project, edge, resolved)), *packages.check(edge)]
    for file in migrations:
        found.extend(sql.check_migration(file))
    asked: list[sqlcheck.Asked] = []
    sources: dict[Path, Source] = {}
    for file in files_of(edge.bundle):
        try:
            source = sources[file] = read(file)
        except (SyntaxError, ValueError, OSError, RecursionError, MemoryError) as error:
            # ValueError: no UTF-8, or a NUL where this Python does not say SyntaxError;
            # RecursionError and MemoryError: more levels of nesting than Python's parser takes.
            found.append(_unreadable(file, error))
            continue
        found.extend(finding for subject in _SUBJECTS for finding in subject.check(source, edge))
        asked.extend(sqlcheck.Asked(source, one) for one in d1.statements(source, edge))
    found.extend(sqlcheck.check(project, asked))
    return _sorted(_told(found, sources, migrations, project, edge))


def _unreadable(file: Path, error: Exception) -> Finding:
    line, column, problem = 1, 1, str(error) or "it is nested too deep"
    if isinstance(error, SyntaxError):
        line, column, problem = error.lineno or 1, error.offset or 1, error.msg
    here = ".".join(map(str, sys.version_info[:2]))
    advice = "Correct it, or run the check with a newer Python."
    return at(SYNTAX, file, line, column, here=here, problem=problem, advice=advice)


def _told(
    found: Sequence[Finding],
    sources: dict[Path, Source],
    migrations: Sequence[Path],
    project: Project,
    edge: Edge,
) -> Iterator[Finding]:
    """`found` without what comments silence, and what is wrong with those comments."""
    silences = {file: source.silences for file, source in sources.items()}
    others = {*migrations, project.file, edge.dependencies.file, *(one.file for one in found)}
    for text in others - silences.keys():
        if text is not None and text.is_file():
            silences[text] = silence.of_text(text.read_text("utf-8-sig", errors="replace"))
    for one in found:
        quiet = silences.get(one.file)
        if quiet is None or not quiet.covers(one.rule.id, _lines(sources.get(one.file), one)):
            yield one
    known = {rule.id for rule in rules()}
    for file, quiet in silences.items():
        yield from _of_comments(file, quiet, known)


def _of_comments(file: Path, quiet: Silences, known: set[str]) -> Iterator[Finding]:
    for line in quiet.unreasoned:
        yield at(UNREASONED, file, line)
    for line, name in quiet.named:
        if name not in known:
            yield at(UNKNOWN, file, line, name=name, advice=_nearest(name, known))


def _nearest(name: str, known: set[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, sorted(known), n=1)
    return f'Did you mean "{near[0]}"?' if near else "docs/check has a page for each rule."


def _lines(source: Source | None, finding: Finding) -> range:
    """The lines on which a comment speaks for `finding`: all of its statement."""
    line = finding.line
    if source is None:
        is_toml = finding.file.suffix == ".toml"
        return range(_key_line(finding.file, line) if is_toml else line, line + 1)
    for node in source.nodes:
        if isinstance(node, ast.stmt) and not hasattr(node, "body"):
            last = node.end_lineno or node.lineno
            if node.lineno <= line <= last:
                return range(node.lineno, last + 1)
    return range(line, line + 1)


def _key_line(file: Path, line: int) -> int:
    """The line with the key whose value goes on to `line`."""
    lines = file.read_text("utf-8-sig", errors="replace").split("\n")
    for number in range(line, 0, -1):
        if _KEY.match(lines[number - 1]):
            return number
    return line


def _migrations(project: Project) -> list[Path]:
    found: set[Path] = set()
    for database in project.d1_databases:
        folder = project.root / (database.migrations_dir or "migrations")
        if folder.is_dir():
            found.update(folder.rglob("*.sql"))
    return sorted(found)


def _sorted(found: Iterator[Finding]) -> list[Finding]:
    return sorted(set(found), key=lambda one: (str(one.file), one.line, one.column, one.rule.id))
