"""Bindings that localedge does not run: their names, and the platform's class of each.

Source: recorded case `other_bindings` for Fetcher, WorkerQueue and R2Bucket; reference/
python-workers.md 1.6, read 2026-12-01, for Ai and AnalyticsEngine. The other names are
not recorded anywhere that we could check.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from localedge.project.document import Json, members
from localedge.project.names import binding_names

CLASSES = {
    "r2_buckets": "R2Bucket",
    "queues": "WorkerQueue",
    "durable_objects": "DurableObjectNamespace",
    "workflows": "Workflow",
    "send_email": "SendEmail",
    "vectorize": "VectorizeIndex",
    "hyperdrive": "Hyperdrive",
    "analytics_engine_datasets": "AnalyticsEngine",
    "dispatch_namespaces": "DispatchNamespace",
    "mtls_certificates": "Fetcher",
    "pipelines": "Pipeline",
    "secrets_store_secrets": "SecretsStoreSecret",
    "worker_loaders": "WorkerLoader",
    "vpc_services": "Fetcher",
    "vpc_networks": "Fetcher",
    "browser": "Fetcher",
    "ai": "Ai",
    "images": "ImagesBinding",
    "stream": "StreamBinding",
    "media": "MediaBinding",
    "websearch": "WebSearch",
    "ai_search": "AiSearchInstance",
    "ai_search_namespaces": "AiSearchNamespace",
    "agent_memory": "AgentMemory",
    "artifacts": "Artifacts",
    "flagship": "Flagship",
    "unsafe_hello_world": "HelloWorldBinding",
    "wasm_modules": "Module",
}

# Keys that bring no binding, but something that would happen on the platform.
_SILENT_HERE = (
    "build",
    "site",
    "define",
    "alias",
    "tail_consumers",
    "streaming_tail_consumers",
    "containers",
    "cloudchamber",
    "connect",
    "unsafe",
    "logfwdr",
    "text_blobs",
    "data_blobs",
    "pages_build_output_dir",
)


def placeholders(values: Mapping[str, Json], run: Collection[str] = ()) -> dict[str, str]:
    """The platform's class of each binding of `values` that localedge does not run, by name.

    `run` are names that something stands for after all.
    """
    return {
        name: CLASSES[key]
        for key in CLASSES
        for name in _names(key, values.get(key))
        if name not in run
    }


def not_run(values: Mapping[str, Json], run: Collection[str] = ()) -> list[str]:
    """One sentence for each key of `values` that wrangler knows and localedge does not run."""
    said: list[str] = []
    for key in CLASSES:
        names = [name for name in _names(key, values.get(key)) if name not in run]
        if key == "hyperdrive" and names:
            said.append(_no_database(names))
            continue
        if names:
            shown = ", ".join(f"env.{name}" for name in names)
            said.append(
                f'"{key}" is not run by localedge: {shown} {_are(names)} that raises an error '
                "when it is used."
            )
    return said + [
        f'"{key}" is not run by localedge and has no effect here.'
        for key in _SILENT_HERE
        if values.get(key)
    ]


def _no_database(names: list[str]) -> str:
    shown = ", ".join(f"env.{name}" for name in names)
    return (
        f"{shown} {_are(names)}, because nothing says which local database to use: set "
        '"localConnectionString", or the variable '
        f"CLOUDFLARE_HYPERDRIVE_LOCAL_CONNECTION_STRING_{names[0]}."
    )


def _are(names: list[str]) -> str:
    return "is a placeholder" if len(names) == 1 else "are each a placeholder"


def _names(key: str, value: Json) -> list[str]:
    match key:
        case "queues":
            return binding_names(members(value).get("producers"))
        case "send_email":
            return [
                name
                for item in (value if isinstance(value, list) else [])
                if isinstance(name := members(item).get("name"), str)
            ]
    return binding_names(value)
