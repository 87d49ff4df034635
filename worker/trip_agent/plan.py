"""The plan of a trip: which steps there are, and what doing one again would mean."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date

from pydantic import JsonValue

from edgestate import PlannedStep
from edgestate.statuses import Effect
from trip_agent.fields import Json, text
from trip_agent.refusal import bad_request

EFFECTS: Mapping[str, Effect] = {
    "search_flights": "read",
    "hold_seat": "idempotent",
    "charge_card": "non_idempotent",
    "send_email": "non_idempotent",
}
"""Every action that a plan may have, and what doing it again would mean."""

AIRPORT = re.compile(r"[A-Z]{3}")


def plan_trip(goal: str, trip: Json) -> list[PlannedStep]:
    """The steps that book `trip`.

    Errors: Refusal 400 that names the field which is missing or wrong.
    """
    return [
        PlannedStep("search_flights", _route(trip)),
        PlannedStep("hold_seat", {"traveller": text(trip, "traveller")}),
        PlannedStep("charge_card", {"cardToken": text(trip, "cardToken")}),
        PlannedStep("send_email", {"to": _address(trip), "about": goal}),
    ]


def _route(trip: Json) -> dict[str, JsonValue]:
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
