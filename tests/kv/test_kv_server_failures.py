"""A server that is stopped, killed, restarted, or has something else in our keys."""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from tests.kv.conftest import BindingOf
from tests.waiting import wait_until

from localedge.errors import Exit, JsException, OperatorError
from localedge.kv.redis import DEADLINE_S, RedisConnection, connect
from localedge.supervisor import valkey

pytestmark = pytest.mark.anyio

BROKEN = {
    "get": "KV GET failed: 500 Internal Server Error",
    "getWithMetadata": "KV GET failed: 500 Internal Server Error",
    "put": "KV PUT failed: 500 Internal Server Error",
    "delete": "KV DELETE failed: 500 Internal Server Error",
    "list": "KV GET failed: 500 Internal Server Error",
}
ARGUMENTS: dict[str, list[str]] = {"put": ["k", "v"], "list": []}


@dataclass
class Server:
    """A server of the test's own, on one socket and one data folder, that can be killed."""

    data: Path
    socket: Path
    process: asyncio.subprocess.Process

    @classmethod
    async def start(cls, data: Path, socket: Path) -> Server:
        process = await asyncio.create_subprocess_exec(*valkey.command(data, socket))
        await valkey.wait_ready(socket, timeout_s=20)
        return cls(data, socket, process)

    def signal(self, number: signal.Signals) -> None:
        os.kill(self.process.pid, number)

    async def kill(self) -> None:
        self.process.kill()
        await self.process.wait()

    @property
    def url(self) -> str:
        return f"unix://{self.socket}"


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[Server]:
    folder = valkey.socket_folder()
    data = tmp_path / "kv"
    data.mkdir()
    started = await Server.start(data, folder.path / "s")
    yield started
    if started.process.returncode is None:
        await started.kill()
    folder.remove()


@pytest.fixture
async def own_connection(server: Server) -> AsyncIterator[RedisConnection]:
    async with connect(server.url) as opened:
        yield opened


@pytest.fixture
def own_kv(own_connection: RedisConnection, binding_of: BindingOf) -> Any:
    return binding_of(own_connection.store("own"))


async def failure(call: Any) -> tuple[str, float]:
    """What a call raised, and after how many seconds."""
    started = time.monotonic()
    with pytest.raises(JsException) as caught:
        await call
    return caught.value.message, time.monotonic() - started


@pytest.mark.slow
async def test_a_stopped_server_is_an_error_within_two_seconds_and_well_when_it_goes_on(
    server: Server, own_kv: Any
) -> None:
    await own_kv.put("k", "v")

    server.signal(signal.SIGSTOP)
    answers = await asyncio.gather(
        *(failure(getattr(own_kv, m)(*ARGUMENTS.get(m, ["k"]))) for m in BROKEN)
    )
    server.signal(signal.SIGCONT)

    assert [text for text, _ in answers] == list(BROKEN.values())
    assert max(seconds for _, seconds in answers) < 2
    assert await own_kv.get("k") == "v"


@pytest.mark.slow
async def test_a_large_value_to_a_stopped_server_is_an_error_within_two_seconds(
    server: Server, own_kv: Any
) -> None:
    await own_kv.put("k", "v")

    server.signal(signal.SIGSTOP)
    text, seconds = await failure(own_kv.put("k", b"x" * 26_214_400))
    server.signal(signal.SIGCONT)

    assert text == BROKEN["put"]
    assert seconds < 2
    assert await own_kv.get("k") == "v"


async def test_a_killed_server_is_an_error_and_loses_nothing_acknowledged(
    server: Server, own_kv: Any
) -> None:
    for number in range(200):
        await own_kv.put(f"k{number}", str(number), metadata={"n": number})

    await server.kill()
    text, seconds = await failure(own_kv.get("k1"))
    back = await Server.start(server.data, server.socket)
    found = [await own_kv.getWithMetadata(f"k{number}") for number in range(200)]
    await back.kill()

    assert text == BROKEN["get"]
    assert seconds < 2
    assert [f["value"] for f in found] == [str(number) for number in range(200)]
    assert found[7]["metadata"] == {"n": 7}


async def test_a_call_made_while_the_server_restarts_waits_for_it(
    server: Server, own_kv: Any
) -> None:
    await own_kv.put("k", "v")
    await server.kill()

    reading = asyncio.ensure_future(own_kv.get("k"))
    back = await Server.start(server.data, server.socket)
    value = await reading
    await back.kill()

    assert value == "v"


async def test_a_call_that_nobody_waits_for_any_more_goes_on(kv: Any) -> None:
    putting = asyncio.ensure_future(kv.put("k", "v"))
    await asyncio.sleep(0)
    putting.cancel()
    await asyncio.wait([putting])

    assert await wait_until(lambda: kv.get("k")) == "v"


async def test_answers_reach_their_own_callers_when_some_stop_waiting(kv: Any) -> None:
    await asyncio.gather(*(kv.put(f"k{n}", str(n)) for n in range(50)))
    reads = [asyncio.ensure_future(kv.get(f"k{n}")) for n in range(50)]
    await asyncio.sleep(0)
    for read in reads[::2]:
        read.cancel()

    values = await asyncio.gather(*reads[1::2])

    assert values == [str(n) for n in range(1, 50, 2)]


