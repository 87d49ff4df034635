"""The library edgestate and its migrations in a user's project, where they belong to the bundle."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from localedge.d1.migrations import MigrationFolder
from localedge.errors import OperatorError

PACKAGE: Final = "edgestate"
RECORD: Final = "VENDORED.json"
"""Names the version and the digest of each copied file, so that a changed one is noticed."""


@dataclass(frozen=True, slots=True)
class Vendored:
    """What `vendor` did.

    Shape: `package` is where the library is now; `written` and `removed` are files of it,
    relative; `migrations` the names of new ones, `kept` of those that were there already.
    """

    package: Path
    written: tuple[str, ...]
    removed: tuple[str, ...]
    migrations: tuple[str, ...]
    kept: tuple[str, ...]


def vendor(
    source: Path, bundle: Path, folder: MigrationFolder, *, version: str, force: bool = False
) -> Vendored:
    """The package at `source` is in `bundle`, and its migrations in `folder` behind the others.

    Shape: run again it changes nothing; with a newer `source`, files are replaced and only the
    migrations that are new are added. A `bundle` that `source` lies in is left as it is.
    Errors: OperatorError for a package or migration that was changed in the project (`force`
    replaces the package's files), or that cannot be written; migrations are never replaced.
    """
    target = bundle / PACKAGE
    is_own = target.resolve() == source.resolve()
    contents = {} if is_own else _contents(source)
    if not is_own and not force:
        _refuse_changed(target, contents)
    known = _known_migrations(source, folder)
    try:
        written, removed = ((), ()) if is_own else _copy(contents, target, version)
        new = tuple(_add_migrations(source, folder, known))
    except OSError as exc:
        place = exc.filename or target
        hint = "Make that possible, and run it again: it goes on where it stopped."
        raise OperatorError("agent/cannot-write", f"{place}: {exc.strerror}.", hint) from exc
    return Vendored(target, written, removed, new, tuple(known.values()))


def copy_package(source: Path, bundle: Path, *, version: str) -> Path:
    """`bundle`, which has no such package, has the one at `source`; where it is now."""
    target = bundle / PACKAGE
    _copy(_contents(source), target, version)
    return target


def missing_migrations(source: Path, names: Iterable[str]) -> tuple[str, ...]:
    """What the migrations of the package at `source` do that none called one of `names` does."""
    there = {_what(name) for name in names}
    return tuple(what for path in _sources(source) if (what := _what(path.name)) not in there)


def copies(source: Path, *, version: str) -> dict[str, bytes]:
    """What the first copy of the package at `source` consists of, by names relative to it."""
    contents = _contents(source)
    return {**contents, RECORD: _record(contents, version)}


def migrations(source: Path) -> dict[str, bytes]:
    """The library's migrations by the names that they have in a project without others."""
    return {path.name: path.read_bytes() for path in _sources(source)}


# --- the package ---


def _contents(root: Path) -> dict[str, bytes]:
    """The files of a package by their relative names, without what Python or we left there."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in sorted(root.rglob("*"))
        if path.is_file() and "__pycache__" not in path.parts and path.name != RECORD
    }


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def _record(contents: Mapping[str, bytes], version: str) -> bytes:
    digests = {name: _digest(content) for name, content in contents.items()}
    return (json.dumps({"version": version, "files": digests}, indent=1) + "\n").encode()


def _recorded(target: Path) -> dict[str, str]:
    """The digests of the last copy; none if there was no copy, or its record is unreadable."""
    try:
        files = json.loads((target / RECORD).read_bytes())["files"]
    except (OSError, ValueError, LookupError, TypeError):
        return {}
    return files if isinstance(files, dict) else {}


def _refuse_changed(target: Path, contents: Mapping[str, bytes]) -> None:
    if not target.exists():
        return
    if not target.is_dir():
        raise OperatorError("agent/in-the-way", f"{target} is not a folder.", "Move it away.")
    recorded = _recorded(target)
    changed = [
        name
        for name, content in _contents(target).items()
        if content != contents.get(name) and recorded.get(name) != _digest(content)
    ]
    if changed:
        shown = ", ".join(changed[:3]) + (", …" if len(changed) > 3 else "")
        raise OperatorError(
            "agent/changed",
            f"{len(changed)} files of {target} are not as localedge copied them: {shown}.",
            "Keep your changes elsewhere, or replace them with --force.",
        )


def _copy(
    contents: Mapping[str, bytes], target: Path, version: str
) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """`target` has exactly `contents`, and files that were never ours; what changed for that."""
    removed = []
    for name in _recorded(target).keys() - contents.keys():
        if (target / name).is_file():
            (target / name).unlink()
            removed.append(name)
    written = []
    for name, content in contents.items():
        path = target / name
        if path.is_file() and path.read_bytes() == content:
            continue
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        written.append(name)
    (target / RECORD).write_bytes(_record(contents, version))
    return tuple(written), tuple(sorted(removed))


# --- its migrations ---


def _sources(source: Path) -> list[Path]:
    return sorted((source / "migrations").glob("*.sql"))


def _what(name: str) -> str:
    """What a migration does, as its name says: `0003_create_team_state.sql` without its number."""
    return Path(name).name.partition("_")[2].removesuffix(".sql")


def _known_migrations(source: Path, folder: MigrationFolder) -> dict[str, str]:
    """Names in `folder` of the library's migrations, by what they do.

    Errors: OperatorError for one whose SQL is another: a released migration is never edited.
    """
    there = {_what(name): name for name in folder.names()} if folder.path.exists() else {}
    known = {}
    for path in _sources(source):
        name = there.get(_what(path.name))
        if name is None:
            continue
        if (folder.path / name).read_bytes() != path.read_bytes():
            raise OperatorError(
                "agent/migration-changed",
                f"{folder.path / name} is not what edgestate has under this name.",
                "A database may have it applied already: rename it, or put the old text back.",
            )
        known[_what(path.name)] = name
    return known


def _add_migrations(
    source: Path, folder: MigrationFolder, known: Mapping[str, str]
) -> Iterator[str]:
    for path in _sources(source):
        if _what(path.name) in known:
            continue
        folder.path.mkdir(parents=True, exist_ok=True)
        name = folder.new_name(_what(path.name))
        (folder.path / name).write_bytes(path.read_bytes())
        yield name
