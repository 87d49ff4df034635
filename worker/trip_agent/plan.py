"""The plan of a trip: which steps there are, and what doing one again would mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import date
from enum import StrEnum

from trip_agent.fields import Json, text
from trip_agent.refusal import bad_request


class Effect(StrEnum):
    """What a step does to the world outside, as far as doing it again is concerned."""

    READ = "read"
    IDEMPOTENT = "idempotent"
    NON_IDEMPOTENT = "non_idempotent"


EFFECTS: Mapping[str, Effect] = {
    "search_flights": Effect.READ,
    "hold_seat": Effect.IDEMPOTENT,
    "charge_card": Effect.NON_IDEMPOTENT,
    "send_email": Effect.NON_IDEMPOTENT,
}
"""Every action that a plan may have."""

AIRPORT = re.compile(r"[A-Z]{3}")


@dataclass(frozen=True, slots=True)
class PlannedStep:
    """A step before it has run: its action and what is known of its input."""

    action: str
    input: Json


def plan_trip(trip: Json) -> tuple[PlannedStep, ...]:
    """The steps that book `trip`.

    Errors: Refusal 400 that names the field which is missing or wrong.
    """
    return (
        PlannedStep("search_flights", _route(trip)),
        PlannedStep("hold_seat", {"traveller": text(trip, "traveller")}),
        PlannedStep("charge_card", {"cardToken": text(trip, "cardToken")}),
        PlannedStep("send_email", {"to": _address(trip)}),
    )


def idempotency_key(task_id: str, index: int) -> str:
    """The key of step `index` of a task: the same each time that the step is attempted."""
    return f"{task_id}:{index}"


def _route(trip: Json) -> Json:
    origin, destination, day = (text(trip, name) for name in ("origin", "destination", "date"))
    for name, value in (("origin", origin), ("destination", destination)):
        if not AIRPORT.fullmatch(value):
            raise bad_request(
                "field_invalid", f'The field "{name}" must be an airport of three capital letters.'
            )
    try:
        date.fromisoformat(day)
    except ValueError as exc:
        raise bad_request(
            "field_invalid", 'The field "date" must be a day such as 2026-12-24.'
        ) from exc
    return {"origin": origin, "destination": destination, "date": day}


def _address(trip: Json) -> str:
    address = text(trip, "email")
    if "@" not in address:
        raise bad_request("field_invalid", 'The field "email" must be an address with an "@".')
    return address
