"""The time as it is stored."""

from __future__ import annotations

from datetime import UTC, datetime


def iso_now() -> str:
    """The current time, ISO 8601 in UTC with milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")


def seconds_between(earlier: str, later: str) -> float:
    """The seconds from one stored time to another."""
    return (datetime.fromisoformat(later) - datetime.fromisoformat(earlier)).total_seconds()
