"""What Pyodide and Cloudflare's SDK make of expressions is what the tests of the SDK replay.

`python -m tests.edge.test_objects` records it anew.
"""

from __future__ import annotations

import asyncio
import json
import tempfile
from pathlib import Path

import httpx
import pytest
from tests.edge.conftest import opened
from tests.sdk import objects

from localedge.port.verify.driver import TOKEN
from localedge.port.verify.parts import Parts, fetched_parts

pytestmark = [pytest.mark.edge, pytest.mark.anyio]


async def shown_by(parts: Parts, folder: Path) -> dict[str, str]:
    """What the real parts show for each expression."""
    bundle = folder / "bundle"
    bundle.mkdir()
    (bundle / "entry.py").write_text(objects.WORKER, "utf-8")
    found: dict[str, str] = {}
    async with opened(parts, folder) as driver:
        booted = await driver.boot([parts.sdk], bundle=bundle, main="entry", vars={})
        async with httpx.AsyncClient(
            headers={TOKEN: booted.token}, trust_env=False, timeout=30
        ) as client:
            for source in objects.sources():
                found[source] = (await client.post(booted.url, content=source)).text
    return found


async def test_the_recorded_answers_are_those_of_the_real_parts(
    parts: Parts, tmp_path: Path
) -> None:
    assert await shown_by(parts, tmp_path) == objects.recorded()


async def record() -> None:
    """The answers of today are the recorded ones."""
    with tempfile.TemporaryDirectory() as folder:
        found = await shown_by(await fetched_parts(), Path(folder))
    text = json.dumps(found, indent=0, ensure_ascii=False)
    objects.RECORDED.write_text(f"{text}\n", "utf-8")


if __name__ == "__main__":
    asyncio.run(record())
