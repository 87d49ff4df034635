"""The driver of the real parts: stores, Pyodide, and what is left after its death."""

from __future__ import annotations

from pathlib import Path

import httpx
import pytest
from tests.edge.conftest import opened

from localedge.port.verify.driver import TOKEN, Driver, DriverError
from localedge.port.verify.parts import Parts

pytestmark = [pytest.mark.edge, pytest.mark.anyio]

_ENTRY = """
from workers import Response, WorkerEntrypoint

class Default(WorkerEntrypoint):
    async def fetch(self, request):
        await self.env.KV.put("seen", await request.text(), metadata={"by": self.env.NAME})
        return Response.json(await self.env.KV.getWithMetadata("seen"), status=201)
"""


async def test_raw_calls_reach_the_bindings_of_workerd(driver: Driver) -> None:
    await driver.call("KV", ["put", ["k", {"$bytes": "00ff"}]])

    value = await driver.call("KV", ["get", ["k", "arrayBuffer"]])
    rows = await driver.call("DB", ["prepare", ["SELECT typeof(?) AS t"]], ["bind", [1]], ["raw"])

    assert (value, rows) == ({"$bytes": "00ff"}, [["real"]])


async def test_what_a_binding_throws_keeps_its_name_and_message(driver: Driver) -> None:
    with pytest.raises(DriverError) as caught:
        await driver.call("KV", ["get", [""]])

    assert str(caught.value) == "TypeError: Key name cannot be empty."


async def test_a_worker_on_pyodide_answers_through_the_sdk(
    driver: Driver, parts: Parts, tmp_path: Path
) -> None:
    bundle = tmp_path / "bundle"
    bundle.mkdir()
    (bundle / "entry.py").write_text(_ENTRY)
    booted = await driver.boot([parts.sdk], bundle=bundle, main="entry", vars={"NAME": "Ada"})

    async with httpx.AsyncClient(headers={TOKEN: booted.token}, trust_env=False) as client:
        answer = await client.post(booted.url, content="hat")

    assert answer.status_code == 201
    assert answer.json() == {"value": "hat", "metadata": {"by": "Ada"}, "cacheStatus": None}


async def test_stores_outlive_a_killed_driver(parts: Parts, tmp_path: Path) -> None:
    async with opened(parts, tmp_path) as first:
        await first.call("DB", ["exec", ["CREATE TABLE t (a); INSERT INTO t VALUES ('kept')"]])
        await first.call("KV", ["put", ["k", "kept", {"metadata": {"n": 1}}]])
        await first.kill()

    async with opened(parts, tmp_path) as second:
        rows = await second.call("DB", ["prepare", ["SELECT a FROM t"]], ["raw"])
        found = await second.call("KV", ["getWithMetadata", ["k"]])

    assert rows == [["kept"]]
    assert found == {"value": "kept", "metadata": {"n": 1}, "cacheStatus": None}
