"""The flags that `kv` commands share, as wrangler has them."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from localedge.cli.kv_target import Flags
from localedge.errors import OperatorError

Key = Annotated[str, typer.Argument(help="The key.")]
File = Annotated[Path, typer.Argument(help="A JSON file.")]
Binding = Annotated[str | None, typer.Option("--binding", help="The binding of the namespace.")]
NamespaceId = Annotated[str | None, typer.Option("--namespace-id", help="The namespace's id.")]
Preview = Annotated[
    bool | None,
    typer.Option("--preview/--no-preview", help="The preview_id of the binding, or its id."),
]
Local = Annotated[bool, typer.Option("--local", help="Use local storage (the default).")]
Remote = Annotated[bool, typer.Option("--remote", help="Refused: only local storage exists here.")]
PersistTo = Annotated[Path | None, typer.Option("--persist-to", help="Folder of local state.")]
Config = Annotated[Path | None, typer.Option("--config", "-c", help="The config file.")]
Env = Annotated[str | None, typer.Option("--env", "-e", help="The environment to use.")]
Cwd = Annotated[Path | None, typer.Option("--cwd", help="Run as if started in this folder.")]
Ttl = Annotated[float | None, typer.Option("--ttl", help="Seconds until the entry expires.")]
Expiration = Annotated[
    float | None, typer.Option("--expiration", help="When it expires, seconds since the epoch.")
]
Metadata = Annotated[str | None, typer.Option("--metadata", help="JSON kept with the key.")]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Force = Annotated[bool, typer.Option("--force", "-f", help="Do not ask before deleting.")]


def flags_of(
    cwd: Path | None,
    config: Path | None,
    env: str | None,
    binding: str | None,
    namespace_id: str | None,
    preview: bool | None,
    persist_to: Path | None,
    is_remote: bool,
) -> Flags:
    """The flags as given. Errors: OperatorError for --remote."""
    if is_remote:
        raise OperatorError(
            "kv/flags",
            "Cannot use --remote: localedge has local namespaces only.",
            "Remove --remote, or use wrangler for the namespace at the edge.",
        )
    folder = (cwd or Path.cwd()).resolve()
    return Flags(folder, config, env, binding, namespace_id, preview, persist_to)
