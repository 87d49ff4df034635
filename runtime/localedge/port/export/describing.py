"""The files of an export that say what the project is."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Final

from localedge.port.check.dependencies import Dependencies
from localedge.port.export import bundle, config, packages
from localedge.port.export.gathering import Files
from localedge.port.export.target import write
from localedge.project.document import members
from localedge.project.models import Project

WRANGLER: Final = "4.164.0"
"""The version that exports are tested with. It needs Node 22 or newer."""
_PATHS: Final = {
    "base_dir",
    "build",
    "site",
    "tsconfig",
    "wasm_modules",
    "text_blobs",
    "data_blobs",
}
_LOOPBACK: Final = re.compile(r"//(127\.\d+\.\d+\.\d+|localhost|\[::1\])(?=[:/?#]|$)")
_IGNORED: Final = (
    *(".wrangler/", ".venv/", ".venv-workers/", "python_modules/", "node_modules/"),
    *("__pycache__/", ".dev.vars*", ".env*"),
)


def describe(staged: Path, project: Project, exported: config.Exported, files: Files) -> None:
    """The export has the files that say what the project is, and notes on what to know of it."""
    modules: set[str] = set()
    for place in exported.bundles.values():
        modules.update(packages.imported((staged / place).rglob("*.py"), staged / place))
    declared = Dependencies.read(project.root)
    made = packages.packages(declared, project.name, modules)
    own = _own_files(project)
    described = {
        config.NAME: config.text(exported.value, project.file.name).encode(),
        packages.NAME: made.text.encode(),
        "package.json": own.get("package.json") or _package(project.name).encode(),
        ".gitignore": ("\n".join(_IGNORED) + "\n").encode(),
    }
    if "uv.lock" in own and made.text == declared.text:
        described["uv.lock"] = own["uv.lock"]
    files.notes += [*_package_notes(made), *_size_notes(exported, files), *_notes(exported)]
    files.contents |= described
    write(staged, described)


def _size_notes(exported: config.Exported, files: Files) -> list[str]:
    places = tuple(f"{place}/" for place in exported.bundles.values())
    bundled = {name: text for name, text in files.contents.items() if name.startswith(places)}
    compressed = bundle.compressed_bytes(bundled)
    if compressed <= bundle.FREE_BYTES:
        return []
    return [
        f"The bundle is {compressed / 1e6:.1f} MB compressed, without its packages; the free plan "
        f"takes {bundle.FREE_BYTES / 1e6:.0f} MB."
    ]


def _notes(exported: config.Exported) -> list[str]:
    notes = []
    for _, section in config.sections(exported.value):
        for key in _PATHS & section.keys():
            notes.append(f"wrangler.jsonc keeps `{key}` as it is: its paths were not followed.")
        for name, value in members(section.get("vars")).items():
            if isinstance(value, str) and _LOOPBACK.search(value):
                notes.append(f'vars.{name} is "{value}", which the edge cannot reach.')
    return list(dict.fromkeys(notes))


def _own_files(project: Project) -> dict[str, bytes]:
    paths = (project.root / name for name in ("package.json", "uv.lock"))
    return {path.name: path.read_bytes() for path in paths if path.is_file()}


def _package_notes(made: packages.Packages) -> list[str]:
    notes = []
    if made.left_out:
        left = ", ".join(made.left_out)
        notes.append(f"Left out of pyproject.toml, as the worker imports none of them: {left}.")
    if made.added:
        added = ", ".join(made.added)
        notes.append(f"Added to pyproject.toml, as the worker imports them undeclared: {added}.")
    for module in made.unknown:
        notes.append(f'No package is known for the module "{module}": add it to pyproject.toml.')
    return notes


def _package(name: str) -> str:
    package = {
        "name": name,
        "version": "0.1.0",
        "private": True,
        "scripts": {verb: f"uv run pywrangler {verb}" for verb in ("dev", "deploy")},
        "devDependencies": {"wrangler": WRANGLER},
    }
    return json.dumps(package, indent=2) + "\n"
