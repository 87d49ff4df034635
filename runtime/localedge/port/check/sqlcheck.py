"""Rules on SQL that only D1's own engine can tell: limits and what is not authorized.

Each text is given to an engine with the limits, the functions and the authorizer of D1, on a
database of its own with the project's migrations applied, as EXPLAIN: nothing of it runs.
"""

from __future__ import annotations

import asyncio
import re
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from localedge.d1.engine import Engine, EngineError, Query
from localedge.d1.files import database_file
from localedge.d1.migrations import apply_migrations, migration_folder
from localedge.d1.migrations.applying import MigrationError
from localedge.d1.sqlite import open_engine
from localedge.d1.statements import parse
from localedge.errors import OperatorError
from localedge.port.check.d1 import Written
from localedge.port.check.finding import Finding, Rule, at
from localedge.port.check.source import Source
from localedge.project.models import D1Database, Project

LIMIT: Final = Rule("sql-limit", "error", "D1 refuses this statement: {text}.", "{advice}")
REFUSED: Final = Rule("sql-refused", "error", "D1 refuses this statement: {text}.", "{advice}")
FAILS: Final = Rule(
    "migration-fails", "error", "on an empty database this migration fails: {text}.", "{advice}"
)

# Source: reference/kv-d1-contract.md 2.13 and 2.12, read 2026-12-01.
_LIMITS: Final = {
    "statement too long": "D1 takes 100,000 bytes: split it.",
    "too many columns": "D1 takes 100 columns: use several tables, or one of JSON.",
    "too many terms in compound SELECT": "D1 takes 5 terms: use VALUES, json_each(?) or a batch.",
    "Expression tree is too large": "D1 takes a depth of 100: use IN (…) or json_each(?).",
    "too many arguments on function": "D1 takes 32 arguments: nest the calls.",
    "too many SQL variables": "D1 takes 100 parameters: use json_each(?) or a batch.",
    "variable number must be": "D1 takes 100 parameters: use json_each(?) or a batch.",
    "LIKE or GLOB pattern too complex": "D1 takes 50 bytes: use instr(…) or FTS5.",
}
_REFUSALS: Final = {
    "not authorized to use function": "Do it in Python, or with a function that D1 has.",
    "not authorized": "Leave it out: D1 allows neither ATTACH, TEMP nor most pragmas.",
    "To execute a transaction": "Use batch(), which is one transaction.",
    "cannot VACUUM": "Leave it out.",
}
_PATTERN: Final = re.compile(r"\b(?:LIKE|GLOB)\s+'((?:[^']|'')*)'", re.IGNORECASE)
_MOST_PATTERN_BYTES: Final = 50
_DEADLINE_S: Final = 60.0


@dataclass(frozen=True, slots=True)
class Asked:
    """A text of SQL and the file that it stands in."""

    source: Source
    written: Written


def check(project: Project, asked: Sequence[Asked]) -> list[Finding]:
    """What D1 refuses of the project's migrations and of `asked`."""
    if not asked and not project.d1_databases:
        return []
    return asyncio.run(_check(project, asked))


async def _check(project: Project, asked: Sequence[Asked]) -> list[Finding]:
    found: list[Finding] = []
    with tempfile.TemporaryDirectory(prefix="localedge-check-") as folder:
        state = Path(folder)
        async with asyncio.timeout(_DEADLINE_S):
            databases = project.d1_databases
            files = [await _migrated(project, one, state, found) for one in databases]
            # Limits and authorization are the same for all: which database is asked counts little.
            async with open_engine(files[0] if files else state / "empty.sqlite") as engine:
                for one in asked:
                    found.extend(await _refusals(engine, one))
    return found


async def _migrated(
    project: Project, database: D1Database, state: Path, found: list[Finding]
) -> Path:
    """The file of a database with the migrations applied, as far as they go."""
    folder = migration_folder(project.root, project.file.name, database)
    if folder.path.is_dir():
        try:
            await apply_migrations(project, database, state=state)
        except MigrationError as error:
            file = folder.path / error.name
            line = _line_of(file, error)
            advice = error.hint.partition(": ")[2] or error.hint
            text = error.message.rstrip(".").partition("\n")[0]
            found.append(at(FAILS, file, line, text=text, advice=advice))
        except OperatorError as error:
            found.append(at(FAILS, folder.path, 0, text=error.message, advice=error.hint))
    return database_file(state, database.storage_id)


def _line_of(file: Path, error: MigrationError) -> int:
    """Where the statement that failed begins."""
    quoted = re.search(r"failed: `(.*?)…?`\.", error.hint)
    if quoted is None or not file.is_file():
        return 1
    text = file.read_text("utf-8-sig", errors="replace")
    words = [re.escape(word) for word in quoted[1].split()[:12]]
    start = re.search(r"\s+".join(words), text)
    return text.count("\n", 0, start.start()) + 1 if start else 1


async def _refusals(engine: Engine, asked: Asked) -> list[Finding]:
    node = asked.written.call
    place = (asked.source.file, node.lineno, node.col_offset + 1)
    lines = asked.written.sql.split("\n") if asked.written.method == "exec" else []
    texts = [line for line in lines if line.strip()] or [asked.written.sql]
    found: list[Finding] = []
    for sql in texts:
        text = await _refusal(engine, sql)
        for rule, known in ((LIMIT, _LIMITS), (REFUSED, _REFUSALS)):
            advice = _advice(known, text)
            if advice is not None:
                said = text.partition(": SQLITE_")[0].partition(". The JavaScript")[0]
                found.append(at(rule, *place, text=said, advice=advice))
                break
    return found


async def _refusal(engine: Engine, sql: str) -> str:
    """What D1 says against `sql`; "" when nothing."""
    pattern = _longest(_PATTERN.findall(sql))
    if pattern > _MOST_PATTERN_BYTES:
        return "LIKE or GLOB pattern too complex"
    parsed = parse(sql)
    if parsed.refusal is not None:
        return parsed.refusal
    if len(parsed.statements) != 1:
        return ""
    values = (None,) * parsed.statements[0].parameters
    is_explained = parsed.statements[0].verb in ("EXPLAIN", "PRAGMA")
    explained = parsed if is_explained else parse(f"EXPLAIN {parsed.statements[0].source}")
    try:
        await engine.run([Query(explained, values)])
    except EngineError as error:
        return error.text
    return ""


def _longest(patterns: Iterable[str]) -> int:
    return max((len(pattern.replace("''", "'").encode()) for pattern in patterns), default=0)


def _advice(known: dict[str, str], text: str) -> str | None:
    return next((advice for start, advice in known.items() if text.startswith(start)), None)
