"""Request and Response where the recorded answers do not reach."""

from __future__ import annotations

import gzip
from http import HTTPMethod, HTTPStatus
from typing import Any

import pytest
from tests.sdk.conftest import Client, LoadWorker

from localedge.errors import JsException
from localedge.sdk import web
from localedge.stream import ReadableStream

pytestmark = [pytest.mark.anyio, pytest.mark.usefixtures("platform")]


async def pieces(*parts: bytes) -> Any:
    for part in parts:
        yield part


def incoming(body: Any = None, headers: list[tuple[str, str]] | None = None) -> Any:
    """A request as the runtime gives it to a worker."""
    import workers

    return workers.Request._of(web.Request("POST", "https://a.test/x?y=1", headers or [], body))


def test_the_method_is_an_http_method_and_equals_its_text() -> None:
    request = incoming()

    assert request.method is HTTPMethod.POST
    assert request.method == "POST"


def test_headers_are_found_in_any_case_and_missing_ones_are_none() -> None:
    headers = incoming(headers=[("x-a", "1"), ("x-b", " 2 ")]).headers

    assert (headers["X-A"], headers["x-b"], headers["nope"]) == ("1", "2", None)
    assert "X-a" in headers
    assert headers.get("nope", "other") == "other"


def test_repeated_request_headers_are_joined_but_cookies_are_not() -> None:
    headers = incoming(headers=[("a", "1"), ("a", "2"), ("set-cookie", "x"), ("set-cookie", "y")])

    assert headers.headers["a"] == "1, 2"
    assert headers.headers.get_all("set-cookie") == ["x", "y"]


def test_changing_the_headers_of_a_response_does_not_change_the_response() -> None:
    import workers

    response = workers.Response("x")

    response.headers["x-late"] = "1"

    assert response.headers["x-late"] is None


async def test_a_streamed_body_is_read_whole() -> None:
    request = incoming(ReadableStream(pieces(b'{"a"', b": 1}")))

    assert await request.json() == {"a": 1}
    assert request.body_used


async def test_json_passes_its_options_to_the_standard_library() -> None:
    request = incoming(b'{"a": 1.5}')

    assert await request.json(parse_float=str) == {"a": "1.5"}


async def test_a_missing_body_reads_as_empty_and_is_never_used() -> None:
    request = incoming()

    assert (await request.text(), await request.bytes(), request.body_used) == ("", b"", False)


async def test_the_body_can_be_walked_piece_by_piece() -> None:
    request = incoming(ReadableStream(pieces(b"ab", b"c")))

    assert [chunk.to_bytes() async for chunk in request.body] == [b"ab", b"c"]


def test_the_body_of_a_request_without_one_is_null() -> None:
    from pyodide.ffi import jsnull

    assert incoming().body is jsnull


async def test_buffer_and_blob_hold_the_bytes() -> None:
    request = incoming(b"\x00\x01", [("content-type", "image/png")])

    blob = await request.clone().blob()

    assert (await request.buffer()).to_bytes() == b"\x00\x01"
    assert (blob.size, blob.content_type, await blob.bytes()) == (2, "image/png", b"\x00\x01")


async def test_both_halves_of_a_cloned_stream_have_everything() -> None:
    request = incoming(ReadableStream(pieces(b"a", b"b")))

    copy = request.clone()

    assert (await request.text(), await copy.text()) == ("ab", "ab")


async def test_text_drops_a_byte_order_mark_and_replaces_broken_bytes() -> None:
    assert await incoming(b"\xef\xbb\xbfa\xff").text() == "a\ufffd"


def test_cf_is_none_or_has_attributes() -> None:
    import workers

    cf = {"colo": "VIE", "asn": 1}
    request = workers.Request._of(web.Request("GET", "https://a.test/", (), None, cf))

    assert incoming().cf is None
    assert (request.cf.colo, request.cf.asn) == ("VIE", 1)


def test_a_js_request_takes_no_options_beside_it() -> None:
    import workers

    with pytest.raises(ValueError, match=r"Expected no options when constructing Request"):
        workers.Request(incoming().js_object, method="GET")


@pytest.mark.parametrize("method", ["put", HTTPMethod.PUT, "PUT"])
def test_a_method_is_made_upper_case(method: Any) -> None:
    import workers

    assert workers.Request("https://a.test", method=method).method == "PUT"


@pytest.mark.parametrize(
    ("options", "text"),
    [
        ({"method": "FOO"}, "Invalid HTTP method string: FOO"),
        ({"redirect": "error"}, "Invalid redirect value"),
        ({"headers": {"a b": "1"}}, "Invalid header name"),
        ({"headers": {"a": "1\n2"}}, "Invalid header value"),
    ],
)
def test_bad_options_of_a_request_are_refused(options: dict[str, Any], text: str) -> None:
    import workers

    with pytest.raises(JsException, match=text):
        workers.Request("https://a.test", **options)


@pytest.mark.parametrize(
    ("given", "seen"),
    [
        ("HTTPS://EXAMPLE.com", "https://example.com/"),
        ("https://a.test:443/a/../b c?q=ü", "https://a.test/b%20c?q=%C3%BC"),
        ("https://bücher.test/", "https://xn--bcher-kva.test/"),
    ],
)
def test_the_url_is_normalized(given: str, seen: str) -> None:
    import workers

    assert workers.Request(given).url == seen


