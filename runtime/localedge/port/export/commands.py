"""What is left to do on the edge for an exported project, as commands."""

from __future__ import annotations

import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from localedge.project.document import Json, members


@dataclass(frozen=True, slots=True)
class Command:
    """One line for the terminal, and why it is there."""

    line: str
    why: str


def commands(
    folder: Path,
    value: dict[str, Json],
    environment: str | None,
    *,
    shared: Sequence[tuple[str, str]],
    secrets: Sequence[str],
    migrated: Sequence[str],
) -> list[Command]:
    """How the project in `folder`, whose configuration is `value`, comes to the edge.

    Shape: `shared` pairs a binding with the one whose local store it has; `secrets` are names;
    `migrated` the bindings of the databases that have migrations.
    """
    section = members(members(value.get("env")).get(environment or "")) or value
    flag = f" --env {shlex.quote(environment)}" if environment else ""
    name = str(section.get("name") or value.get("name"))
    steps = [
        Command(f"cd {shlex.quote(str(folder))} && npm install", "wrangler, at the tested version"),
        Command("npx wrangler login", "or set CLOUDFLARE_API_TOKEN"),
        *_stores(section, name, flag, dict(shared)),
    ]
    for binding in migrated:
        line = f"npx wrangler d1 migrations apply {shlex.quote(binding)} --remote{flag}"
        steps.append(Command(line, f"the tables of {binding}"))
    steps.append(Command(f"uv run pywrangler deploy{flag}", "resolves the packages and uploads"))
    for secret in secrets:
        line = f"npx wrangler secret put {shlex.quote(secret)}{flag}"
        steps.append(Command(line, "asks for the value, which was not exported"))
    return steps


def _stores(
    section: dict[str, Json], worker: str, flag: str, shared: dict[str, str]
) -> Iterator[Command]:
    for entry in _entries(section, "kv_namespaces"):
        binding = str(entry.get("binding"))
        if "id" in entry:
            continue
        if binding in shared:
            yield _by_hand(binding, shared[binding])
            continue
        title = shlex.quote(f"{worker}-{binding.lower()}")
        line = f"npx wrangler kv namespace create {title} --binding {shlex.quote(binding)}"
        yield Command(f"{line} --update-config{flag}", f"writes the id of {binding} into the file")
    for entry in _entries(section, "d1_databases"):
        binding = str(entry.get("binding"))
        if "database_id" in entry:
            continue
        if binding in shared:
            yield _by_hand(binding, shared[binding])
            continue
        line = f"npx wrangler d1 create {shlex.quote(str(entry.get('database_name')))}"
        line += f" --binding {shlex.quote(binding)} --update-config{flag}"
        yield Command(line, f"writes the id of {binding} into the file")


def _by_hand(binding: str, other: str) -> Command:
    return Command(
        f"# give {binding} in wrangler.jsonc the id of {other}",
        "they are one store in your project",
    )


def _entries(section: dict[str, Json], key: str) -> list[dict[str, Json]]:
    value = section.get(key)
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []
