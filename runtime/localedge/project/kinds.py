"""The kinds of value that wrangler asks for, each with wrangler's own refusal.

The texts are wrangler's because people search for them and recorded cases compare them.
Source: workers-sdk packages/workers-utils/src/config/validation-helpers.ts, read 2026-12-01.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from localedge.project.diagnostics import Diagnostics, Field
from localedge.project.document import Json, members, stringify, type_of

Check = Callable[[Diagnostics, Field, Json], bool]

_NAME = re.compile(r"(?:[a-z0-9_][a-z0-9_-]*)?")


def of_type(*types: str) -> Check:
    """A check for a value of one of JavaScript's `types`."""

    def check(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
        if type_of(value) in types:
            return True
        return diagnostics.error(
            f'Expected "{part.name}" to be of type {types[0]} but got {stringify(value)}.', part
        )

    return check


is_string = of_type("string")
is_boolean = of_type("boolean")
is_number = of_type("number")


def is_name(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` may be a worker's name."""
    if isinstance(value, str) and _NAME.fullmatch(value):
        return True
    return diagnostics.error(
        f'Expected "{part.name}" to be of type string, alphanumeric and lowercase with dashes '
        f"only but got {stringify(value)}.",
        part,
    )


def is_string_array(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` is an array of texts."""
    if isinstance(value, list) and all(isinstance(item, str) for item in value):
        return True
    return diagnostics.error(
        f'Expected "{part.name}" to be of type string array but got {stringify(value)}.', part
    )


def array_of(kind: str) -> Check:
    """A check for an array whose items are all of the JavaScript type `kind`."""

    def check(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
        if not isinstance(value, list):
            return diagnostics.error(
                f'Expected "{part.path}" to be an array of {kind}s but got {stringify(value)}',
                part,
            )
        wrong = [index for index, item in enumerate(value) if type_of(item) != kind]
        for index in wrong:
            diagnostics.error(
                f'Expected "{part.path}.[{index}]" to be of type {kind} '
                f"but got {stringify(value[index])}.",
                part.item(index),
            )
        return not wrong

    return check


def one_of(*choices: Json) -> Check:
    """A check for one of `choices`."""

    def check(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
        if any(type(value) is type(choice) and value == choice for choice in choices):
            return True
        return diagnostics.error(
            f'Expected "{part.path}" field to be one of {stringify(list(choices))} '
            f"but got {stringify(value)}.",
            part,
        )

    return check


def is_object(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` is an object and no array."""
    if isinstance(value, dict):
        return True
    return diagnostics.error(
        f'The field "{part.path}" should be an object but got {stringify(value)}.', part
    )


def is_array(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """Whether `value` is an array."""
    if isinstance(value, list):
        return True
    return diagnostics.error(
        f'The field "{part.path}" should be an array but got {stringify(value)}.', part
    )


@dataclass(frozen=True, slots=True)
class Property:
    """What is asked of one member of an object."""

    name: str
    kind: str
    choices: tuple[Json, ...] = ()
    is_required: bool = False


def properties(
    diagnostics: Diagnostics, part: Field, value: Json, *expected: Property, closed: bool = True
) -> bool:
    """Check the `expected` members of an object; with `closed`, warn of all others."""
    have = members(value)
    checks = [_property(diagnostics, part, have, one) for one in expected]
    if closed:
        diagnostics.unknown_keys(part, list(have), [one.name for one in expected])
    return all(checks)


def _property(
    diagnostics: Diagnostics, part: Field, have: dict[str, Json], expected: Property
) -> bool:
    name = f"{part.name}.{expected.name}"
    member = Field(name, name, (*part.keys, expected.name))
    if expected.name not in have:
        if expected.is_required:
            return diagnostics.error(f'"{name}" is a required field.', part)
        return True
    if not of_type(expected.kind)(diagnostics, member, have[expected.name]):
        return False
    if not expected.choices:
        return True
    return one_of(*expected.choices)(diagnostics, member, have[expected.name])


def anything(diagnostics: Diagnostics, part: Field, value: Json) -> bool:
    """True: nothing is asked of `value`."""
    return True