async def test_taking_over_a_request_uses_up_its_body() -> None:
    import workers

    first = workers.Request("https://a.test", method="POST", body="x")

    second = workers.Request(first)

    assert first.body_used
    assert await second.text() == "x"


@pytest.mark.parametrize(
    ("body", "content_type"),
    [
        ("text", "text/plain;charset=UTF-8"),
        (b"bytes", None),
        (None, None),
    ],
)
def test_a_response_body_implies_its_content_type(body: Any, content_type: str | None) -> None:
    import workers

    assert workers.Response(body).headers.get("content-type") == content_type


@pytest.mark.parametrize("body", [[], 1.5, True, object(), (1,), {1}])
def test_a_response_body_of_another_type_is_refused(body: Any) -> None:
    import workers

    kind = type(body).__name__
    with pytest.raises(TypeError, match=f"^Unsupported type in Response: {kind}$"):
        workers.Response(body)


def test_an_object_of_the_platform_that_is_no_body_is_refused() -> None:
    import workers
    from pyodide.ffi import to_js

    with pytest.raises(TypeError, match=r"^Unsupported type in Response: Object$"):
        workers.Response(to_js({"a": 1}))


async def test_a_response_can_be_made_of_platform_bodies() -> None:
    import js
    import workers

    bodies = [
        js.URLSearchParams.new("a=1&b=2"),
        js.Uint8Array.new([104, 105]),
        js.Blob.new(["hi"], type="text/x"),
        workers.Response("hi").body,
    ]

    made = [workers.Response(body) for body in bodies]

    assert [await response.text() for response in made] == ["a=1&b=2", "hi", "hi", "hi"]
    assert [response.headers["content-type"] for response in made] == [
        "application/x-www-form-urlencoded;charset=UTF-8",
        None,
        "text/x",
        None,
    ]


@pytest.mark.parametrize("status", [204, 205, 304, 101])
def test_a_status_without_a_body_takes_none(status: int) -> None:
    import workers

    with pytest.raises(JsException) as raised:
        workers.Response("", status=status)

    assert raised.value.name == "TypeError"
    assert workers.Response(None, status=status).status == status


def test_a_redirect_with_another_status_is_a_value_error() -> None:
    import workers

    with pytest.raises(ValueError, match="redirect"):
        workers.Response.redirect("https://a.test/", 200)


def test_a_redirect_takes_a_status_of_the_standard_library() -> None:
    import workers

    assert workers.Response.redirect("https://a.test/", HTTPStatus.SEE_OTHER).status == 303


async def test_json_of_a_platform_object_is_made_by_the_platform() -> None:
    import workers
    from pyodide.ffi import to_js

    response = workers.Response.json(to_js({"a": [1, None]}))

    assert await response.text() == '{"a":[1,null]}'
    assert response.headers["content-type"] == "application/json"


async def test_bytes_memoryview_and_string_read_the_same_body() -> None:
    import workers

    response = workers.Response("hü")

    copies = [response.clone() for _ in range(2)]

    assert await copies[0].memoryview() == "hü".encode()
    assert await copies[1].string() == "hü"
    assert await response.bytes() == "hü".encode()


def test_the_body_of_an_empty_response_is_none() -> None:
    import workers

    assert workers.Response().body is None


async def test_replacing_the_body_leaves_the_old_response_alone() -> None:
    import workers

    old = workers.Response("old", headers={"x": "1"})

    new = old.replace_body(b"new")

    assert (await old.text(), await new.text(), new.headers["x"]) == ("old", "new", "1")


async def test_a_stream_given_to_a_response_reaches_the_client(
    load: LoadWorker, client: Client
) -> None:
    worker = load(
        """
        from workers import Response, WorkerEntrypoint

        class Default(WorkerEntrypoint):
            async def fetch(self, request):
                return Response(request.body, headers={"x-echo": "1"})
        """
    )

    answer = await client.send(worker, method="POST", body=ReadableStream(pieces(b"a", b"b")))

    assert (answer.text, answer.headers.get("x-echo")) == ("ab", "1")


CODING = """
import js
from workers import Response, WorkerEntrypoint
from pyodide.ffi import to_js

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        headers = {"content-encoding": "gzip"}
        return BODY
"""


@pytest.mark.parametrize(
    "body",
    [
        "Response('plain', headers=headers)",
        "Response(request.body, headers=headers)",
        "js.Response.new('plain', headers=to_js(headers))",
    ],
)
async def test_the_platform_compresses_what_the_headers_call_gzip(
    body: str, load: LoadWorker, client: Client
) -> None:
    worker = load(CODING.replace("BODY", body))
    sent = ReadableStream(pieces(b"pl", b"ain"))

    answer = await client.send(worker, method="POST", body=sent)

    assert gzip.decompress(answer.content) == b"plain"


async def test_what_the_worker_compressed_itself_is_left_alone(
    load: LoadWorker, client: Client
) -> None:
    worker = load(
        CODING.replace(
            "BODY", "js.Response.new('packed', headers=to_js(headers), encodeBody='manual')"
        )
    )

    assert (await client.send(worker)).content == b"packed"
