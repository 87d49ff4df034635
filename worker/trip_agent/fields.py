"""Reading the fields of a JSON body, with errors that name the field."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING

from trip_agent.refusal import Refusal, bad_request

if TYPE_CHECKING:
    from workers import Request

MAX_BODY_BYTES = 65_536
MAX_TEXT = 500

Json = Mapping[str, object]


async def read_object(request: Request) -> Json:
    """The body of `request`, which is a JSON object.

    Errors: Refusal 400 if it is not, 413 if it is longer than 64 KiB.
    """
    raw = await request.bytes()
    if len(raw) > MAX_BODY_BYTES:
        raise Refusal(413, "body_too_long", f"The body has {len(raw)} bytes; 65536 are allowed.")
    try:
        body = json.loads(raw)
    except (ValueError, RecursionError) as exc:
        raise bad_request("json_malformed", f"The body is not JSON: {exc}.") from exc
    if not isinstance(body, dict):
        raise bad_request("json_not_object", "The body must be a JSON object.")
    return body


def text(body: Json, name: str) -> str:
    """The field `name`, a text of 1 to 500 characters.

    Errors: Refusal 400 if it is missing, of another type, blank or longer.
    """
    value = body.get(name)
    if value is None:
        raise bad_request("field_missing", f'The field "{name}" is missing.')
    if not isinstance(value, str) or not value.strip():
        raise bad_request("field_invalid", f'The field "{name}" must be a text that is not blank.')
    if len(value) > MAX_TEXT:
        raise bad_request("field_invalid", f'The field "{name}" is longer than 500 characters.')
    if not value.isprintable():
        raise bad_request("field_invalid", f'The field "{name}" has characters that do not print.')
    return value


def optional_text(body: Json, name: str) -> str | None:
    """The field `name` as `text` reads it, or None where it is missing or null."""
    return None if body.get(name) is None else text(body, name)


def nested(body: Json, name: str) -> Json:
    """The field `name`, a JSON object.

    Errors: Refusal 400 if it is missing or of another type.
    """
    value = body.get(name)
    if value is None:
        raise bad_request("field_missing", f'The field "{name}" is missing.')
    if not isinstance(value, dict):
        raise bad_request("field_invalid", f'The field "{name}" must be a JSON object.')
    return value
