"""What wrangler asks of keys that nothing here runs: a project that it refuses is refused here.

Source: workers-sdk packages/workers-utils/src/config/validation.ts, read 2026-12-01.
"""

from __future__ import annotations

from localedge.project.diagnostics import Diagnostics, Field
from localedge.project.document import Json, stringify
from localedge.project.kinds import Property, array_of, is_array, is_object, properties


def is_migrations(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` lists migrations of Durable Objects."""
    if value is None:
        return True
    if not isinstance(value, list):
        return diagnostics.error(
            f'The optional "{part.name}" field should be an array, but got {stringify(value)}', part
        )
    checks = [_is_migration(diagnostics, _item(part, n), item) for n, item in enumerate(value)]
    return all(checks)


_CLASSES = ("new_classes", "new_sqlite_classes", "deleted_classes")


def _is_migration(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    have = value if isinstance(value, dict) else {}
    known = ["tag", *_CLASSES, "renamed_classes", "transferred_classes"]
    diagnostics.unknown_keys(Field(part.name, "migrations", part.keys), list(have), known)
    tag = Property("tag", "string", is_required=True)
    checks = [
        properties(diagnostics, part, value, tag, closed=False),
        *[
            array_of("string")(diagnostics, part.member(name), have[name])
            for name in _CLASSES
            if name in have
        ],
    ]
    return all(checks)


def is_consumers(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` lists workers that are sent traces."""
    if not value and not isinstance(value, dict):
        return True
    if not isinstance(value, list):
        return diagnostics.error(
            f'Expected "{part.name}" to be an array but got {stringify(value)}.', part
        )
    checks = [_is_consumer(diagnostics, _item(part, n), item) for n, item in enumerate(value)]
    return all(checks)


def _is_consumer(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    if not isinstance(value, dict):
        return diagnostics.error(
            f'"{part.path}" should be an object but got {stringify(value)}.', part
        )
    service = Property("service", "string", is_required=True)
    environment = Property("environment", "string")
    return properties(diagnostics, part, value, service, environment, closed=False)


def is_cache(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` turns the cache on or off."""
    if not isinstance(value, dict | list):
        return is_object(diagnostics, part, value)
    enabled = Property("enabled", "boolean", is_required=True)
    return properties(diagnostics, part, value, enabled, closed=False)


def is_logfwdr(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` lists where logs are sent."""
    if not isinstance(value, dict):
        return is_object(diagnostics, part, value)
    if "bindings" not in value:
        return diagnostics.error(
            f'The field "{part.path}" is missing the required "bindings" property.', part
        )
    return is_array(diagnostics, part.member("bindings"), value["bindings"])


def is_placement(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` says where the worker runs."""
    if not isinstance(value, dict):
        return is_object(diagnostics, part, value)
    modes: tuple[Json, ...] = ("off", "smart", "targeted")
    is_targeted = bool({"region", "host", "hostname"} & value.keys())
    mode = Property("mode", "string", modes, is_required=not is_targeted)
    if not properties(diagnostics, part, value, mode, closed=False):
        return False
    if "hint" in value and value.get("mode") != "smart":
        return diagnostics.error(
            f'"{part.name}.hint" can only be set when "{part.name}.mode" is "smart"', part
        )
    return True


def _item(part: Field, index: int) -> Field:
    """The item `index` of `part`, called by its key and number whatever environment it is in."""
    name = f"{part.name}[{index}]"
    return Field(name, name, (*part.keys, index))
