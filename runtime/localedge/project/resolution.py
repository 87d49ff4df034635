"""One environment of a configuration, checked, with what it inherits."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from localedge.project.diagnostics import Diagnostics, Field
from localedge.project.document import (
    Document,
    Json,
    Keys,
    members,
    ordered,
    stringify,
    type_of,
)
from localedge.project.keys import INHERITED, LOCAL, OWN, TOP_ONLY
from localedge.project.names import check_unique
from localedge.project.reading import refusal

Values = Mapping[str, Json]


@dataclass(frozen=True, slots=True)
class Resolved:
    """A configuration for one environment: the values of wrangler's keys, absent when unset."""

    document: Document
    environment: str | None
    values: Values
    local: Json
    warnings: tuple[str, ...]

    def get(self, key: str) -> Json:
        """The value of `key`; None when it is unset."""
        return self.values.get(key)


def resolve(document: Document, environment: str | None, *, shown: str) -> Resolved:
    """Return what `document` says for `environment` ("" or None: the top level).

    Errors: OperatorError with all that is wrong, and with the warnings so far.
    Source: workers-sdk packages/workers-utils/src/config/validation.ts, read 2026-12-01.
    """
    if type_of(document.value) != "object" or document.value is None:
        raise refusal(
            "config/shape",
            f"{shown}: an object is expected at the top, but got {stringify(document.value)}.",
            'Begin with { "name": …, "main": … }.',
        )
    raw = members(document.value)
    diagnostics = Diagnostics(document, shown)
    top_part = Field("", "top-level", ())
    for key, check in TOP_ONLY.items():
        if key in raw:
            check(diagnostics, Field(key, key, (key,)), raw[key])
    _refuse_removed(diagnostics, raw, ())
    top = _section(diagnostics, raw)
    values = _selected(diagnostics, raw, top, environment) if environment else top
    values = {**values, **{key: raw[key] for key in TOP_ONLY if key in raw and key != "env"}}
    check_unique(diagnostics, values)
    known = {*TOP_ONLY, *INHERITED, *OWN, *_REMOVED, LOCAL}
    diagnostics.unknown_keys(top_part, list(raw), known)
    _check_python(values, shown)
    if diagnostics.errors:
        raise all_refused(diagnostics.errors, diagnostics.warnings)
    return Resolved(
        document, environment or None, values, raw.get(LOCAL), tuple(diagnostics.warnings)
    )


def all_refused(errors: list[str], warnings: list[str]) -> Exception:
    """One error that says everything that is wrong with the configuration."""
    parts = ["\n".join(errors)]
    if warnings:
        parts.append("Warnings:\n" + "\n".join(warnings))
    return refusal("config/invalid", "\n".join(parts))


def _section(diagnostics: Diagnostics, raw: Values) -> dict[str, Json]:
    """The top level's own values, checked."""
    values: dict[str, Json] = {}
    for key, check in {**INHERITED, **OWN}.items():
        if key in raw:
            check(diagnostics, Field(key, key, (key,)), raw[key])
            if raw[key] is not None:
                values[key] = raw[key]
    _check_routes(diagnostics, raw, ())
    return values


_REMOVED = ("legacy_env", "node_compat")


def _refuse_removed(diagnostics: Diagnostics, section: Values, keys: Keys) -> None:
    # In an environment "legacy_env" is only unknown.
    removed = _REMOVED[1:] if keys else _REMOVED
    for key in removed:
        if key in section:
            diagnostics.error(
                f'The "{key}" field is no longer supported, so please remove it from your '
                "configuration file.",
                Field(key, key, (*keys, key)),
            )


def _check_routes(diagnostics: Diagnostics, section: Values, keys: Keys) -> None:
    if "routes" in section and section.get("route", "") != "":
        diagnostics.error(
            'Expected exactly one of the following fields ["routes","route"].',
            Field("routes", "routes", (*keys, "routes")),
        )


