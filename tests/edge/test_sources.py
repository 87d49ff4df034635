"""Plans from recorded sessions, scenarios and OpenAPI documents, and files that are none."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from localedge.errors import Exit, OperatorError
from localedge.gateway.recording import Body, Exchanged, Head
from localedge.port.verify.plan import Call, Cron, Recorded, Restart, Send
from localedge.port.verify.sources import read_plan

_SCENARIO = """
[match]
ticket = 'T-\\d+'
[[step]]
request = "post /orders"
json = { item = "hat" }
keep = { order = "orders.0.id" }
[[step]]
request = "GET /orders/${order}"
headers = { Accept = "text/plain" }
crash_when = "http://127.0.0.1:1/held"
[[step]]
call = "POST http://127.0.0.1:1/hold"
text = "now"
[[step]]
cron = "0 * * * *"
[[step]]
restart = true
"""
_API: dict[str, Any] = {
    "openapi": "3.1.0",
    "paths": {
        "/items/{id}": {
            "parameters": [{"name": "id", "in": "path", "schema": {"type": "integer"}}],
            "delete": {},
            "get": {
                "parameters": [
                    {"name": "q", "in": "query", "required": True, "schema": {"enum": ["a b"]}},
                    {"name": "unasked", "in": "query", "schema": {"type": "string"}},
                ]
            },
        },
        "/items": {
            "post": {
                "requestBody": {
                    "content": {
                        "application/json": {"schema": {"$ref": "#/components/schemas/Item"}}
                    }
                }
            }
        },
    },
    "components": {
        "schemas": {
            "Item": {
                "type": "object",
                "required": ["name", "tags"],
                "properties": {
                    "name": {"type": "string", "default": "hat"},
                    "tags": {"type": "array", "items": {"type": "string", "format": "uuid"}},
                    "left_out": {"type": "string"},
                },
            }
        }
    },
}


def written(folder: Path, name: str, text: str) -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_a_scenario_becomes_its_steps(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path, "s.toml", _SCENARIO))

    json_type = (("content-type", "application/json"),)
    assert plan.patterns == {"ticket": r"T-\d+"}
    assert plan.steps == (
        Send("POST", "/orders", json_type, b'{"item": "hat"}', keep={"order": "orders.0.id"}),
        Send(
            "GET",
            "/orders/${order}",
            (("accept", "text/plain"),),
            crash_when="http://127.0.0.1:1/held",
        ),
        Call("POST", "http://127.0.0.1:1/hold", b"now"),
        Cron("0 * * * *"),
        Restart(),
    )


def test_a_recorded_session_becomes_requests_with_what_they_got(tmp_path: Path) -> None:
    asked = Exchanged(
        method="PUT",
        target="/a?b=1",
        headers=[("host", "localhost:1"), ("content-length", "2"), ("x-own", "1")],
        body=Body.of(b"\xff\xfe"),
        status=201,
        answer_headers=[("content-type", "text/plain")],
        answer=Body.of(b"made"),
    )
    cron = Exchanged(method="GET", target="/cdn-cgi/handler/scheduled?cron=*+*+*+*+*", status=200)
    lines = [one.model_dump_json() for one in (Head(), asked, cron)]

    plan = read_plan(written(tmp_path, "session.jsonl", "\n".join(lines) + "\n"))

    then = Recorded(201, (("content-type", "text/plain"),), b"made")
    headers = (("host", "localhost:1"), ("x-own", "1"))
    assert plan.steps == (
        Send("PUT", "/a?b=1", headers, b"\xff\xfe", recorded=then),
        Cron("* * * * *"),
    )


def test_a_session_that_ends_in_the_middle_of_a_line_is_read_up_to_it(tmp_path: Path) -> None:
    whole = Exchanged(method="GET", target="/", status=200).model_dump_json()
    text = f"{Head().model_dump_json()}\n{whole}\n{whole[:20]}"

    plan = read_plan(written(tmp_path, "session.jsonl", text))

    assert len(plan.steps) == 1
    assert plan.notes == ("The last line of the session is not whole and was left out.",)


def test_an_openapi_document_becomes_a_request_for_each_operation(tmp_path: Path) -> None:
    plan = read_plan(written(tmp_path, "api.json", json.dumps(_API)))

    body = b'{"name": "hat", "tags": ["00000000-0000-4000-8000-000000000000"]}'
    assert plan.steps == (
        Send("POST", "/items", (("content-type", "application/json"),), body),
        Send("GET", "/items/1?q=a+b"),
        Send("DELETE", "/items/1"),
    )


def test_an_openapi_schema_that_contains_itself_ends(tmp_path: Path) -> None:
    node = {"type": "object", "properties": {"next": {"$ref": "#/components/schemas/Node"}}}
    content = {"application/json": {"schema": {"$ref": "#/components/schemas/Node"}}}
    document = {
        "openapi": "3.0.0",
        "paths": {"/nodes": {"post": {"requestBody": {"content": content}}}},
        "components": {"schemas": {"Node": node}},
    }

    (step,) = read_plan(written(tmp_path, "api.json", json.dumps(document))).steps

    assert isinstance(step, Send)
    assert b"next" in step.body


def test_without_a_file_the_front_page_is_asked_for() -> None:
    assert read_plan(None).steps == (Send("GET", "/"),)


@pytest.mark.parametrize(
    ("name", "text", "says"),
    [
        ("notes.txt", "hello", "is neither a recorded session"),
        ("x.json", '{"swagger": "2.0"}', "is neither a recorded session"),
        ("s.toml", "[[step]]\nrequest = 'GET'", 'a request is "METHOD /path"'),
        ("s.toml", "[[step]]\ncall = 'GET /'", "a call"),
        ("s.toml", "[[step]]\nrequest = 'GET /'\ncron = 'x'", "a step has one of"),
        ("s.toml", "[[step]]\nrestart = true\ntext = 'x'", "only a request or a call"),
        ("s.toml", "[[step]]\ncron = 'x'\nkeep = { a = 'b' }", "only a request has"),
        ("s.toml", "[[step]]\nrequst = 'GET /'", "requst: Extra inputs"),
        ("s.toml", "step = 3", "not iterable"),
        ("s.toml", "[[step]]\nrequest = 'GET /${id}'", "no step before it keeps 'id'"),
        ("s.toml", "[[", "s.toml"),
        ("s.jsonl", '{"localedge":"session","version":1}\n{"method":1}\n', "line 2 is no request"),
        ("s.jsonl", '{"localedge":"session","version":1}\n' * 2, "line 2: sessions cannot"),
    ],
)
def test_a_file_that_is_no_plan_is_refused(tmp_path: Path, name: str, text: str, says: str) -> None:
    file = written(tmp_path, name, text)

    with pytest.raises(OperatorError) as caught:
        read_plan(file)

    assert says in str(caught.value)
    assert caught.value.exit == Exit.USAGE


def test_a_file_that_is_not_there_is_told_of(tmp_path: Path) -> None:
    with pytest.raises(OperatorError, match="No such file") as caught:
        read_plan(tmp_path / "gone.toml")

    assert caught.value.exit == Exit.USAGE
