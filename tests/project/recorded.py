"""A recorded case of config.json: its files on disk, and what localedge makes of them."""

from __future__ import annotations

import math
import os
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import typer

from localedge.cli import dev
from localedge.errors import OperatorError
from localedge.project import load
from localedge.project.loading import locate, resolve_file
from localedge.project.models import Project
from localedge.project.options import LoadArguments, load_arguments
from localedge.project.resolution import Resolved

ENTRY = "from workers import WorkerEntrypoint, Response\n\n\nclass Default(WorkerEntrypoint):\n"
ENTRY += "    async def fetch(self, request):\n        return Response('ok')\n"


@dataclass(frozen=True)
class Answer:
    """What came of a case: a project, or the error; `said` is all that was told."""

    project: Project | None
    error: OperatorError | None

    @property
    def said(self) -> str:
        texts = [*self.project.warnings] if self.project else []
        texts += [str(self.error)] if self.error else []
        return " ".join(" ".join(texts).split())


def write(case: dict[str, Any], folder: Path) -> None:
    """The files of `case`, and its Python worker, below `folder`."""
    for name, content in {"src/entry.py": ENTRY, **case.get("files", {})}.items():
        path = folder / name
        if name.endswith("/"):
            path.mkdir(parents=True)
        else:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(_bytes(content))


def _bytes(content: Any) -> bytes:
    match content:
        case str():
            return content.encode("utf-8")
        case {"$bytes": text}:
            return bytes.fromhex(text)
        case {"$repeat": [text, times]}:
            return _bytes(text) * int(times)
        case {"$rows": [template, count]}:
            rows = [str(template).replace("<i>", str(i)) for i in range(count)]
            return ",".join(rows).encode()
    return b"".join(_bytes(part) for part in content)


def arguments(case: dict[str, Any], folder: Path) -> LoadArguments:
    """What `localedge dev` gives to `load` for the case's command line."""
    command = typer.main.get_command(dev.app)
    params = command.make_context("dev", list(case.get("args", []))).params
    return load_arguments(
        cwd=folder / case.get("cwd", "."),
        process_env=case.get("process_env", {}),
        configs=params["config"],
        env=params["env"],
        env_files=params["env_file"],
    )[0]


def start(case: dict[str, Any], folder: Path) -> Answer:
    """What starting the case's worker comes to."""
    try:
        return Answer(load(**arguments(case, folder)), None)
    except OperatorError as error:
        return Answer(None, error)


def config(case: dict[str, Any], folder: Path) -> dict[str, Any] | None:
    """The configuration as resolved, in the form of the recording; None when it is refused.

    The recording asked wrangler's API, which knows no .env file: an environment that only such a
    file names does not count.
    """
    asked = arguments(case, folder)
    environment = asked["environment"]
    if environment is None:
        environment = asked["process_env"].get("CLOUDFLARE_ENV")
    found = locate(asked["start"], asked["config"])
    try:
        resolved = resolve_file(found, environment, start=asked["start"], config=asked["config"])
    except OperatorError:
        return None
    file = os.path.relpath(found.file, folder) if found else None
    return _recorded_form(resolved, folder, file)


def _recorded_form(resolved: Resolved, folder: Path, file: str | None) -> dict[str, Any]:
    shown: dict[str, Any] = {}
    for key in ("name", "compatibility_date", "compatibility_flags", "limits", "secrets"):
        if resolved.get(key) not in (None, [], {}):
            shown[key] = resolved.get(key)
    main = resolved.get("main")
    if isinstance(main, str):
        shown["main"] = os.path.relpath(resolved.document.file.parent / main, folder)
    triggers: Any = resolved.get("triggers") or {}
    if triggers.get("crons"):
        shown["crons"] = triggers["crons"]
    ids: dict[str, Any] = {}
    for key, preview, plain in (
        ("kv_namespaces", "preview_id", "id"),
        ("d1_databases", "preview_database_id", "database_id"),
    ):
        entries: Any = resolved.get(key)
        if entries:
            shown[key] = entries
            for entry in entries:
                ids[entry["binding"]] = entry.get(preview) or entry.get(plain) or entry["binding"]
    if ids:
        shown["local_ids"] = ids
    if file not in (None, "wrangler.jsonc"):
        shown["file"] = file
    return shown


def variables(project: Project) -> dict[str, Any]:
    """All of the worker's env that is not a binding."""
    taken = bindings(project)
    return {k: v for k, v in {**project.vars, **project.secrets}.items() if k not in taken}


def bindings(project: Project) -> dict[str, str]:
    """The kind of each binding, or the platform's class of one that is not run."""
    return {
        **{entry.binding: "kv" for entry in project.kv_namespaces},
        **{entry.binding: "d1" for entry in project.d1_databases},
        **project.attached.classes(),
        **project.placeholders,
    }


def local_ids(project: Project) -> dict[str, str]:
    """The id of local storage of each KV and D1 binding."""
    return {
        **{entry.binding: entry.storage_id for entry in project.kv_namespaces},
        **{entry.binding: entry.storage_id for entry in project.d1_databases},
    }


def sources(project: Project, folder: Path) -> list[str]:
    """Where secrets came from, relative to the case's folder."""
    return [
        name if name == "process.env" else os.path.relpath(project.root / name, folder)
        for name in project.secrets_from
    ]


def phrase(text: str, folder: Path) -> re.Pattern[str]:
    """A recorded phrase as a pattern for folded text."""
    pattern = re.escape(" ".join(text.split()))
    for mark, form in (
        ("<offset>", r"( at offset \d+)?"),
        ("<date>", r"\d{4}-\d{2}-\d{2}"),
        ("<project>", re.escape(str(folder))),
    ):
        pattern = pattern.replace(re.escape(mark), form)
    return re.compile(pattern)


def same_json(expected: Any, value: Any) -> bool:
    """Whether two JSON values are the same, numbers compared as doubles and keys in any order."""
    match expected:
        case bool() | None | str():
            return type(value) is type(expected) and bool(value == expected)
        case int() | float():
            is_number = isinstance(value, int | float) and not isinstance(value, bool)
            return is_number and math.isclose(float(value), float(expected), rel_tol=0)
        case list():
            return (
                isinstance(value, list)
                and len(value) == len(expected)
                and all(same_json(e, v) for e, v in zip(expected, value, strict=True))
            )
    return (
        isinstance(value, dict)
        and value.keys() == expected.keys()
        and all(same_json(item, value[name]) for name, item in expected.items())
    )
