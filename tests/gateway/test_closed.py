"""What a stranger cannot do: control us, smuggle, hold connections, or make us fall over."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.runtime.edge import Edge, edge, worker, write_project

pytestmark = [pytest.mark.processes, pytest.mark.anyio]

PATHS = (
    worker("""
    if request.method == "POST":
        print("post body", await request.text())
    return Response("worker saw " + request.url)
""")
    + """
    async def scheduled(self, controller, env, ctx):
        print("scheduled ran")
"""
)


@pytest.fixture(scope="module")
async def server(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Edge]:
    """One server for the tests that leave it as they found it."""
    folder = tmp_path_factory.mktemp("closed")
    write_project(folder, PATHS)
    async with edge(folder) as running:
        yield running


async def raw(server: Edge, request: bytes) -> bytes:
    """Everything that the server answers to `request` until it ends the connection."""
    reader, writer = await asyncio.open_connection("127.0.0.1", server.run.port)
    writer.write(request)
    async with asyncio.timeout(10):
        try:
            answer = await reader.read()
        except ConnectionError:
            answer = b""
    writer.close()
    return answer


def own(server: Edge) -> str:
    """The server's own name."""
    return f"127.0.0.1:{server.run.port}"


STATUS = "/cdn-cgi/localedge/status"
KILL = "/cdn-cgi/localedge/kill"
SCHEDULED = "/cdn-cgi/handler/scheduled?cron=*"


def head(*lines: bytes) -> bytes:
    """A POST with the header lines of `lines`."""
    return b"\r\n".join([b"POST / HTTP/1.1", b"host: a", *lines, b"", b""])


CHUNKED = b"transfer-encoding: chunked"


async def test_control_answers_only_to_our_own_names_and_pages(server: Edge) -> None:
    port = server.run.port
    rebound = await server.get(STATUS, headers={"host": f"evil.example:{port}"})
    other_port = await server.get(STATUS, headers={"host": "127.0.0.1:1"})
    cross_site = await server.get(STATUS, headers={"origin": "https://evil.example"})
    null = await server.get(STATUS, headers={"origin": "null"})
    fetched = await server.get(SCHEDULED, headers={"sec-fetch-site": "cross-site"})
    localhost = await server.get(STATUS, headers={"host": f"localhost:{port}"})
    own_page = await server.get(STATUS, headers={"origin": f"http://localhost:{port}"})
    two = await server.get(
        STATUS, headers=[("origin", "https://evil.example"), ("origin", f"http://localhost:{port}")]
    )
    posted = await server.http.post(SCHEDULED, headers={"origin": "https://evil.example"})
    log = server.logged()

    refused = (rebound, other_port, cross_site, null, fetched, two, posted)
    assert [answer.status_code for answer in refused] == [403] * 7
    assert localhost.status_code == own_page.status_code == 200
    assert "scheduled ran" not in log


async def test_what_changes_something_needs_the_token(tmp_path: Path) -> None:
    write_project(tmp_path, PATHS)

    async with edge(tmp_path) as server:
        before = await server.wait_full()
        without = await server.http.post(KILL)
        wrong = await server.http.post(KILL, headers={"authorization": "Bearer wrong"})
        got = await server.get(KILL)
        after = await server.isolates()
        mode = (tmp_path / ".localedge" / "run.json").stat().st_mode & 0o777

    assert (without.status_code, wrong.status_code, got.status_code) == (403, 403, 405)
    assert before == after
    assert mode == 0o600
    assert server.run.token not in server.logged()


