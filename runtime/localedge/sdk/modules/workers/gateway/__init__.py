"""`workers.gateway`: options that adapters take."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class BaseOptions:
    """How an adapter treats bodies: `encode_body` is "automatic" or "manual".

    Source: reference/python-workers.md section 1, read 2026-12-01.
    """

    encode_body: Literal["automatic", "manual"] = "automatic"


__all__ = ["BaseOptions"]
