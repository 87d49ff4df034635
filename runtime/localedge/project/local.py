"""The `[localedge]` table: what exists only here, so that nothing in it is passed over."""

from __future__ import annotations

from collections.abc import Mapping

from pydantic import ValidationError

from localedge.project.diagnostics import unknown_key
from localedge.project.document import Document, Json, members, stringify, type_of
from localedge.project.keys import LOCAL
from localedge.project.models import Local, Project
from localedge.project.reading import refusal

# What `strict = true` turns on where the table does not say otherwise key by key.
STRICT: Mapping[str, Json] = {
    "consistency": "eventual",
    "write_rate": "enforce",
    "kv_call_limit": True,
    "d1_call_limit": True,
    "import_guard": True,
    "thread_guard": True,
}


def strictly(project: Project) -> Project:
    """`project` with all that is strict, but for what its table says key by key."""
    local = project.local
    switches = {key: on for key, on in STRICT.items() if key not in local.model_fields_set}
    return project.model_copy(
        update={"local": local.model_copy(update={"strict": True, **switches})}
    )


def read_local(document: Document, value: Json, *, dev: Json, shown: str) -> Local:
    """Return the table as a model; wrangler's own `dev.port` counts where it names no port.

    Errors: OperatorError for an unknown key or a value of the wrong type or range.
    """
    if value is None and LOCAL not in members(document.value):
        table: dict[str, Json] = {}
    elif isinstance(value, dict):
        table = value
    else:
        raise refusal(
            "config/localedge", f"{shown}: [localedge] should be a table, but got {_got(value)}."
        )
    port = members(dev).get("port")
    if "port" not in table and isinstance(port, int) and not isinstance(port, bool):
        table = {"port": port, **table}
    if table.get("strict") is True:
        table = {**STRICT, **table}
    try:
        return Local.model_validate(table, strict=True)
    except ValidationError as exc:
        raise _refused(document, table, exc, shown) from exc


def _refused(
    document: Document, table: dict[str, Json], error: ValidationError, shown: str
) -> Exception:
    sentences: list[str] = []
    is_unknown = False
    for detail in error.errors(include_url=False):
        name = str(detail["loc"][0])
        line = document.line((LOCAL, name))
        place = f"{shown}:{line}: " if line else f"{shown}: "
        if detail["type"] == "extra_forbidden":
            is_unknown = True
            sentence = unknown_key((LOCAL,), name, sorted(Local.model_fields))
            sentences.append(place + sentence.removeprefix("config/unknown-key: "))
        else:
            sentences.append(f"{place}[localedge] {name}: {detail['msg']}, got {_got(table[name])}")
    code = "config/unknown-key" if is_unknown else "config/localedge"
    return refusal(code, "\n".join(sentences))


def _got(value: Json) -> str:
    return f"{stringify(value)} ({type_of(value)})"
