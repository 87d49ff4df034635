"""What `localedge dev --record` writes."""

from __future__ import annotations

import io
import stat
from pathlib import Path

import pytest

from localedge.errors import Exit, OperatorError
from localedge.gateway.application import Message, Receive, Send
from localedge.gateway.recording import LINE, LONGEST_BODY_BYTES, Exchanged, Recording, recorded
from localedge.gateway.requests import Scope

pytestmark = pytest.mark.anyio


class Worker:
    """Answers with `pieces`; the last one ends the body, unless it `breaks_off`."""

    def __init__(self, *pieces: bytes, breaks_off: bool = False) -> None:
        self._pieces = pieces
        self._breaks_off = breaks_off

    async def __call__(self, _scope: Scope, receive: Receive, send: Send) -> None:
        while (await receive()).get("more_body"):
            pass
        start: Message = {"type": "http.response.start", "status": 201}
        await send({**start, "headers": [(b"x-own", b"1")]})
        for piece in self._pieces:
            await send({"type": "http.response.body", "body": piece, "more_body": True})
        if not self._breaks_off:
            await send({"type": "http.response.body", "body": b"", "more_body": False})


async def lines(worker: Worker, *body: bytes, path: str = "/a") -> list[Exchanged]:
    file = io.StringIO()
    pieces = [*body]

    async def receive() -> Message:
        piece = pieces.pop(0) if pieces else b""
        return {"type": "http.request", "body": piece, "more_body": bool(pieces)}

    async def send(_message: Message) -> None:
        return

    scope: Scope = {
        "type": "http",
        "method": "POST",
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"b=%20",
        "headers": [(b"host", b"localhost")],
    }
    await Recording(worker, file)(scope, receive, send)
    found = [LINE.validate_json(line) for line in file.getvalue().splitlines()]
    return [one for one in found if isinstance(one, Exchanged)]


async def test_a_request_is_recorded_with_its_answer() -> None:
    (found,) = await lines(Worker(b"ma", b"de"), b"ha", b"t")

    assert (found.method, found.target, found.body.data) == ("POST", "/a?b=%20", b"hat")
    assert (found.status, found.answer_headers) == (201, [("x-own", "1")])
    assert (found.headers, found.answer.data) == ([("host", "localhost")], b"made")


async def test_bytes_that_are_no_text_are_kept() -> None:
    (found,) = await lines(Worker(b"\xfe\xff"), b"\xff\xfe")

    assert (found.body.data, found.answer.data) == (b"\xff\xfe", b"\xfe\xff")


async def test_an_answer_that_breaks_off_is_left_out() -> None:
    assert await lines(Worker(b"ma", breaks_off=True)) == []


async def test_what_is_too_long_to_be_held_is_left_out() -> None:
    assert await lines(Worker(b"x" * (LONGEST_BODY_BYTES + 1))) == []
    assert await lines(Worker(), b"x" * (LONGEST_BODY_BYTES + 1)) == []


async def test_control_requests_are_not_the_workers_but_a_cron_is() -> None:
    assert await lines(Worker(), path="/cdn-cgi/localedge/status") == []
    assert len(await lines(Worker(), path="/cdn-cgi/handler/scheduled")) == 1


async def test_a_session_can_be_read_by_its_owner_only(tmp_path: Path) -> None:
    file = tmp_path / "session.jsonl"

    with recorded(file):
        mode = stat.S_IMODE(file.stat().st_mode)

    assert mode == 0o600


@pytest.mark.parametrize("name", ["there.jsonl", "no/such/folder.jsonl"])
async def test_a_session_never_takes_the_place_of_a_file(tmp_path: Path, name: str) -> None:
    (tmp_path / "there.jsonl").write_text("mine")

    with pytest.raises(OperatorError) as caught, recorded(tmp_path / name):
        pass

    assert caught.value.exit == Exit.USAGE
    assert (tmp_path / "there.jsonl").read_text() == "mine"
