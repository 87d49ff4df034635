"""No two bindings of a worker have one name.

Source: workers-sdk packages/workers-utils/src/config/validation.ts
(validateBindingsHaveUniqueNames) and validation-helpers.ts (getBindingNames), read 2026-12-01.
"""

from __future__ import annotations

from collections.abc import Mapping

from localedge.project.diagnostics import Diagnostics
from localedge.project.document import Json, members

# The key of each kind of binding, in the order in which messages list kinds.
FRIENDLY = {
    "data_blobs": "Data Blob",
    "durable_objects": "Durable Object",
    "kv_namespaces": "KV Namespace",
    "send_email": "Send Email",
    "queues": "Queue",
    "d1_databases": "D1 Database",
    "vectorize": "Vectorize Index",
    "ai_search_namespaces": "AI Search Namespace",
    "ai_search": "AI Search Instance",
    "websearch": "Web Search",
    "agent_memory": "Agent Memory",
    "hyperdrive": "Hyperdrive Config",
    "r2_buckets": "R2 Bucket",
    "logfwdr": "logfwdr",
    "services": "Worker",
    "analytics_engine_datasets": "Analytics Engine Dataset",
    "text_blobs": "Text Blob",
    "browser": "Browser Run",
    "ai": "AI",
    "images": "Images",
    "stream": "Stream",
    "media": "Media",
    "version_metadata": "Worker Version Metadata",
    "unsafe": "Unsafe Metadata",
    "vars": "Environment Variable",
    "wasm_modules": "Wasm Module",
    "dispatch_namespaces": "Dispatch Namespace",
    "mtls_certificates": "mTLS Certificate",
    "workflows": "Workflow",
    "pipelines": "Pipeline",
    "secrets_store_secrets": "Secrets Store Secret",
    "artifacts": "Artifacts",
    "ratelimits": "Rate Limit",
    "assets": "Assets",
    "unsafe_hello_world": "Hello World",
    "flagship": "Flagship",
    "worker_loaders": "Worker Loader",
    "vpc_services": "VPC Service",
    "vpc_networks": "VPC Network",
}
SECRET = "Secret"


def binding_names(value: Json) -> list[str]:
    """The names that a key's value puts into `env`; empty when it is not understood."""
    if isinstance(value, list):
        names = [item.get("binding") if isinstance(item, dict) else None for item in value]
        texts = [name for name in names if isinstance(name, str)]
        return texts if len(texts) == len(names) else []
    if not isinstance(value, dict):
        return []
    entries = value.get("bindings")
    if isinstance(entries, list):
        named = [item.get("name") if isinstance(item, dict) else None for item in entries]
        if all(isinstance(name, str) for name in named):
            return [name for name in named if isinstance(name, str)]
    own = value.get("binding")
    if isinstance(own, str):
        return [own]
    return list(value)


def check_unique(diagnostics: Diagnostics, config: Mapping[str, Json]) -> None:
    """Refuse a name that two bindings, variables or declared secrets have."""
    kinds: dict[str, list[str]] = {}
    for key, kind in FRIENDLY.items():
        value = config.get(key)
        for name in binding_names(members(value).get("producers") if key == "queues" else value):
            kinds.setdefault(name, []).append(kind)
    required = members(config.get("secrets")).get("required")
    for secret in required if isinstance(required, list) else []:
        if isinstance(secret, str):
            kinds.setdefault(secret, []).append(SECRET)

    shared = {name: of_name for name, of_name in kinds.items() if len(of_name) > 1}
    for name, of_name in shared.items():
        different = list(dict.fromkeys(of_name))
        if len(different) > 1:
            diagnostics.error(f"{name} assigned to {listed(different)} bindings.")
        for kind in different:
            if of_name.count(kind) > 1:
                diagnostics.error(f"{name} assigned to multiple {kind} bindings.")
    if shared:
        diagnostics.error(
            "Bindings must have unique names, so that they can all be referenced in the worker.\n"
            "Please change your bindings to have unique names."
        )


def listed(items: list[str]) -> str:
    """`items` as an English list: "A", "A and B", "A, B, and C"."""
    if len(items) < 3:
        return " and ".join(items)
    return f"{', '.join(items[:-1])}, and {items[-1]}"