def _selected(
    diagnostics: Diagnostics, raw: Values, top: Values, environment: str
) -> dict[str, Json]:
    """The values of the named environment; those of the top level when there is none at all."""
    sections = raw.get("env")
    named = members(sections)
    if environment not in named:
        _report_unknown(diagnostics, sections, environment)
        return {**top, **_named_after(top, environment)}
    section = named[environment]
    part = Field("env", f"env.{environment}", ("env", environment))
    if type_of(section) != "object" or section is None:
        diagnostics.error(
            f'The field "{part.path}" should be an object but got {stringify(section)}.', part
        )
        return dict(top)
    child = Diagnostics(
        diagnostics.document,
        diagnostics.shown,
        title=f'"env.{environment}" environment configuration: ',
    )
    values = _environment(child, part, members(section), raw, top, environment)
    child.unknown_keys(part, list(members(section)), {*INHERITED, *OWN, *_REMOVED})
    diagnostics.take(child)
    return values


def _environment(
    diagnostics: Diagnostics,
    part: Field,
    section: Values,
    raw: Values,
    top: Values,
    environment: str,
) -> dict[str, Json]:
    values: dict[str, Json] = {**_named_after(top, environment)}
    for key, check in INHERITED.items():
        own = section.get(key)
        if key in section:
            check(diagnostics, Field(key, f"{part.path}.{key}", (*part.keys, key)), own)
        if own is not None:
            values[key] = own
        elif key in top and key != "name":
            values[key] = top[key]
    _refuse_removed(diagnostics, section, part.keys)
    _check_routes(diagnostics, section, part.keys)
    for key, check in OWN.items():
        here = Field(key, f"{part.path}.{key}", (*part.keys, key))
        if key in section:
            check(diagnostics, here, section[key])
            _warn_missing(diagnostics, here, section[key], top.get(key), environment)
        elif key in raw:
            diagnostics.warn(
                f'"{key}" exists at the top level, but not on "env.{environment}".\n'
                f'This is not what you probably want, since "{key}" is not inherited by '
                f'environments.\nPlease add "{key}" to "env.{environment}".',
                part,
            )
        if section.get(key) is not None:
            values[key] = section[key]
    return values


def _named_after(top: Values, environment: str) -> dict[str, Json]:
    name = top.get("name")
    return {"name": f"{name}-{environment}"} if name else {}


def _report_unknown(diagnostics: Diagnostics, sections: Json, environment: str) -> None:
    message = (
        f'No environment found in configuration with name "{environment}".\n'
        f"Before using `--env={environment}` there should be an equivalent environment section "
        "in the configuration.\n"
    )
    # As in JavaScript an empty object counts as sections: then the name is an error.
    if sections or (type_of(sections) == "object" and sections is not None):
        names = list(ordered(members(sections)))
        diagnostics.error(
            f"{message}The available configured environment names are: {stringify([*names])}",
            Field("env", "env", ("env",)),
        )
    else:
        diagnostics.warn(f"{message}The top level is used.")


def _warn_missing(
    diagnostics: Diagnostics, part: Field, value: Json, at_top: Json, environment: str
) -> None:
    """Warn of what the top level has under a key that environments do not inherit."""
    if part.name in ("vars", "define"):
        missing = [name for name in members(at_top) if name not in members(value)]
        what = "vars" if part.name == "vars" else "define entries"
        these = "these vars" if part.name == "vars" else "these entries"
        if missing and type_of(value) == "object":
            lines = "\n".join(f"- {name}" for name in missing)
            diagnostics.warn(
                f'The following {what} exist at the top level, but not on "{part.path}".\n'
                f'This is probably not what you want, since "{part.name}" configuration is not '
                f'inherited by environments.\nPlease add {these} to "{part.path}":\n{lines}',
                part,
            )
    elif isinstance(value, list) and isinstance(at_top, list):
        here = {name for item in value if isinstance(name := members(item).get("binding"), str)}
        for item in at_top:
            name = members(item).get("binding")
            if isinstance(name, str) and name not in here:
                diagnostics.warn(
                    f'There is a {part.name} binding with name "{name}" at the top level, '
                    f'but not on "env.{environment}".\n'
                    f'This is not what you probably want, since "{part.name}" configuration is '
                    f'not inherited by environments.\nPlease add a binding for "{name}" to '
                    f'"{part.path}.bindings".',
                    part,
                )


def _check_python(values: Values, shown: str) -> None:
    main, flags = values.get("main"), values.get("compatibility_flags")
    if not isinstance(main, str) or not main.endswith(".py"):
        return
    if not isinstance(flags, list | str) or "python_workers" not in flags:
        raise refusal(
            "config/python-flag",
            f"{shown}: The `python_workers` compatibility flag is required to use Python.",
            'Add compatibility_flags = ["python_workers"].',
        )
