"""What wrangler asks of the keys that are neither a plain value nor a list of bindings.

Source: workers-sdk packages/workers-utils/src/config/validation.ts, read 2026-12-01.
"""

from __future__ import annotations

from localedge.project.compatibility import is_js_date
from localedge.project.diagnostics import Diagnostics, Field
from localedge.project.document import Json, TomlDate, members, stringify, type_of
from localedge.project.kinds import Property, array_of, is_array, is_object, is_string, properties


def is_compatibility_date(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` is a date for wrangler, which is laxer than the runtime."""
    if not is_string(diagnostics, part, value) or not isinstance(value, str):
        return False
    is_valid = True
    if "\u2013" in value or "\u2014" in value:
        is_valid = diagnostics.error(
            f'"{part.name}" field should use ISO-8601 accepted hyphens (-) rather than '
            "en-dashes (\u2013) or em-dashes (\u2014).",
            part,
        )
    if not is_js_date(value.replace("\u2013", "-").replace("\u2014", "-")):
        is_valid = diagnostics.error(
            f'"{part.name}" field should be a valid ISO-8601 date (YYYY-MM-DD), '
            f"but got {stringify(value)}.",
            part,
        )
    return is_valid


def is_vars(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` can be a worker's variables."""
    if type_of(value) != "object" or value is None:
        return diagnostics.error(
            f'The field "{part.path}" should be an object but got {stringify(value)}.', part
        )
    dates = [date for name, item in members(value).items() for date in _dates(name, item)]
    for name in dates:
        diagnostics.error(
            f'The field "{part.path}.{name}" is a TOML date, which is not supported. '
            f'Please use a string instead, e.g. {name} = "2026-11-30".',
            part.member(name),
        )
    return not dates


def _dates(name: str, value: Json) -> list[str]:
    if isinstance(value, TomlDate):
        return [name]
    if type_of(value) != "object":
        return []
    return [date for key, item in members(value).items() for date in _dates(f"{name}.{key}", item)]


def is_secrets(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` declares secrets."""
    if not is_object(diagnostics, part, value):
        return False
    have = members(value)
    diagnostics.unknown_keys(part, list(have), ["required"])
    if "required" not in have:
        return True
    return array_of("string")(diagnostics, part.member("required"), have["required"])


def is_define(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` maps names to texts."""
    if type_of(value) != "object" or value is None:
        return is_object(diagnostics, part, value)
    wrong = {n: item for n, item in members(value).items() if not isinstance(item, str)}
    for name, item in wrong.items():
        diagnostics.error(
            f'The field "{part.path}.{name}" should be a string but got {stringify(item)}.',
            part.member(name),
        )
    return not wrong


def is_triggers(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` holds crons; what a cron looks like is not asked."""
    if value is None:
        return True
    if not isinstance(value, dict):
        return diagnostics.error(
            f'Expected "{part.name}" to be of type object but got {stringify(value)}.', part
        )
    is_valid = True
    for name in ("crons", "events"):
        if name in value and not isinstance(value[name], list):
            is_valid = diagnostics.error(
                f'Expected "{part.name}.{name}" to be of type array, but got {stringify(value)}.',
                part,
            )
    crons = value.get("crons")
    if isinstance(crons, list) and not all(isinstance(cron, str) for cron in crons):
        diagnostics.warn(f'"{part.path}.crons" has items that are no text; they never fire.', part)
    diagnostics.unknown_keys(part, list(value), ["crons", "events"])
    return is_valid


def is_limits(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` holds limits; other members are let pass, as wrangler does."""
    if not value:
        return True
    return properties(
        diagnostics,
        part,
        value,
        Property("cpu_ms", "number"),
        Property("subrequests", "number"),
        closed=False,
    )


def is_route(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` is one route; an empty text counts as none."""
    if value == "":
        diagnostics.warn(
            f'The "{part.name}" field in your configuration is an empty string and will be '
            f'ignored.\nPlease remove the "{part.name}" field from your configuration.',
            part,
        )
        return True
    if _is_route(value):
        return True
    return diagnostics.error(
        f'Expected "{part.name}" to be either a string, or an object with shape '
        f"{{ pattern, custom_domain, zone_id | zone_name }}, but got {stringify(value)}.",
        part,
    )


def is_routes(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` is a list of routes."""
    if not isinstance(value, list):
        return diagnostics.error(
            f'Expected "{part.name}" to be an array but got {stringify(value)}.', part
        )
    wrong = [item for item in value if not _is_route(item)]
    if not wrong:
        return True
    return diagnostics.error(
        f'Expected "{part.name}" to be an array of either strings or objects with the shape '
        "{ pattern, custom_domain, zone_id | zone_name }, "
        f"but these weren't valid: {stringify(wrong)}.",
        part,
    )


def _is_route(value: Json) -> bool:
    if isinstance(value, str):
        return value != ""
    if not isinstance(value, dict) or not isinstance(value.get("pattern"), str):
        return False
    is_zone = isinstance(value.get("zone_id"), str) or isinstance(value.get("zone_name"), str)
    is_custom = isinstance(value.get("custom_domain"), bool)
    others = len(value.keys() - {"enabled", "previews_enabled"}) - 1
    return (others == 2 and is_custom and is_zone) or (others == 1 and (is_zone or is_custom))


def is_rules(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` is a list of module rules."""
    if not value:
        return True
    if not isinstance(value, list):
        return is_array(diagnostics, part, value)
    checks = [_is_rule(diagnostics, part.item(n), item) for n, item in enumerate(value)]
    return all(checks)


_RULE_TYPES = ("ESModule", "CommonJS", "CompiledWasm", "Text", "Data")


def _is_rule(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    if not isinstance(value, dict):
        return diagnostics.error(
            f'"{part.path}" should be an object but got {stringify(value)}.', part
        )
    is_valid = True
    if value.get("type") not in _RULE_TYPES:
        is_valid = diagnostics.error(
            'bindings should have a string "type" field, which contains one of "ESModule", '
            '"CommonJS", "CompiledWasm", "Text", or "Data".',
            part,
        )
    if not array_of("string")(diagnostics, part.member("globs"), value.get("globs")):
        is_valid = False
    if not isinstance(value.get("fallthrough", False), bool):
        is_valid = diagnostics.error(
            'the field "fallthrough", when present, should be a boolean.', part
        )
    return is_valid


def is_build(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` describes a custom build."""
    if value is None:
        return True
    watched = members(value).get("watch_dir")
    kind = "object" if isinstance(watched, list) else "string"
    return properties(
        diagnostics,
        part,
        value,
        Property("command", "string"),
        Property("cwd", "string"),
        Property("watch_dir", kind),
    )


def is_observability(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` describes logs and traces."""
    if type_of(value) != "object" or value is None:
        return diagnostics.error(
            f'"{part.name}" should be an object but got {stringify(value)}.', part
        )
    have = members(value)
    inner = [members(have.get(name)).get("enabled") for name in ("logs", "traces")]
    if "enabled" not in have and all(item is None for item in inner):
        return diagnostics.error(
            f'"{part.name}.enabled" or "{part.name}.logs.enabled" or '
            f'"{part.name}.traces.enabled" is required.',
            part,
        )
    common = (Property("enabled", "boolean"), Property("head_sampling_rate", "number"))
    is_valid = properties(
        diagnostics,
        part,
        value,
        *common,
        Property("redact_query_string", "boolean"),
        Property("logs", "object"),
        Property("traces", "object"),
    )
    persist = (Property("destinations", "object"), Property("persist", "boolean"))
    for name, more in (("logs", (Property("invocation_logs", "boolean"),)), ("traces", ())):
        if isinstance(have.get(name), dict):
            inside = Field(f"{part.name}.{name}", part.path, (*part.keys, name))
            expected = (*common, *persist, *more)
            is_valid = properties(diagnostics, inside, have[name], *expected) and is_valid
    return is_valid


def is_python_modules(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` says which files of python_modules stay out."""
    if not isinstance(value, dict):
        return diagnostics.error(
            f'"{part.name}" should be an object but got {stringify(value)}.', part
        )
    exclude = value.get("exclude", [])
    if isinstance(exclude, list) and all(isinstance(item, str) for item in exclude):
        return True
    return diagnostics.error(
        f'Expected "{part.name}.exclude" to be of type string array but got {stringify(exclude)}.',
        part,
    )
