"""Replaying recorded command lines: a project folder, the steps of a case, what is left behind."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import sqlite3
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from unittest import mock

from localedge.cli.main import main

JsonCase = dict[str, Any]
_ISO = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z"


@dataclass(frozen=True, slots=True)
class Output:
    """What one command left: its exit code and what it printed."""

    exit: int
    stdout: str
    stderr: str

    @property
    def text(self) -> str:
        """Everything printed, white space folded."""
        return " ".join(f"{self.stdout}\n{self.stderr}".split())


class _Terminal(io.StringIO):
    """A stream that a person looks at."""

    def isatty(self) -> bool:
        return True


def run_command(
    arguments: list[str],
    cwd: Path,
    environment: dict[str, str] | None = None,
    *,
    answer: str | None = None,
) -> Output:
    """Run `localedge` with `arguments` in `cwd`, in this process.

    With an `answer`, it runs on a terminal, where a person types that.
    """
    stream = io.StringIO if answer is None else _Terminal
    stdin, stdout, stderr = stream(answer or ""), stream(), io.StringIO()
    variables = {"CLOUDFLARE_ENV": "", "CI": "", "COLUMNS": "300", **(environment or {})}
    code: object = 0
    with (
        mock.patch.dict(os.environ, variables),
        contextlib.chdir(cwd),
        mock.patch.object(sys, "stdin", stdin),
        contextlib.redirect_stdout(stdout),
        contextlib.redirect_stderr(stderr),
    ):
        if not variables["CLOUDFLARE_ENV"]:
            del os.environ["CLOUDFLARE_ENV"]
        try:
            main(arguments)
        except SystemExit as ending:
            code = ending.code or 0
    assert isinstance(code, int)
    return Output(code, stdout.getvalue(), stderr.getvalue())


def write_files(project: Path, files: dict[str, Any]) -> None:
    """Put `files` into `project`: a text or a list of parts each, a folder for a name with `/`."""
    for name, content in files.items():
        path = project / name
        if name.endswith("/"):
            path.mkdir(parents=True, exist_ok=True)
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(_content(content))


def _content(value: Any) -> bytes:
    match value:
        case str():
            return value.encode("utf-8", "surrogatepass")
        case list():
            return b"".join(_content(part) for part in value)
        case {"$bytes": text}:
            return bytes.fromhex(text)
        case {"$repeat": [text, int(times)]}:
            return _content(text) * times
        case {"$rows": [template, count]}:
            return ",".join(template.replace("<i>", str(i)) for i in range(count)).encode()
    raise ValueError(f"unknown content {value!r}")


def replay(case: JsonCase, project: Path) -> list[str]:
    """What differs between `case` and its steps run here, in `project`."""
    write_files(project, case["files"])
    return [
        f"step {number} {step.get('run')}: {difference}"
        for number, step in enumerate(case["steps"])
        for difference in _step(case, step, project)
    ]


def _step(case: JsonCase, step: JsonCase, project: Path) -> Iterator[str]:
    if "run" not in step:
        _change(step, project)
        return
    before = _sql_files(project)
    output = run_command(step["run"], project / step.get("cwd", ""), step.get("process_env"))
    yield from _differences(step, output, project)
    wrote = {name: text for name, text in _sql_files(project).items() if before.get(name) != text}
    if not _same_files(step.get("wrote", {}), wrote):
        yield f"wrote {wrote} instead of {step.get('wrote')}"
    yield from _state_differences(case, step, project)


def _change(step: JsonCase, project: Path) -> None:
    match step:
        case {"write": files}:
            write_files(project, files)
        case {"remove": paths}:
            for path in paths:
                (project / path).unlink()
        case {"rename": names}:
            for old, new in names.items():
                (project / old).rename(project / new)
        case _:
            raise ValueError(f"unknown step {step}")


def _sql_files(project: Path) -> dict[str, str]:
    return {
        str(path.relative_to(project)): path.read_text("utf-8", "replace")
        for path in project.rglob("*.sql")
        if path.is_file()
    }


def _same_files(expected: dict[str, str], found: dict[str, str]) -> bool:
    return expected.keys() == found.keys() and all(
        re.fullmatch(re.escape(text).replace("<iso>", _ISO), found[name])
        for name, text in expected.items()
    )


def _differences(step: JsonCase, output: Output, project: Path) -> Iterator[str]:
    allowed = (2,) if step.get("usage") else (1, 3) if step["exit"] else (0,)
    if output.exit not in allowed:
        yield f"exit {output.exit}: {output.text[-600:]}"
    said = [*step.get("says", ()), *step.get("warnings", ()), *step.get("errors", ())]
    for phrase in said:
        if "<id>" not in phrase and not _phrase(phrase, project).search(output.text):
            yield f"did not say {phrase!r}: {output.text[-600:]}"
    for key, found in (
        ("pending", pending(output)),
        ("applied", applied(output)),
        ("commands", commands(output)),
    ):
        if not step.get("usage") and "json" not in step and found != step.get(key, []):
            yield f"{key} {found} instead of {step.get(key)}"
    if "json" in step and not _same_json(step["json"], found := parsed(output)):
        yield f"json {found} instead of {step['json']}"
    if "results" in step:
        found = parsed(output)
        if found != _doubles(step["results"]) and step["results"] != {"$count": len(found)}:
            yield f"results {found} instead of {step['results']}"


def _same_json(expected: Any, found: Any) -> bool:
    match expected, found:
        case {"error": {"text": str(phrase)}}, {"error": {"text": str(text)}}:
            return _phrase(phrase, Path()).fullmatch(" ".join(text.split())) is not None
    return bool(found == _doubles(expected))


def _phrase(phrase: str, project: Path) -> re.Pattern[str]:
    pattern = re.escape(" ".join(phrase.split()))
    pattern = pattern.replace("<offset>", r"( at offset \d+)?")
    pattern = pattern.replace("<project>", re.escape(str(project.resolve())))
    return re.compile(pattern.replace("<date>", r"\d{4}-\d\d-\d\d"))


def pending(output: Output) -> list[str]:
    """The names in the table of what is to be applied."""
    _, _, after = output.stdout.partition("Migrations to be applied:\n")
    table, _, _ = after.partition("└")
    return re.findall(r"^│ (.*?) *│$", table, re.MULTILINE)[1:]


def applied(output: Output) -> list[str]:
    """The names that are marked as applied."""
    return re.findall(r"^│ (.*?) *│ applied +│$", output.stdout, re.MULTILINE)


def commands(output: Output) -> list[int]:
    """The numbers of commands that were executed, one per file."""
    return [int(n) for n in re.findall(r"(\d+) commands? executed successfully", output.text)]


def parsed(output: Output) -> Any:
    """Standard output as JSON, without `meta`, numbers as doubles."""
    try:
        return _doubles(json.loads(output.stdout))
    except json.JSONDecodeError:
        return f"no JSON: {output.text}"


def _doubles(value: Any) -> Any:
    match value:
        case bool():
            return value
        case int() | float():
            return float(value)
        case list():
            return [_doubles(item) for item in value]
        case dict():
            return {key: _doubles(item) for key, item in value.items() if key != "meta"}
    return value


def _state_differences(case: JsonCase, step: JsonCase, project: Path) -> Iterator[str]:
    persist = case.get("persist", ".wrangler/state").replace(".wrangler/state", ".localedge")
    folder = project / persist / "d1"
    if "databases" in step:
        for storage_id in case["ids"]:
            expected = step["databases"].get(storage_id)
            ledger = case.get("ledger_tables", {}).get(storage_id, "d1_migrations")
            found = _state(folder / f"{storage_id}.sqlite", case, ledger)
            if found != expected and not (expected and found and _covers(expected, found)):
                yield f"database {storage_id} is {found} instead of {expected}"
        return
    files = list(folder.glob("*.sqlite"))
    file = files[0] if files else folder / "none"
    state = _state(file, case, case.get("ledger_table", "d1_migrations"))
    found = state or {"ledger": None, "schema": [], "tables": dict.fromkeys(case.get("look", ()))}
    expected = {key: step[key] for key in ("ledger", "schema", "tables") if key in step}
    if not _covers(expected, found):
        yield f"the database is {found} instead of {expected}"


def _covers(expected: JsonCase, found: JsonCase) -> bool:
    return all(found[key] == value for key, value in expected.items())


def _state(file: Path, case: JsonCase, ledger: str) -> JsonCase | None:
    """What the database in `file` holds, or None without one."""
    if not file.exists():
        return None
    hidden = {ledger, *case.get("not_schema", ())}
    connection = sqlite3.connect(f"{file.as_uri()}?mode=ro", uri=True)
    with contextlib.closing(connection):
        connection.execute("PRAGMA trusted_schema=ON")
        quoted = ledger.replace('"', '""')
        return {
            "ledger": _rows(connection, f'SELECT id, name FROM "{quoted}" ORDER BY id'),
            "schema": [
                row
                for row in _rows(connection, "SELECT type, name, sql FROM sqlite_master") or ()
                if row[1] not in hidden and not row[1].startswith(("_cf_", "sqlite_"))
            ],
            "tables": {query: _rows(connection, query) for query in case.get("look", ())},
        }


def _rows(connection: sqlite3.Connection, query: str) -> list[list[Any]] | None:
    try:
        rows = connection.execute(query).fetchall()
    except sqlite3.Error:
        return None
    encoded = [[_encoded(value) for value in row] for row in rows]
    return sorted(encoded, key=lambda row: row[1]) if "FROM sqlite_master" in query else encoded


def _encoded(value: Any) -> Any:
    match value:
        case float():
            return {"$float": repr(value)}
        case int() if abs(value) > 2**53 - 1:
            return {"$int": str(value)}
        case bytes():
            return {"$bytes": value.hex()}
    return value
