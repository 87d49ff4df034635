"""What a stranger cannot do: control us, smuggle, hold connections, or make us fall over."""

from __future__ import annotations

import asyncio
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


async def raw(server: Edge, request: bytes, *, is_all: bool = False) -> bytes:
    """Everything that the server answers to `request` on a connection of its own.

    Shape: `is_all` tells the server that nothing follows, which ends requests that are not whole.
    """
    reader, writer = await asyncio.open_connection("127.0.0.1", server.run.port)
    writer.write(request)
    if is_all:
        writer.write_eof()
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


async def test_control_answers_only_to_our_own_names_and_pages(tmp_path: Path) -> None:
    write_project(tmp_path, PATHS)

    async with edge(tmp_path) as server:
        port = server.run.port
        rebound = await server.get(STATUS, headers={"host": f"evil.example:{port}"})
        other_port = await server.get(STATUS, headers={"host": "127.0.0.1:1"})
        cross_site = await server.get(STATUS, headers={"origin": "https://evil.example"})
        null = await server.get(STATUS, headers={"origin": "null"})
        fetched = await server.get(SCHEDULED, headers={"sec-fetch-site": "cross-site"})
        localhost = await server.get(STATUS, headers={"host": f"localhost:{port}"})
        own_page = await server.get(STATUS, headers={"origin": f"http://localhost:{port}"})
        log = server.logged()

    refused = (rebound, other_port, cross_site, null, fetched)
    assert [answer.status_code for answer in refused] == [403] * 5
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
    b"GET / HTTP/1.1\r\nhost: a\r\nhost: b\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost : a\r\n\r\n",
    b"GET / HTTP/1.1\r\nhost: a\r\nbad\x00name: b\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ncontent-length: 4\r\n\r\nabcd",
    b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: +3\r\n\r\nabc",
    b"POST / HTTP/1.1\r\nhost: a\r\ncontent-length: 3\r\ntransfer-encoding: chunked\r\n\r\n"
    b"0\r\n\r\nGET /smuggled HTTP/1.1\r\nhost: a\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked, identity\r\n\r\nabc",
    b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: xchunked\r\n\r\n0\r\n\r\n",
    b"POST / HTTP/1.1\r\nhost: a\r\ntransfer-encoding: chunked\r\n\r\nZZ\r\nabc\r\n0\r\n\r\n",
]


async def test_malformed_and_ambiguous_requests_never_reach_the_worker(tmp_path: Path) -> None:
    write_project(tmp_path, PATHS)

    async with edge(tmp_path) as server:
        answers = {sent: await raw(server, sent, is_all=True) for sent in MALFORMED}
        after = await server.get("/")
        log = server.logged()

    accepted = [sent for sent, got in answers.items() if got[:12] not in (b"HTTP/1.1 400", b"")]
    assert accepted == []
    assert not [got for got in answers.values() if b" 200 " in got]
    assert "post body" not in log
    assert after.status_code == 200


async def test_oversized_urls_and_headers_are_refused(tmp_path: Path) -> None:
    write_project(tmp_path, PATHS)

    async with edge(tmp_path) as server:
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
    tmp_path: Path,
) -> None:
    write_project(tmp_path, PATHS)
    paths = ["//cdn-cgi/localedge/x", "/x/../cdn-cgi/localedge/x", "/cdn-cgi", "/CDN-CGI/x"]

    async with edge(tmp_path) as server:
        answers = [
            await raw(
                server, f"GET {path} HTTP/1.1\r\nhost: evil\r\nconnection: close\r\n\r\n".encode()
            )
            for path in paths
        ]

    saw = [answer.rpartition(b"worker saw http://evil")[2].decode() for answer in answers]
    assert saw == paths


async def test_an_encoded_control_path_is_guarded_like_the_plain_one(tmp_path: Path) -> None:
    write_project(tmp_path, PATHS)

    async with edge(tmp_path) as server:
        answer = await raw(
            server,
            b"POST /%63dn-cgi/localedge/kill HTTP/1.1\r\nhost: evil\r\nconnection: close\r\n\r\n",
        )

    assert answer.startswith(b"HTTP/1.1 403")


async def test_an_unknown_control_path_is_not_the_workers(tmp_path: Path) -> None:
    write_project(tmp_path, PATHS)

    async with edge(tmp_path) as server:
        answer = await server.get("/cdn-cgi/elsewhere")

    assert answer.status_code == 404


async def test_the_server_listens_on_loopback_only(tmp_path: Path) -> None:
    write_project(tmp_path, PATHS)

    async with edge(tmp_path) as server:
        with pytest.raises(ConnectionRefusedError):
            await asyncio.open_connection("127.0.0.2", server.run.port)
