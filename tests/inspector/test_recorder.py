"""What an isolate tells of its calls while somebody looks."""

from __future__ import annotations

import socket
import sys
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import msgpack  # type: ignore[import-untyped]  # it ships no types
import pytest

from localedge.errors import JsException
from localedge.isolate.recorder import Recorder
from localedge.isolate.secrets import Mask
from localedge.isolate.tool_calls import observe_tools
from localedge.probe import Call, Probe

pytestmark = pytest.mark.anyio


class Watched:
    """A probe with a recorder, and what it has sent."""

    def __init__(self) -> None:
        self.ours, self.theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.theirs.setblocking(False)
        self.probe = Probe()
        self.recorder = Recorder(
            self.probe, self.ours, pid=7, generation=2, mask=Mask(["hunter22"])
        )

    def sent(self) -> list[Any]:
        found = []
        while True:
            try:
                found.append(msgpack.unpackb(self.theirs.recv(65_536)))
            except BlockingIOError:
                return found


@pytest.fixture
def watched() -> Iterator[Watched]:
    one = Watched()
    yield one
    one.ours.close()
    one.theirs.close()


async def answer() -> str:
    return "hunter22 said"


async def failure() -> str:
    raise JsException("no hunter22", name="TypeError")


async def test_a_calls_beginning_and_end_are_sent_masked(watched: Watched) -> None:
    watched.recorder.watch(True)

    await watched.probe.run(Call("kv", "KV", "get", ("hunter22", {"type": "text"})), answer)

    (pid, generation, ray, level, began, _), (*_, ended, _) = watched.sent()
    assert (pid, generation, ray, level) == (7, 2, "", "seen")
    assert (began["kind"], began["type"], began["binding"]) == ("call.began", "kv", "KV")
    assert began["arguments"] == ['"***"', '{"type": "text"}']
    assert (ended["kind"], ended["call"]) == ("call.ended", began["call"])
    assert ended["result"] == '"*** said"'


async def test_what_a_call_raised_is_sent(watched: Watched) -> None:
    watched.recorder.watch(True)

    with pytest.raises(JsException):
        await watched.probe.run(Call("kv", "KV", "get"), failure)

    assert watched.sent()[1][4]["error"] == "TypeError: no ***"


async def test_nothing_is_sent_before_and_after_somebody_looks(watched: Watched) -> None:
    await watched.probe.run(Call("kv", "KV", "get"), answer)
    watched.recorder.watch(True)
    watched.recorder.watch(True)
    watched.recorder.watch(False)
    watched.recorder.watch(False)
    await watched.probe.run(Call("kv", "KV", "get"), answer)

    assert watched.sent() == []
    assert watched.probe.observers == ()


async def test_a_call_goes_on_when_nobody_takes_what_is_sent(watched: Watched) -> None:
    watched.recorder.watch(True)
    watched.ours.close()

    assert await watched.probe.run(Call("kv", "KV", "get"), answer) == "hunter22 said"


async def test_calls_of_tools_pass_the_probe(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    library: Any = ModuleType("edgestate")
    library.observe = None
    monkeypatch.setitem(sys.modules, "edgestate", library)
    observe_tools(watched.probe)

    unseen = await library.observe("search", {"to": "LIS"}, answer)
    watched.recorder.watch(True)
    await library.observe("search", {"to": "LIS"}, answer)

    assert unseen == "hunter22 said"
    began = watched.sent()[0][4]
    assert (began["type"], began["operation"]) == ("tool", "search")
    assert began["arguments"] == ['{"to": "LIS"}']


async def test_a_bundle_without_the_library_is_left_alone(
    watched: Watched, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delitem(sys.modules, "edgestate", raising=False)

    observe_tools(watched.probe)

    assert "edgestate" not in sys.modules
