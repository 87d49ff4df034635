"""Outgoing requests: what goes out, what comes back, redirects, failures."""

from __future__ import annotations

import gzip
from collections.abc import AsyncIterator, Callable
from typing import Any

import httpx
import pytest
from tests.sdk.conftest import Bench

from localedge.probe import Call, Outcome
from localedge.sdk.context import ExecutionContext, current

pytestmark = pytest.mark.anyio

Seen = list[httpx.Request]


@pytest.fixture
def seen(bench: Bench) -> Seen:
    """The requests that left; each is answered with its own method, URL and body."""
    requests: Seen = []

    async def answer(request: httpx.Request) -> httpx.Response:
        await request.aread()
        requests.append(request)
        text = f"{request.method} {request.url} {request.content.decode()}"
        return httpx.Response(200, text=text)

    bench.use(network=httpx.MockTransport(answer))
    return requests


@pytest.fixture
def routes(bench: Bench) -> Callable[..., Seen]:
    """`routes(**{path: response})` answers by path."""

    def use(**by_path: httpx.Response) -> Seen:
        requests: Seen = []

        async def answer(request: httpx.Request) -> httpx.Response:
            await request.aread()
            requests.append(request)
            found = by_path[request.url.path.strip("/")]
            return httpx.Response(found.status_code, headers=found.headers, content=found.content)

        bench.use(network=httpx.MockTransport(answer))
        return requests

    return use


def redirect(status: int, location: str) -> httpx.Response:
    return httpx.Response(status, headers={"location": location})


async def test_a_get_has_the_platforms_answer(seen: Seen) -> None:
    from workers import fetch

    response = await fetch("https://a.test/x?y=1")

    assert (response.status, response.ok, response.url) == (200, True, "https://a.test/x?y=1")
    assert await response.text() == "GET https://a.test/x?y=1 "


@pytest.mark.parametrize("body", ["text", b"text"])
async def test_a_post_carries_its_body_and_headers(body: Any, seen: Seen) -> None:
    from workers import fetch

    await fetch("https://a.test/", method="POST", body=body, headers={"X-A": "1"})

    assert (seen[0].method, seen[0].content, seen[0].headers["x-a"]) == ("POST", b"text", "1")
    assert seen[0].headers["content-length"] == "4"


async def test_a_form_goes_out_as_multipart(seen: Seen) -> None:
    from workers import FormData, fetch

    await fetch("https://a.test/", method="POST", body=FormData({"a": "1"}))

    assert seen[0].headers["content-type"].startswith("multipart/form-data; boundary=")
    assert b'name="a"\r\n\r\n1\r\n' in seen[0].content


async def test_a_request_object_goes_out_whole(seen: Seen) -> None:
    from workers import Request, fetch

    await fetch(Request("https://a.test/p", method="PUT", body="b", headers={"k": "v"}))

    assert (seen[0].method, seen[0].content, seen[0].headers["k"]) == ("PUT", b"b", "v")


async def test_the_host_header_follows_the_url(seen: Seen) -> None:
    from workers import fetch

    await fetch("https://a.test/", headers={"host": "other.test", "connection": "close"})

    assert seen[0].headers["host"] == "a.test"
    assert "connection" not in seen[0].headers


async def test_no_user_agent_is_added(seen: Seen) -> None:
    from workers import fetch

    await fetch("https://a.test/")

    assert "user-agent" not in seen[0].headers


async def test_options_are_keywords_only(seen: Seen) -> None:
    from workers import fetch

    with pytest.raises(TypeError, match=r"takes 1 positional argument but 2 were given"):
        await fetch("https://a.test/", {"method": "POST"})  # type: ignore[call-arg]


@pytest.mark.parametrize("error", [httpx.ConnectError("x"), httpx.ReadTimeout("x")])
async def test_a_network_failure_is_an_os_error(error: Exception, bench: Bench) -> None:
    from workers import fetch

    def fail(request: httpx.Request) -> httpx.Response:
        raise error

    bench.use(network=httpx.MockTransport(fail))

    with pytest.raises(OSError):
        await fetch("https://a.test/")


async def test_what_is_no_url_is_the_platforms_error(seen: Seen) -> None:
    from pyodide.ffi import JsException
    from workers import fetch

    with pytest.raises(JsException) as caught:
        await fetch("nope")

    assert (caught.value.name, seen) == ("TypeError", [])


@pytest.mark.parametrize("url", ["ftp://a.test/", "data:text/plain,x"])
async def test_a_url_that_cannot_be_fetched_is_an_os_error(url: str, seen: Seen) -> None:
    from workers import fetch

    with pytest.raises(OSError):
        await fetch(url)

    assert seen == []


@pytest.mark.parametrize(
    ("status", "method", "followed_by", "body"),
    [
        (301, "POST", "GET", b""),
        (302, "POST", "GET", b""),
        (303, "PUT", "GET", b""),
        (307, "POST", "POST", b"x"),
        (308, "PUT", "PUT", b"x"),
        (301, "PUT", "PUT", b"x"),
    ],
)
async def test_a_redirect_is_followed(
    status: int, method: str, followed_by: str, body: bytes, routes: Callable[..., Seen]
) -> None:
    from workers import fetch

    requests = routes(a=redirect(status, "/b"), b=httpx.Response(200, text="end"))

    response = await fetch("https://a.test/a", method=method, body="x")

    assert (await response.text(), response.redirected) == ("end", True)
    assert response.url == "https://a.test/b"
    assert (requests[1].method, requests[1].content) == (followed_by, body)


