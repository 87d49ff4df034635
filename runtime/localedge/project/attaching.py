"""From the checked values of a configuration to what is attached to its worker.

Source: developers.cloudflare.com/workers/wrangler/configuration and /workers/static-assets,
read 2026-12-01.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from urllib.parse import unquote, urlsplit

from localedge.project.attached import (
    DEFAULT_PORTS,
    Assets,
    Attached,
    Hyperdrive,
    RateLimit,
    Service,
)
from localedge.project.document import Json, members
from localedge.project.reading import refusal

_STRINGS = (
    "CLOUDFLARE_HYPERDRIVE_LOCAL_CONNECTION_STRING_",
    "WRANGLER_HYPERDRIVE_LOCAL_CONNECTION_STRING_",
)
MOST_RULES = 100
NAVIGATION_FROM = "2025-04-01"


def attached(
    values: Mapping[str, Json], *, root: Path, date: str, process_env: Mapping[str, str]
) -> Attached:
    """What `values` attach to the worker; paths count from `root`, the configuration's folder.

    Errors: OperatorError for rules of `run_worker_first` or a connection string that cannot be.
    """
    name = members(values.get("version_metadata")).get("binding")
    drives = (_drive(entry, process_env) for entry in _entries(values, "hyperdrive"))
    return Attached(
        assets=_assets(values, root, date),
        services=tuple(_service(entry) for entry in _entries(values, "services")),
        ratelimits=tuple(_rate(entry) for entry in _entries(values, "ratelimits")),
        hyperdrive=tuple(drive for drive in drives if drive is not None),
        version_metadata=name if isinstance(name, str) else None,
    )


def check_assets(assets: Assets | None, given: Json, *, shown: str) -> None:
    """Pass when the folder of static files that the configuration has `given` is there.

    Source: workers-sdk packages/wrangler/src/assets.ts, read 2026-12-01.
    """
    if assets is None and given is not None:
        raise refusal(
            "config/assets-directory",
            f"The `assets` property in {shown} is missing the required `directory` property.",
            'Name the folder of static files: directory = "./public".',
        )
    if assets is not None and not assets.directory.is_dir():
        raise refusal(
            "config/assets-missing",
            f'The directory specified by the "assets.directory" field in {shown} does not exist: '
            f"{assets.directory}",
            "Create it, or correct the path, which is relative to the configuration file.",
        )


def _entries(values: Mapping[str, Json], key: str) -> list[dict[str, Json]]:
    value = values.get(key)
    return [members(item) for item in value] if isinstance(value, list) else []


def _assets(values: Mapping[str, Json], root: Path, date: str) -> Assets | None:
    given = members(values.get("assets"))
    directory = given.get("directory")
    if not isinstance(directory, str):
        return None
    flags = values.get("compatibility_flags")
    named = flags if isinstance(flags, list) else []
    prefers = date >= NAVIGATION_FROM or "assets_navigation_prefers_asset_serving" in named
    first = given.get("run_worker_first", False)
    settings = {
        key: given[key]
        for key in ("binding", "html_handling", "not_found_handling")
        if given.get(key) is not None
    }
    return Assets.model_validate(
        {
            **settings,
            "directory": root / directory,
            "run_worker_first": _rules(first) if isinstance(first, list) else bool(first),
            "prefers_navigation": prefers and "assets_navigation_has_no_effect" not in named,
        }
    )


def _rules(rules: list[Json]) -> tuple[str, ...]:
    """The rules of `run_worker_first`.

    Source: workers-sdk packages/workers-shared/utils/configuration/parseStaticRouting.ts,
    read 2026-12-01.
    """
    texts = tuple(rule for rule in rules if isinstance(rule, str))
    wrong = [rule for rule in texts if not rule.startswith(("/", "!/"))]
    if wrong or len(texts) != len(rules):
        shown = ", ".join(repr(rule) for rule in wrong) or "something else than a text"
        raise _wrong_rules(f"rules start with / or !/, not {shown}.")
    if not any(rule.startswith("/") for rule in texts):
        raise _wrong_rules("at least one rule without a ! is needed.")
    if len(texts) > MOST_RULES:
        raise _wrong_rules(f"{len(texts)} rules are more than {MOST_RULES}.")
    if len(set(texts)) != len(texts):
        raise _wrong_rules("a rule is there twice.")
    return texts


def _wrong_rules(sentence: str) -> Exception:
    return refusal("config/run-worker-first", f"assets.run_worker_first: {sentence}")


def _service(entry: dict[str, Json]) -> Service:
    entrypoint = entry.get("entrypoint")
    service, environment = entry.get("service"), entry.get("environment")
    return Service(
        binding=str(entry.get("binding")),
        service=f"{service}-{environment}" if environment else str(service),
        entrypoint=entrypoint if isinstance(entrypoint, str) else None,
        props=dict(members(entry.get("props"))),
    )


def _rate(entry: dict[str, Json]) -> RateLimit:
    simple = members(entry.get("simple"))
    return RateLimit.model_validate(
        {
            "binding": entry.get("name"),
            "namespace_id": entry.get("namespace_id"),
            "limit": simple.get("limit"),
            "period_s": simple.get("period"),
        }
    )


def _drive(entry: dict[str, Json], process_env: Mapping[str, str]) -> Hyperdrive | None:
    """The database of one entry; None when nothing says where it is."""
    binding = str(entry.get("binding"))
    given = [process_env.get(f"{prefix}{binding}") for prefix in _STRINGS]
    text = next((value for value in (*given, entry.get("localConnectionString")) if value), None)
    if not isinstance(text, str):
        return None
    try:
        url = urlsplit(text)
        port = url.port
    except ValueError:
        raise _no_database(binding, "it is no URL") from None
    database = unquote(url.path[1:])
    # Source: workers-sdk packages/miniflare/src/plugins/hyperdrive/index.ts, read 2026-12-01.
    if url.scheme not in DEFAULT_PORTS:
        raise _no_database(binding, "only postgresql and mysql are supported")
    parts = {
        "host name": url.hostname,
        "user": url.username,
        "password": url.password,
        "database name": database,
    }
    lacking = [name for name, value in parts.items() if not value]
    if lacking:
        raise _no_database(binding, f"it has no {' and no '.join(lacking)}")
    return Hyperdrive(
        binding=binding,
        connection=text,
        host=url.hostname or "",
        port=port or DEFAULT_PORTS[url.scheme],
        user=unquote(url.username or ""),
        password=unquote(url.password or ""),
        database=database,
    )


def _no_database(binding: str, why: str) -> Exception:
    return refusal(
        "config/hyperdrive",
        f"The local connection string of hyperdrive {binding} cannot be used: {why}.",
        "It looks like postgresql://user:password@localhost:5432/database.",
    )