MALFORMED = [
    b"nonsense\r\n\r\n",
    b"GET / HTTP/1.1\r\n\r\n",
    b"GET /\r\n\r\n",
    b"GET / HTTP/2.0\r\nhost: a\r\n\r\n",
    b"GET / HTTP/1.1\nhost: a\n\n",
    b"GET /\x01 HTTP/1.1\r\nhost: a\r\n\r\n",
    b"GET no-slash HTTP/1.1\r\nhost: a\r\n\r\n",
    b"OPTIONS * HTTP/1.1\r\nhost: a\r\n\r\n",
    b"CONNECT a:80 HTTP/1.1\r\nhost: a\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost : a\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost:\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: a/b?c#d\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: user:pass@a\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: a, b\r\n\r\n",
    head(b"bad\x00name: b"),
    head(b"x: bad\x00value"),
    head(b"x: bad\rvalue"),
    head(b"x: folded", b" on"),
    head(b"no colon"),
    head(b": no name"),
]
AMBIGUOUS = [
    head(b"content-length: 3", b"content-length: 4") + b"abcd",
    head(b"content-length: 3", b"content-length: 3") + b"abc",
    head(b"content-length: 3, 3") + b"abc",
    head(b"content-length: +3") + b"abc",
    head(b"content-length: -3") + b"abc",
    head(b"content-length: 0x3") + b"abc",
    head(b"content-length: 3 3") + b"abc",
    head(b"content-length:") + b"abc",
    head(b"content-length: 99999999999999999999999") + b"abc",
    head(b"content-length: 3", CHUNKED) + b"0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n",
    head(CHUNKED, b"content-length: 3") + b"0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n",
    head(CHUNKED, CHUNKED) + b"0\r\n\r\n",
    head(b"transfer-encoding : chunked") + b"0\r\n\r\n",
    head(b"transfer-encoding: \x0bchunked") + b"0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n",
    head(b"transfer-encoding: xchunked") + b"0\r\n\r\n",
    head(b"transfer-encoding: gzip, chunked") + b"0\r\n\r\n",
    head(b"transfer-encoding: identity, chunked") + b"0\r\n\r\n",
    head(b"transfer-encoding: chunked, identity") + b"abc",
    head(CHUNKED).replace(b"HTTP/1.1", b"HTTP/1.0") + b"0\r\n\r\n",
    head(CHUNKED) + b"ZZ\r\nabc\r\n0\r\n\r\n",
    head(CHUNKED) + b"-3\r\nabc\r\n0\r\n\r\n",
    head(CHUNKED) + b"0x3\r\nabc\r\n0\r\n\r\n",
    head(CHUNKED) + b"FFFFFFFFFFFFFFFFF\r\nabc\r\n0\r\n\r\n",
    head(CHUNKED) + b"3\r\nabcdef\r\n0\r\n\r\n",
    head(CHUNKED) + b"3\nabc\n0\n\n",
    head(CHUNKED) + b"3;extension\nGET /smuggled HTTP/1.1\r\nabc\r\n0\r\n\r\n",
]


@pytest.mark.parametrize("requests", [MALFORMED, AMBIGUOUS], ids=["malformed", "ambiguous"])
async def test_such_requests_are_refused_and_never_reach_the_worker(
    server: Edge, requests: list[bytes]
) -> None:
    before = len(server.log)

    answers = {sent: await raw(server, sent) for sent in requests}
    after = await server.get("/")

    refusals = (b"HTTP/1.1 400 ", b"HTTP/1.1 505 ")
    assert {sent: got for sent, got in answers.items() if not got.startswith(refusals)} == {}
    assert {sent: got for sent, got in answers.items() if got.count(b"HTTP/1.1 ") != 1} == {}
    assert "post body" not in "".join(server.log[before:])
    assert after.status_code == 200


async def test_chunk_extensions_are_skipped_and_trailers_are_no_headers(server: Edge) -> None:
    body = b"3;name=value\r\nabc\r\n0\r\nhost: evil\r\nx-forged: 1\r\n\r\n"

    answer = await raw(server, head(CHUNKED, b"connection: close") + body)

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"worker saw http://a/")
    await server.wait_log("post body abc")


