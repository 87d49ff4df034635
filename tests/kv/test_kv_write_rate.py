"""More than one write to a key within a second: allowed, warned of, or refused."""

from __future__ import annotations

import logging
from typing import Any

import pytest
from tests.conftest import Freeze
from tests.kv.conftest import BindingOf

from localedge.errors import JsException
from localedge.kv.redis import RedisConnection
from localedge.kv.store import WriteRate

pytestmark = pytest.mark.anyio


@pytest.fixture
def kv_with(connection: RedisConnection, namespace_id: str, binding_of: BindingOf) -> Any:
    def made(rate: WriteRate) -> Any:
        return binding_of(connection.store(namespace_id, write_rate=rate))

    return made


async def test_a_second_write_within_a_second_is_refused(kv_with: Any, frozen: Freeze) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    kv = kv_with("enforce")
    await kv.put("k", "1")

    clock.tick(0.999)
    with pytest.raises(JsException) as put:
        await kv.put("k", "2")
    with pytest.raises(JsException) as delete:
        await kv.delete("k")

    assert put.value.message == "KV PUT failed: 429 Too Many Requests"
    assert delete.value.message == "KV DELETE failed: 429 Too Many Requests"
    assert await kv.get("k") == "1"


async def test_a_write_after_a_second_is_accepted(kv_with: Any, frozen: Freeze) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    kv = kv_with("enforce")
    await kv.put("k", "1")

    clock.tick(1)
    await kv.put("k", "2")

    assert await kv.get("k") == "2"


async def test_a_refused_write_does_not_count(kv_with: Any, frozen: Freeze) -> None:
    clock = frozen("2026-12-01T00:00:00Z")
    kv = kv_with("enforce")
    await kv.put("k", "1")
    clock.tick(0.6)
    with pytest.raises(JsException):
        await kv.put("k", "2")

    clock.tick(0.6)
    await kv.put("k", "3")

    assert await kv.get("k") == "3"


async def test_other_keys_and_other_isolates_are_counted_by_key(
    kv_with: Any, frozen: Freeze
) -> None:
    frozen("2026-12-01T00:00:00Z")
    await kv_with("enforce").put("k", "1")
    await kv_with("enforce").put("l", "1")

    with pytest.raises(JsException, match="429"):
        await kv_with("enforce").put("k", "2")


async def test_warn_lets_the_write_pass_and_says_so(
    kv_with: Any, frozen: Freeze, caplog: pytest.LogCaptureFixture
) -> None:
    frozen("2026-12-01T00:00:00Z")
    kv = kv_with("warn")

    with caplog.at_level(logging.WARNING, logger="localedge.kv"):
        await kv.put("k", "1")
        await kv.put("k", "2")

    assert await kv.get("k") == "2"
    assert [record.__dict__["key"] for record in caplog.records] == ["k"]


async def test_off_counts_nothing(kv_with: Any, caplog: pytest.LogCaptureFixture) -> None:
    kv = kv_with("off")

    with caplog.at_level(logging.WARNING, logger="localedge.kv"):
        for number in range(5):
            await kv.put("k", str(number))

    assert caplog.records == []
    assert await kv.get("k") == "4"
