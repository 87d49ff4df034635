"""The `workers` module of the platform, over native CPython."""

from __future__ import annotations

from typing import Any

from workers.entrypoints import DurableObject, WorkerEntrypoint, WorkflowEntrypoint
from workers.request import Request
from workers.response import FetchResponse, Response

__all__ = [
    "DurableObject",
    "FetchResponse",
    "Request",
    "Response",
    "WorkerEntrypoint",
    "WorkflowEntrypoint",
]