async def test_a_trailer_is_no_token(server: Edge) -> None:
    name, token = own(server).encode(), server.run.token.encode()
    order = b"POST %s HTTP/1.1\r\nhost: %s\r\nconnection: close\r\n%s\r\n\r\n"
    body = b"0\r\nauthorization: Bearer %s\r\n\r\n" % token

    answer = await raw(server, order % (KILL.encode(), name, CHUNKED) + body)

    assert answer.startswith(b"HTTP/1.1 403 ")


async def test_an_offer_of_another_protocol_is_declined(server: Edge) -> None:
    offer = b"GET / HTTP/1.1\r\nhost: a\r\nconnection: upgrade\r\nupgrade: h2c\r\n\r\n"

    answer = await raw(server, offer)

    assert answer.startswith(b"HTTP/1.1 200 ")
    assert b"connection: close" in answer


async def test_a_body_behind_such_an_offer_is_never_taken_for_a_request(server: Edge) -> None:
    smuggled = b"GET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n"
    length = b"content-length: %d" % len(smuggled)
    reader, writer = await asyncio.open_connection("127.0.0.1", server.run.port)

    writer.write(head(b"connection: upgrade", b"upgrade: h2c", length))
    async with asyncio.timeout(10):
        answer = await reader.readuntil(b"\r\n\r\n")
        writer.write(smuggled)
        try:
            rest = await reader.read()
        except ConnectionResetError:  # The server had closed before it was sent.
            rest = b""
    writer.close()

    assert answer.startswith(b"HTTP/1.1 400 ")
    assert rest == b""


async def test_oversized_urls_and_headers_are_refused(server: Edge) -> None:
    long_url = await raw(server, b"GET /%s HTTP/1.1\r\nhost: a\r\n\r\n" % (b"x" * 17_000))
    fits = await server.get("/" + "x" * 15_000)
    lines = b"".join(b"x-%d: %s\r\n" % (n, b"y" * 1000) for n in range(150))
    many = await raw(server, b"GET / HTTP/1.1\r\nhost: a\r\n%s\r\n" % lines)
    endless = await raw(server, b"GET / HTTP/1.1\r\nx: " + b"y" * 400_000)

    assert long_url.startswith(b"HTTP/1.1 414")
    assert fits.status_code == 200
    assert many.startswith(b"HTTP/1.1 431")
    assert endless[:12] in (b"HTTP/1.1 431", b"")


async def test_a_path_that_only_resembles_a_control_endpoint_is_the_workers(
    server: Edge,
) -> None:
    paths = [
        "//cdn-cgi/localedge/x",
        "/x/../cdn-cgi/localedge/x",
        "/%2e%2e/cdn-cgi/localedge/x",
        "/cdn-cgi",
        "/cdn-cgi;x/localedge/x",
        "/CDN-CGI/x",
    ]

    answers = [
        await raw(
            server, f"GET {path} HTTP/1.1\r\nhost: evil\r\nconnection: close\r\n\r\n".encode()
        )
        for path in paths
    ]

    saw = [answer.rpartition(b"worker saw http://evil")[2].decode() for answer in answers]
    assert saw == paths


@pytest.mark.parametrize(
    "path", ["/%63dn-cgi/localedge/kill", "/cdn-cgi%2flocaledge/kill", "/cdn-cgi//localedge/kill"]
)
async def test_an_encoded_control_path_is_guarded_like_the_plain_one(
    server: Edge, path: str
) -> None:
    order = f"POST {path} HTTP/1.1\r\nhost: evil\r\nconnection: close\r\n\r\n"

    answer = await raw(server, order.encode())

    assert answer.startswith(b"HTTP/1.1 403")


async def test_an_unknown_control_path_is_not_the_workers(server: Edge) -> None:
    answer = await server.get("/cdn-cgi/elsewhere")

    assert answer.status_code == 404


async def test_the_server_listens_on_loopback_only(server: Edge) -> None:
    with pytest.raises(ConnectionRefusedError):
        await asyncio.open_connection("127.0.0.2", server.run.port)
