"""The exported wrangler.jsonc: the project's own keys, without what exists only here."""

from __future__ import annotations

import json
import math
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import Final

from localedge.d1.migrations import MigrationFolder, migration_folder
from localedge.port.export.layout import Layout
from localedge.project.document import Json, TomlDate, members
from localedge.project.keys import LOCAL
from localedge.project.models import D1Database

NAME: Final = "wrangler.jsonc"
SCHEMA: Final = "node_modules/wrangler/config-schema.json"

# Source: the ids that `wrangler kv namespace create` and `wrangler d1 create` print
# (developers.cloudflare.com/kv/get-started, /d1/get-started), read 2026-12-01.
_REAL: Final = {
    "id": re.compile(r"[0-9a-f]{32}\Z"),
    "preview_id": re.compile(r"[0-9a-f]{32}\Z"),
    "database_id": re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z"),
    "preview_database_id": re.compile(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}\Z"),
}
_STORES: Final = {
    "kv_namespaces": ("id", "preview_id"),
    "d1_databases": ("database_id", "preview_database_id"),
}


@dataclass(frozen=True, slots=True)
class Exported:
    """What the exported configuration says.

    Shape: `value` is the object at its top; `bundles` maps each folder with a `main` to its place
    in the export, `assets` the same for static files, `migrations` each folder of migrations.
    """

    value: dict[str, Json]
    bundles: dict[Path, str]
    assets: dict[Path, str]
    migrations: tuple[tuple[MigrationFolder, str], ...]


def sections(value: Json) -> Iterator[tuple[str, dict[str, Json]]]:
    """The top level, as "", and each environment by its name."""
    if not isinstance(value, dict):
        return
    yield "", value
    for name, section in members(value.get("env")).items():
        if isinstance(section, dict):
            yield name, section


def convert(value: Json, root: Path, file_name: str) -> Exported:
    """What the export says where the configuration `file_name` in `root` says `value`.

    Shape: only paths and local ids are others; ids that the edge has made stay. A database without
    a name gets one.
    """
    layout = Layout(root)
    top = {key: item for key, item in members(_copied(value)).items() if key != LOCAL}
    bundles: dict[Path, str] = {}
    assets: dict[Path, str] = {}
    migrations: list[tuple[MigrationFolder, str]] = []
    for _, section in sections(top):
        section.pop(LOCAL, None)
        if isinstance(main := section.get("main"), str):
            path = Path(os.path.abspath(root / main))
            bundles[path.parent] = layout.place(path.parent, "src")
            section["main"] = f"{bundles[path.parent]}/{path.name}"
        static = section.get("assets")
        if isinstance(static, dict) and isinstance(static.get("directory"), str):
            folder = Path(os.path.abspath(root / str(static["directory"])))
            static["directory"] = assets[folder] = layout.place(folder, "public")
        migrations += _databases(section, root, file_name, layout)
        _drop_local_ids(section)
    _name_databases(top)
    return Exported({"$schema": SCHEMA, **top}, bundles, assets, tuple(dict.fromkeys(migrations)))


def _databases(
    section: dict[str, Json], root: Path, file_name: str, layout: Layout
) -> Iterator[tuple[MigrationFolder, str]]:
    entries = section.get("d1_databases")
    for entry in entries if isinstance(entries, list) else []:
        if not isinstance(entry, dict):
            continue
        fields = {k: v for k, v in entry.items() if k in D1Database.model_fields}
        folder = migration_folder(root, file_name, D1Database.model_validate(fields))
        place = layout.place(root / folder.directory, "migrations")
        # The default folder needs no key; a place that it has been given by us does.
        if "migrations_dir" in entry or place != "migrations":
            entry["migrations_dir"] = place
        if "migrations_pattern" in entry:
            below = PurePosixPath(folder.pattern).relative_to(PurePosixPath(folder.directory))
            entry["migrations_pattern"] = f"{place}/{below}"
        yield folder, place


def _drop_local_ids(section: dict[str, Json]) -> None:
    for key, ids in _STORES.items():
        entries = section.get(key)
        for entry in entries if isinstance(entries, list) else []:
            for name in ids:
                if isinstance(entry, dict) and not is_real(name, entry.get(name)):
                    entry.pop(name, None)


def is_real(key: str, value: Json) -> bool:
    """Whether `value` of the id `key` is one that the edge has made, and not one made up here."""
    return isinstance(value, str) and _REAL[key].match(value) is not None


def _name_databases(top: dict[str, Json]) -> None:
    for environment, section in sections(top):
        name = section.get("name") or top.get("name")
        worker = f"{name}-{environment}" if environment and not section.get("name") else name
        entries = section.get("d1_databases")
        for entry in entries if isinstance(entries, list) else []:
            if isinstance(entry, dict) and not entry.get("database_name"):
                entry["database_name"] = f"{worker}-{str(entry.get('binding')).lower()}"


def keep_ids(value: dict[str, Json], earlier: Json) -> None:
    """Ids that an `earlier` export was given on the edge are in `value` too, binding by binding."""
    old = dict(sections(earlier))
    for environment, section in sections(value):
        for key, ids in _STORES.items():
            known = {
                members(entry).get("binding"): members(entry)
                for entry in _list(old.get(environment, {}).get(key))
            }
            for entry in _list(section.get(key)):
                was = known.get(members(entry).get("binding"), {})
                for name in ids:
                    if (
                        isinstance(entry, dict)
                        and name not in entry
                        and is_real(name, was.get(name))
                    ):
                        entry[name] = was[name]


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


def text(value: dict[str, Json], source: str) -> str:
    """The file's text; it names its `source`."""
    written = json.dumps(value, indent=2, ensure_ascii=False)
    return f"// Written by `localedge export` from {source}.\n{written}\n"


def _copied(value: Json) -> Json:
    """`value` with only what JSON has."""
    match value:
        case TomlDate():
            return value.text
        case dict():
            return {name: _copied(item) for name, item in value.items()}
        case list():
            return [_copied(item) for item in value]
        case float() if not math.isfinite(value):
            return None
    return value
