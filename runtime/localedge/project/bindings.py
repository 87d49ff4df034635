"""The entries of each list of bindings that wrangler knows: their members and their refusals.

Source: workers-sdk packages/workers-utils/src/config/validation.ts, read 2026-12-01.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from localedge.project.diagnostics import Diagnostics, Field
from localedge.project.document import Json, members, stringify, type_of

_SHOULD = 'bindings should have a string "{name}" field'
_MUST = 'bindings must have a string "{name}" field'
_MUST_A = 'bindings must have a "{name}" field'
_MUST_AN = 'bindings must have an "{name}" field'
_MAY = 'bindings should, optionally, have a string "{name}" field'

Extra = Callable[[Diagnostics, Field, dict[str, Json]], bool]


@dataclass(frozen=True, slots=True)
class Member:
    """One text of an entry, and wrangler's sentence when it is missing or no text."""

    name: str
    sentence: str
    is_required: bool = True
    may_be_empty: bool = True

    def accepts(self, have: dict[str, Json]) -> bool:
        """Whether the entry's member is as it should be."""
        if self.name not in have:
            return not self.is_required
        value = have[self.name]
        return isinstance(value, str) and (self.may_be_empty or value != "")


def _must(name: str, sentence: str = _SHOULD, *, may_be_empty: bool = True) -> Member:
    return Member(name, sentence, may_be_empty=may_be_empty)


def _may(name: str, sentence: str = _MAY, *, may_be_empty: bool = True) -> Member:
    return Member(name, sentence, is_required=False, may_be_empty=may_be_empty)


@dataclass(frozen=True, slots=True)
class Entry:
    """What an entry of one kind may hold; `more` are members that only their own check reads."""

    members: tuple[Member, ...]
    more: tuple[str, ...] = ()
    noun: str = ""
    is_closed: bool = True
    has_remote: bool = True
    extra: Extra | None = None

    @property
    def known(self) -> list[str]:
        """The names of all members."""
        remote = ["remote"] if self.has_remote else []
        return [*(member.name for member in self.members), *self.more, *remote]

    def check(self, diagnostics: Diagnostics, part: Field, value: Json) -> bool:
        """Check one entry at `part`."""
        if type_of(value) != "object" or value is None:
            noun = self.noun or part.name
            return diagnostics.error(
                f'"{noun}" bindings should be objects, but got {stringify(value)}', part
            )
        have = members(value)
        wrong = [member for member in self.members if not member.accepts(have)]
        for member in wrong:
            sentence = member.sentence.format(name=member.name)
            diagnostics.error(f'"{part.path}" {sentence} but got {stringify(value)}.', part)
        is_valid = not wrong
        if self.has_remote and not _has_valid_remote(diagnostics, part, value, have):
            is_valid = False
        if self.extra and not self.extra(diagnostics, part, have):
            is_valid = False
        if self.is_closed:
            diagnostics.unknown_keys(part, list(have), self.known)
        return is_valid


def _has_valid_remote(
    diagnostics: Diagnostics, part: Field, value: Json, have: dict[str, Json]
) -> bool:
    if isinstance(have.get("remote", False), bool):
        return True
    return diagnostics.error(
        f'"{part.path}" should, optionally, have a boolean "remote" field '
        f"but got {stringify(value)}.",
        part,
    )


_BUCKET = re.compile(r"[a-z0-9][a-z0-9-]{1,61}[a-z0-9]")
_WORKFLOW = re.compile(r"[a-zA-Z0-9_][a-zA-Z0-9_-]{0,63}")


def _has_valid_buckets(diagnostics: Diagnostics, part: Field, have: dict[str, Json]) -> bool:
    for name in ("bucket_name", "preview_bucket_name"):
        bucket = have.get(name)
        if isinstance(bucket, str) and bucket and not _BUCKET.fullmatch(bucket):
            return diagnostics.error(
                f"{part.path}.{name}={stringify(bucket)} is invalid. Bucket names must begin and "
                "end with an alphanumeric character, only contain lowercase letters, numbers, and "
                "hyphens, and be between 3 and 63 characters long.",
                part,
            )
    return True


def _has_valid_workflow(diagnostics: Diagnostics, part: Field, have: dict[str, Json]) -> bool:
    name = have.get("name")
    if not isinstance(name, str) or _WORKFLOW.fullmatch(name):
        return True
    return diagnostics.error(
        f'"{part.path}" binding "name" field is invalid. Workflow names must be 1-64 characters '
        "long, start with a letter, number, or underscore, and may only contain letters, numbers, "
        "underscores, or hyphens.",
        part,
    )


def _has_one_destination(diagnostics: Diagnostics, part: Field, have: dict[str, Json]) -> bool:
    if not {"destination_address", "allowed_destination_addresses"} <= have.keys():
        return True
    return diagnostics.error(
        f'"{part.path}" bindings should have either a "destination_address" or '
        '"allowed_destination_addresses" field, but not both.',
        part,
    )


