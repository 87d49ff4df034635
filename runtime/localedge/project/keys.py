"""Every key of wrangler's configuration: whether environments inherit it, and what it may hold.

Source: workers-sdk packages/workers-utils/src/config/validation.ts, read 2026-12-01; reference
page of KV and D1, section 4.
"""

from __future__ import annotations

from typing import get_args

from localedge.project.attached import HtmlHandling, NotFoundHandling
from localedge.project.bindings import ENTRIES
from localedge.project.diagnostics import Diagnostics, Field
from localedge.project.document import Json, members, stringify, type_of
from localedge.project.kinds import (
    Check,
    Property,
    anything,
    array_of,
    is_array,
    is_boolean,
    is_name,
    is_object,
    is_string,
    is_string_array,
    of_type,
    one_of,
    properties,
)
from localedge.project.shapes import (
    is_build,
    is_compatibility_date,
    is_define,
    is_limits,
    is_observability,
    is_python_modules,
    is_route,
    is_routes,
    is_rules,
    is_secrets,
    is_triggers,
    is_vars,
)
from localedge.project.unrun import (
    is_cache,
    is_consumers,
    is_logfwdr,
    is_migrations,
    is_placement,
)


def _entries(name: str) -> Check:
    entry = ENTRIES[name]

    def check(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
        if not isinstance(value, list):
            return is_array(diagnostics, part, value)
        checks = [entry.check(diagnostics, part.item(n), item) for n, item in enumerate(value)]
        return all(checks)

    return check


def _single(*more: str, is_closed: bool = True) -> Check:
    """A check for a key that is one binding by itself: `{"binding": "AI"}`."""

    def check(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
        if not isinstance(value, dict):
            return is_object(diagnostics, part, value)
        is_valid = True
        if not isinstance(value.get("binding"), str):
            is_valid = diagnostics.error('binding should have a string "binding" field.', part)
        if not isinstance(value.get("remote", False), bool):
            is_valid = diagnostics.error(
                f'"{part.name}" should, optionally, have a boolean "remote" field '
                f"but got {stringify(value)}.",
                part,
            )
        if is_closed:
            diagnostics.unknown_keys(part, list(value), ["binding", "remote", *more])
        return is_valid

    return check


def _is_queues(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    if not isinstance(value, dict):
        return is_object(diagnostics, part, value)
    diagnostics.unknown_keys(part, list(value), ["consumers", "producers"])
    is_valid = True
    if "consumers" in value:
        is_valid = is_array(diagnostics, part.member("consumers"), value["consumers"])
    if "producers" in value:
        check = _entries("queues.producers")
        is_valid = check(diagnostics, part.member("producers"), value["producers"]) and is_valid
    return is_valid


def _is_durable_objects(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    if not isinstance(value, dict):
        return is_object(diagnostics, part, value)
    diagnostics.unknown_keys(part, list(value), ["bindings"])
    entries = value.get("bindings", [])
    if not isinstance(entries, list):
        return is_array(diagnostics, part.member("bindings"), entries)
    checks = [
        _is_named(diagnostics, part.member("bindings").item(n), entry)
        for n, entry in enumerate(entries)
    ]
    return all(checks)


def _is_named(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    if not isinstance(value, dict):
        return diagnostics.error(
            f'Expected "{part.path}" to be an object but got {stringify(value)}', part
        )
    missing = [n for n in ("name", "class_name") if not isinstance(value.get(n), str)]
    for name in missing:
        diagnostics.error(f'binding should have a string "{name}" field.', part)
    known = ["name", "class_name", "script_name", "environment", "remote"]
    diagnostics.unknown_keys(part, list(value), known)
    return not missing


def _is_assets(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    if type_of(value) != "object" or value is None:
        return diagnostics.error(
            f'"{part.name}" should be an object, but got value {stringify(part.name)} '
            f"of type {type_of(value)}",
            part,
        )
    first = members(value).get("run_worker_first")
    return properties(
        diagnostics,
        part,
        value,
        Property("directory", "string"),
        Property("binding", "string"),
        Property("html_handling", "string", get_args(HtmlHandling)),
        Property("not_found_handling", "string", get_args(NotFoundHandling)),
        Property("run_worker_first", "object" if isinstance(first, list) else "boolean"),
    )


def _is_dev(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    texts = ("ip", "inspector_ip", "host", "container_engine")
    protocols = ("local_protocol", "upstream_protocol")
    return properties(
        diagnostics,
        part,
        value,
        *(Property(name, "string") for name in texts),
        *(Property(name, "string", ("http", "https")) for name in protocols),
        *(Property(name, "number") for name in ("port", "inspector_port")),
        *(Property(name, "boolean") for name in ("enable_containers", "generate_types")),
    )


def _is_site(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    lists = (Property("include", "object"), Property("exclude", "object"))
    bucket = Property("bucket", "string", is_required=True)
    return properties(diagnostics, part, value, bucket, Property("entry-point", "string"), *lists)


def _is_alias(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    if type_of(value) != "object":
        return diagnostics.error(f"Expected alias to be an object, but got {type_of(value)}", part)
    wrong = {name: item for name, item in members(value).items() if not isinstance(item, str)}
    for name, item in wrong.items():
        diagnostics.error(f'Expected alias["{name}"] to be a string, but got {type_of(item)}', part)
    return not wrong


def _is_files(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    checks = [
        is_string(diagnostics, Field(f"{part.name}['{name}']", part.path, (*part.keys, name)), item)
        for name, item in members(value).items()
    ]
    return all(checks)


def _is_unsafe(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    diagnostics.warn(
        f'"{part.name}" fields are experimental and may change or break at any time.', part
    )
    return is_object(diagnostics, part, value)


def _is_account(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    if value == "":
        diagnostics.warn(
            f'The "{part.name}" field in your configuration is an empty string and will be '
            f'ignored.\nPlease remove the "{part.name}" field from your configuration.',
            part,
        )
    return is_string(diagnostics, part, value)


INHERITED: dict[str, Check] = {
    "name": is_name,
    "main": is_string,
    "account_id": _is_account,
    "compatibility_date": is_compatibility_date,
    "compatibility_flags": is_string_array,
    "triggers": is_triggers,
    "limits": is_limits,
    "route": is_route,
    "routes": is_routes,
    "rules": is_rules,
    "build": is_build,
    "placement": is_placement,
    "assets": _is_assets,
    "observability": is_observability,
    "python_modules": is_python_modules,
    "compliance_region": one_of("public", "fedramp_high"),
    "migrations": is_migrations,
    "exports": anything,
    "logfwdr": is_logfwdr,
    "access": is_object,
    "cache": is_cache,
    "previews": is_object,
    **dict.fromkeys(("jsx_factory", "jsx_fragment", "tsconfig", "base_dir"), is_string),
    **dict.fromkeys(
        (
            "workers_dev",
            "preview_urls",
            "find_additional_modules",
            "preserve_file_names",
            "no_bundle",
            "minify",
            "keep_names",
            "first_party_worker",
            "logpush",
            "upload_source_maps",
        ),
        is_boolean,
    ),
}

OWN: dict[str, Check] = {
    "vars": is_vars,
    "secrets": is_secrets,
    "define": is_define,
    **{name: _entries(name) for name in ENTRIES if "." not in name},
    "queues": _is_queues,
    "durable_objects": _is_durable_objects,
    **{name: _single() for name in ("browser", "images", "stream", "media", "websearch")},
    "ai": _single(is_closed=False),
    "version_metadata": _single(is_closed=False),
    "tail_consumers": is_consumers,
    "streaming_tail_consumers": is_consumers,
    "containers": is_array,
    "connect": is_array,
    "cloudchamber": is_object,
    "unsafe": _is_unsafe,
}

TOP_ONLY: dict[str, Check] = {
    "$schema": is_string,
    "env": anything,
    "dev": _is_dev,
    "send_metrics": is_boolean,
    "keep_vars": is_boolean,
    "pages_build_output_dir": is_string,
    "addresses": array_of("string"),
    "dependencies_instrumentation": of_type("object"),
    "site": _is_site,
    "alias": _is_alias,
    **dict.fromkeys(("wasm_modules", "text_blobs", "data_blobs"), _is_files),
    # Names that wrangler computes; it lets them pass when a file has them.
    **dict.fromkeys(
        (
            "configPath",
            "userConfigPath",
            "topLevelName",
            "definedEnvironments",
            "targetEnvironment",
        ),
        anything,
    ),
}

LOCAL = "localedge"
