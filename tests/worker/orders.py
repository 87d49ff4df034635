"""Bodies of requests that tests send."""

from __future__ import annotations

from typing import Any

TRIP: dict[str, Any] = {
    "goal": "Zurich to Lisbon",
    "trip": {
        "origin": "ZRH",
        "destination": "LIS",
        "date": "2026-12-24",
        "traveller": "Ada Example",
        "email": "ada@example.org",
        "cardToken": "tok-test",
    },
}


def trip_without(field: str) -> dict[str, Any]:
    """The order with one field of its trip left out."""
    return TRIP | {"trip": {k: v for k, v in TRIP["trip"].items() if k != field}}


def trip_with(**fields: object) -> dict[str, Any]:
    """The order with fields of its trip replaced."""
    return TRIP | {"trip": TRIP["trip"] | fields}