async def test_a_server_that_shows_life_is_waited_for_longer(connection: RedisConnection) -> None:
    started = time.monotonic()

    nothing = await connection.execute(b"BLPOP", b"a list that stays empty", 2)

    assert nothing is None
    assert time.monotonic() - started > DEADLINE_S


@pytest.mark.slow
async def test_a_worker_that_blocks_its_loop_still_gets_the_answer(kv: Any) -> None:
    await kv.put("k", "v")
    reading = asyncio.ensure_future(kv.get("k"))
    await asyncio.sleep(0)

    blocked_until = time.monotonic() + DEADLINE_S + 0.2
    while time.monotonic() < blocked_until:
        """The loop does nothing else."""

    assert await reading == "v"


async def test_scripts_that_the_server_forgot_are_sent_again(
    kv: Any, connection: RedisConnection
) -> None:
    await kv.put("k", "v")

    await connection.execute(b"SCRIPT", b"FLUSH")
    await kv.put("k", "w")

    assert (await kv.list())["keys"] == [{"name": "k"}]
    assert await kv.get("k") == "w"


def hash_key(namespace_id: str, key: str) -> bytes:
    return f"kv:{{{quote(namespace_id, safe='')}}}:h:{key}".encode()


DAMAGE: dict[str, list[bytes]] = {
    "another type": [b"SET", b"HASH", b"text"],
    "a missing field": [b"HDEL", b"HASH", b"e"],
    "an expiration that is no number": [b"HSET", b"HASH", b"e", b"soon"],
}


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
async def test_a_damaged_entry_is_a_clear_error_and_the_others_go_on(
    damage: list[bytes], kv: Any, connection: RedisConnection, namespace_id: str
) -> None:
    await kv.put("bad", "v")
    await kv.put("good", "v")
    name = hash_key(namespace_id, "bad")
    await connection.execute(*(name if part == b"HASH" else part for part in damage))

    with pytest.raises(JsException) as caught:
        await kv.get("bad")

    assert caught.value.message.startswith(
        'KV GET failed: 500 The stored entry of key "bad" is corrupt: '
    )
    assert await kv.get("good") == "v"
    assert [key["name"] for key in (await kv.list())["keys"]] == ["bad", "good"]


@pytest.mark.parametrize("damage", DAMAGE.values(), ids=DAMAGE)
async def test_a_put_mends_a_damaged_entry(
    damage: list[bytes], kv: Any, connection: RedisConnection, namespace_id: str
) -> None:
    await kv.put("bad", "v")
    name = hash_key(namespace_id, "bad")
    await connection.execute(*(name if part == b"HASH" else part for part in damage))

    await kv.put("bad", "w")

    assert await kv.get("bad") == "w"


async def test_metadata_that_is_no_json_spoils_only_what_shows_it(
    kv: Any, connection: RedisConnection, namespace_id: str
) -> None:
    await kv.put("k", "v")
    await connection.execute(b"HSET", hash_key(namespace_id, "k"), b"m", b"{")

    with pytest.raises(JsException, match="its metadata is no JSON"):
        await kv.getWithMetadata("k")

    assert await kv.get("k") == "v"


async def test_a_key_whose_hash_is_gone_is_not_listed(
    kv: Any, connection: RedisConnection, namespace_id: str
) -> None:
    await kv.put("k", "v")

    await connection.execute(b"DEL", hash_key(namespace_id, "k"))

    assert (await kv.list())["keys"] == []


async def test_a_damaged_index_leaves_the_values_readable(
    kv: Any, connection: RedisConnection, namespace_id: str
) -> None:
    await kv.put("k", "v")
    index = f"kv:{{{quote(namespace_id, safe='')}}}:z".encode()
    await connection.execute(b"SET", index, b"text")

    with pytest.raises(JsException, match="KV GET failed: 500 The index"):
        await kv.list()
    with pytest.raises(JsException, match="KV PUT failed: 500"):
        await kv.put("l", "v")

    assert await kv.get("k") == "v"
    assert await kv.get("l") is None


async def test_a_server_that_is_not_there_is_an_error_within_two_seconds(
    tmp_path: Path, binding_of: BindingOf
) -> None:
    async with connect(f"unix://{tmp_path}/nobody.sock") as nowhere:
        text, seconds = await failure(binding_of(nowhere.store("n")).get("k"))

    assert text == BROKEN["get"]
    assert seconds < 2


async def test_a_server_whose_data_is_damaged_says_so(tmp_path: Path) -> None:
    data = tmp_path / "kv"
    async with valkey.running(data) as url, connect(url) as connection:
        await connection.execute(b"SET", b"a", b"b")
    manifest = data / "appendonlydir" / "appendonly.aof.manifest"
    manifest.write_text("nonsense\n", encoding="utf-8")

    with pytest.raises(OperatorError) as caught:
        async with valkey.running(data):
            pass

    assert caught.value.exit == Exit.UNREACHABLE
    assert caught.value.code == "kv/not-started"
    assert "manifest" in caught.value.message