async def test_a_manual_redirect_is_returned(routes: Callable[..., Seen]) -> None:
    from workers import fetch

    requests = routes(a=redirect(302, "/b"))

    response = await fetch("https://a.test/a", redirect="manual")

    assert (response.status, response.headers["location"]) == (302, "/b")
    assert (response.redirected, len(requests)) == (False, 1)


async def test_a_redirect_elsewhere_drops_the_authorization(routes: Callable[..., Seen]) -> None:
    from workers import fetch

    requests = routes(a=redirect(302, "https://b.test/b"), b=httpx.Response(200))

    await fetch("https://a.test/a", headers={"authorization": "secret", "x": "1"})

    assert "authorization" not in requests[1].headers
    assert requests[1].headers["x"] == "1"


async def test_a_redirect_without_end_is_given_up(routes: Callable[..., Seen]) -> None:
    from workers import fetch

    requests = routes(a=redirect(302, "/a"))

    with pytest.raises(OSError, match="Too many redirects"):
        await fetch("https://a.test/a")

    assert len(requests) == 21


async def test_a_streamed_body_cannot_be_sent_again(routes: Callable[..., Seen]) -> None:
    from workers import Response, fetch

    routes(a=redirect(307, "/b"))

    with pytest.raises(OSError, match="one-time-use body"):
        await fetch("https://a.test/a", method="POST", body=Response("x").body)


async def test_cookies_are_not_kept_between_requests(routes: Callable[..., Seen]) -> None:
    from workers import fetch

    requests = routes(a=httpx.Response(200, headers={"set-cookie": "s=1"}))

    for _ in range(2):
        await fetch("https://a.test/a")

    assert "cookie" not in requests[1].headers


async def test_a_compressed_answer_arrives_decoded(routes: Callable[..., Seen]) -> None:
    from workers import fetch

    packed = httpx.Response(200)
    packed.headers["content-encoding"] = "gzip"
    packed._content = gzip.compress(b"plain")
    routes(a=packed)

    response = await fetch("https://a.test/a")

    assert await response.text() == "plain"
    assert response.headers["content-encoding"] is None


async def test_the_answer_is_read_as_it_arrives(bench: Bench) -> None:
    from workers import fetch

    sent: list[int] = []

    async def slow() -> AsyncIterator[bytes]:
        for number in range(3):
            sent.append(number)
            yield str(number).encode()

    bench.use(network=httpx.MockTransport(lambda _: httpx.Response(200, content=slow())))
    response = await fetch("https://a.test/")

    first = await response.body.getReader().read()

    assert first.value.to_bytes() == b"0"
    assert sent == [0]


async def test_an_answer_that_nobody_read_is_closed_with_the_event(bench: Bench) -> None:
    from workers import fetch

    answers: list[httpx.Response] = []

    async def endless() -> AsyncIterator[bytes]:
        while True:
            yield b"x"

    def answer(_: httpx.Request) -> httpx.Response:
        answers.append(httpx.Response(200, content=endless()))
        return answers[-1]

    bench.use(network=httpx.MockTransport(answer))
    context = ExecutionContext()
    current.set(context)

    await fetch("https://a.test/")
    await context.drain(1)

    assert answers[0].is_closed


async def test_the_probe_sees_each_fetch_and_how_it_ended(bench: Bench, seen: Seen) -> None:
    from workers import fetch

    log: list[Any] = []

    class Watching:
        async def before(self, call: Call) -> None:
            log.append((call.kind, call.operation, call.arguments))

        async def after(self, call: Call, outcome: Outcome) -> None:
            log.append(getattr(outcome.value, "status", None))

    detach = bench.probe.attach(Watching())

    await fetch("https://a.test/x", method="POST", body="b")
    detach()

    assert log == [("fetch", "fetch", ("POST", "https://a.test/x")), 200]


async def test_a_fetcher_replaces_the_network(seen: Seen) -> None:
    import js
    from workers import fetch

    async def fetcher(url: Any, options: Any) -> Any:
        return js.Response.new(f"{url} {options.method}")

    response = await fetch("https://a.test/x", method="PUT", fetcher=fetcher)

    assert await response.text() == "https://a.test/x PUT"
    assert seen == []


async def test_pyfetch_and_js_fetch_reach_the_same_network(seen: Seen) -> None:
    import js
    from pyodide.ffi import to_js
    from pyodide.http import pyfetch

    first = await pyfetch("https://a.test/1", method="POST", body="x")
    second = await js.fetch("https://a.test/2", to_js({"method": "POST", "headers": {"a": "b"}}))

    assert await first.string() == "POST https://a.test/1 x"
    assert (await second.text(), seen[1].headers["a"]) == ("POST https://a.test/2 ", "b")


async def test_js_fetch_raises_the_platforms_error(bench: Bench) -> None:
    import js
    from pyodide.ffi import JsException

    def fail(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("x")

    bench.use(network=httpx.MockTransport(fail))

    with pytest.raises(JsException, match="Network connection lost"):
        await js.fetch("https://a.test/")