def _has_valid_rate(diagnostics: Diagnostics, part: Field, have: dict[str, Json]) -> bool:
    simple = have.get("simple")
    if not isinstance(simple, dict):
        return diagnostics.error(
            f'"{part.path}" bindings must have a "simple" configuration object '
            f"but got {stringify(have)}.",
            part,
        )
    is_valid = True
    if type_of(simple.get("limit")) != "number":
        is_valid = diagnostics.error(
            f'"{part.path}" bindings "simple.limit" must be a number but got {stringify(simple)}.',
            part,
        )
    if simple.get("period") not in (10, 60):
        is_valid = diagnostics.error(
            f'"{part.path}" bindings "simple.period" must be either 10 or 60 '
            f"but got {stringify(simple.get('period'))}.",
            part,
        )
    return is_valid


def _with_binding(
    *more: Member, sentence: str = _SHOULD, is_closed: bool = True, has_remote: bool = True
) -> Entry:
    return Entry((_must("binding", sentence), *more), is_closed=is_closed, has_remote=has_remote)


ENTRIES: dict[str, Entry] = {
    "kv_namespaces": _with_binding(_may("id", _SHOULD, may_be_empty=False), _may("preview_id")),
    "d1_databases": _with_binding(
        _may("database_id", _MUST_A),
        _may("preview_database_id"),
        _may("migrations_pattern"),
        _may("database_name"),
        _may("migrations_dir"),
        _may("migrations_table"),
        _may("database_internal_env"),
    ),
    "r2_buckets": Entry(
        (
            _must("binding"),
            _may("bucket_name", _SHOULD, may_be_empty=False),
            _may("preview_bucket_name"),
            _may("jurisdiction"),
        ),
        more=("local_dev",),
        extra=_has_valid_buckets,
    ),
    "queues.producers": Entry(
        (
            _must("binding"),
            _may(
                "queue",
                'bindings should optionally have a non-empty string "{name}" field',
                may_be_empty=False,
            ),
        ),
        more=("delivery_delay",),
        noun="queue",
    ),
    "services": _with_binding(
        _must("service"), _may("environment", _SHOULD), _may("entrypoint", _SHOULD), is_closed=False
    ),
    "workflows": Entry(
        (_must("binding"), _must("name"), _must("class_name"), _may("script_name")),
        more=("schedules", "limits", "default_retention", "concurrency", "steps"),
        extra=_has_valid_workflow,
    ),
    "send_email": Entry(
        (_must("name"), _may("destination_address")),
        more=("allowed_destination_addresses", "allowed_sender_addresses", "binding"),
        extra=_has_one_destination,
    ),
    "vectorize": _with_binding(_must("index_name", _MUST_AN)),
    "hyperdrive": Entry(
        (_must("binding"), _must("id", _MUST_A)), more=("localConnectionString",), has_remote=False
    ),
    "analytics_engine_datasets": Entry(
        (_must("binding"), _may("dataset", may_be_empty=False)),
        noun="analytics_engine",
        has_remote=False,
    ),
    "dispatch_namespaces": Entry(
        (
            _must("binding", 'should have a string "{name}" field'),
            _may("namespace", 'should optionally have a string "{name}" field'),
        ),
        is_closed=False,
    ),
    "mtls_certificates": _with_binding(_must("certificate_id", may_be_empty=False)),
    "pipelines": Entry(
        (_must("binding", _MUST), _may("stream", _MUST), _may("pipeline", _MUST)), noun="pipeline"
    ),
    "secrets_store_secrets": _with_binding(
        _must("store_id", _MUST), _must("secret_name", _MUST), sentence=_MUST, has_remote=False
    ),
    "ratelimits": Entry(
        (_must("name", _MUST), _must("namespace_id", _MUST)),
        more=("simple",),
        has_remote=False,
        extra=_has_valid_rate,
    ),
    "ai_search_namespaces": _with_binding(_must("namespace", _MUST_A)),
    "ai_search": _with_binding(_must("instance_name", _MUST_AN)),
    "agent_memory": _with_binding(_must("namespace", _MUST_A)),
    "artifacts": _with_binding(_must("namespace", _MUST), sentence=_MUST),
    "flagship": _with_binding(
        _may("app_id", 'bindings may have a string "{name}" field'), sentence=_MUST
    ),
    "worker_loaders": Entry((_must("binding", _MUST),), noun="worker_loader", has_remote=False),
    "unsafe_hello_world": Entry(
        (_must("binding", _MUST),), more=("enable_timer",), has_remote=False
    ),
    "vpc_services": _with_binding(_must("service_id", _MUST_A)),
    "vpc_networks": Entry((_must("binding"),), more=("tunnel_id", "network_id")),
}
