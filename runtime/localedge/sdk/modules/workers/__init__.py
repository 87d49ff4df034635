"""The `workers` module of the platform, over native CPython.

Source: reference/python-workers.md section 1 (workers-runtime-sdk 1.9.5), read 2026-12-01.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from workers import js_sdk as _js_sdk
from workers.blob import Blob, BlobEnding, File
from workers.entrypoints import DurableObject, WorkerEntrypoint, WorkflowEntrypoint, handler
from workers.fetch import fetch
from workers.formdata import FormData
from workers.js_sdk import import_from_javascript, patch_env
from workers.request import Request
from workers.response import FetchResponse, Response
from workers.rpc import python_from_rpc, python_to_rpc
from workers.types import (
    BlobValue,
    Body,
    Context,
    FetchKwargs,
    FormDataValue,
    Headers,
    JSBody,
    RequestInitCfProperties,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    env: Any
    waitUntil: Callable[[Any], None]
    wait_until: Callable[[Any], None]

__all__ = [
    "Blob",
    "BlobEnding",
    "BlobValue",
    "Body",
    "Context",
    "DurableObject",
    "FetchKwargs",
    "FetchResponse",
    "File",
    "FormData",
    "FormDataValue",
    "Headers",
    "JSBody",
    "Request",
    "RequestInitCfProperties",
    "Response",
    "WorkerEntrypoint",
    "WorkflowEntrypoint",
    "env",
    "fetch",
    "handler",
    "import_from_javascript",
    "patch_env",
    "python_from_rpc",
    "python_to_rpc",
    "waitUntil",
    "wait_until",
]


def __getattr__(name: str) -> Any:
    return _js_sdk.attribute(name)
