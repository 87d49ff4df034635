"""What a cron trigger hands to the worker."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from localedge.values import JsObject


class ScheduledController(JsObject):
    """One firing of a cron trigger.

    Shape: `cron` is the expression as configured, `scheduled_time` in ms since the epoch;
    `retries` is false once `noRetry` was called.
    Source: reference/python-workers.md section 3, read 2026-12-01.
    """

    __slots__ = ("cron", "retries", "scheduled_time")
    js_class = "ScheduledController"
    js_methods: ClassVar[Mapping[str, str]] = {"noRetry": "no_retry"}
    js_properties: ClassVar[Mapping[str, str]] = {
        "cron": "cron",
        "scheduledTime": "scheduled_time",
        "type": "kind",
    }
    kind: ClassVar[str] = "scheduled"

    def __init__(self, cron: str, scheduled_time: int) -> None:
        self.cron = cron
        self.scheduled_time = scheduled_time
        self.retries = True

    def no_retry(self) -> None:
        """The platform does not fire again after a failure."""
        self.retries = False
