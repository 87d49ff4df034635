"""Requests made from an OpenAPI 3 document: one for each operation, of its own examples."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any, Final
from urllib.parse import quote, urlencode

from localedge.port.verify.plan import Plan, Send

_METHODS: Final = ("get", "head", "options", "post", "put", "patch", "delete")
_RANKS: Final = {"POST": 0, "PUT": 1, "PATCH": 1, "DELETE": 3}
_PATH_NAME: Final = re.compile(r"\{([^}]+)\}")
_DEEPEST: Final = 8
_SAMPLES: Final[dict[str, Any]] = {
    "string": "text",
    "integer": 1,
    "number": 1.5,
    "boolean": True,
    "null": None,
}
_FORMATS: Final = {
    "date": "2026-01-02",
    "date-time": "2026-01-02T03:04:05Z",
    "uuid": "00000000-0000-4000-8000-000000000000",
    "email": "ada@example.org",
    "uri": "https://example.org/",
    "byte": "dGV4dA==",
}


def plan_of_document(document: Mapping[str, Any]) -> Plan:
    """A request for each operation of `document`: what creates first, what deletes last.

    Shape: values come from examples, defaults and enumerations, else they are made of the schema.
    """
    steps = [
        _request(document, path, method, item)
        for path, item in _table(document, "paths").items()
        for method in _METHODS
        if isinstance(item, dict) and method in item
    ]
    steps.sort(key=lambda step: _RANKS.get(step.method, 2))
    return Plan(tuple(steps))


def _request(document: Mapping[str, Any], path: str, method: str, item: dict[str, Any]) -> Send:
    operation = _table(item, method)
    given = [*item.get("parameters", []), *operation.get("parameters", [])]
    # An operation's own parameter takes the place of the path's.
    parameters = {
        (one.get("in"), str(one.get("name"))): one
        for one in (_resolved(document, each) for each in given)
    }
    values = {key: _text(_example(document, one)) for key, one in parameters.items()}
    target = _PATH_NAME.sub(lambda name: quote(values.get(("path", name[1]), "1"), safe=""), path)
    query = {
        name: values[place, name]
        for (place, name), one in parameters.items()
        if place == "query" and (one.get("required") or "example" in one)
    }
    target += f"?{urlencode(query)}" if query else ""
    headers = {name.lower(): text for (place, name), text in values.items() if place == "header"}
    kind, body = _body(document, operation)
    if kind:
        headers["content-type"] = kind
    return Send(method.upper(), target, tuple(headers.items()), body)


def _body(document: Mapping[str, Any], operation: Mapping[str, Any]) -> tuple[str, bytes]:
    content = _table(_resolved(document, _table(operation, "requestBody")), "content")
    for kind, media in content.items():
        value = _example(document, media)
        if "json" in kind:
            return kind, json.dumps(value).encode()
        if kind == "application/x-www-form-urlencoded" and isinstance(value, dict):
            return kind, urlencode({name: _text(one) for name, one in value.items()}).encode()
        if kind.startswith("text/"):
            return kind, _text(value).encode()
    return "", b""


def _example(document: Mapping[str, Any], holder: Mapping[str, Any]) -> Any:
    """The value that a parameter or a body shows, or one of its schema."""
    if "example" in holder:
        return holder["example"]
    for one in _table(holder, "examples").values():
        resolved = _resolved(document, one)
        if "value" in resolved:
            return resolved["value"]
    return _sample(document, _table(holder, "schema"), 0)


def _sample(document: Mapping[str, Any], schema: Mapping[str, Any], depth: int) -> Any:
    schema = _resolved(document, schema)
    for found in _said(schema):
        return found
    if depth > _DEEPEST:
        return None
    for joined in ("allOf", "oneOf", "anyOf"):
        parts = [_sample(document, one, depth + 1) for one in schema.get(joined, [])]
        if joined == "allOf" and parts and all(isinstance(one, dict) for one in parts):
            return {name: value for part in parts for name, value in part.items()}
        if parts:
            return parts[0]
    kind = schema.get("type", "object" if "properties" in schema else "string")
    kind = next((one for one in kind if one != "null"), "null") if isinstance(kind, list) else kind
    if kind == "object":
        properties = _table(schema, "properties")
        wanted = schema.get("required", properties)
        return {
            name: _sample(document, one, depth + 1)
            for name, one in properties.items()
            if name in wanted
        }
    if kind == "array":
        return [_sample(document, _table(schema, "items"), depth + 1)]
    if kind in ("integer", "number"):
        return max(schema.get("minimum", 1), 1)
    return _FORMATS.get(schema.get("format", ""), _SAMPLES.get(kind))


def _said(schema: Mapping[str, Any]) -> Iterator[Any]:
    """The values that the schema itself gives."""
    for key in ("example", "const", "default"):
        if key in schema:
            yield schema[key]
    for key in ("examples", "enum"):
        if isinstance(schema.get(key), list):
            yield from schema[key]


def _resolved(document: Mapping[str, Any], value: Any) -> Mapping[str, Any]:
    """`value`, or what its `$ref` into the document names; empty when there is nothing there."""
    for _ in range(_DEEPEST):
        if not isinstance(value, dict) or "$ref" not in value:
            break
        found: Any = document
        for part in str(value["$ref"]).removeprefix("#/").split("/"):
            name = part.replace("~1", "/").replace("~0", "~")
            found = found.get(name) if isinstance(found, dict) else None
        value = found
    return value if isinstance(value, dict) else {}


def _table(holder: Mapping[str, Any], key: str) -> dict[str, Any]:
    found = holder.get(key)
    return found if isinstance(found, dict) else {}


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value)
