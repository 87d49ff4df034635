"""What the README shows works as it stands there."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from tests.demo.processes import ROOT, process
from tests.demo.server import LOCALEDGE, free_port
from tests.waiting import wait_until

README = (ROOT / "README.md").read_text("utf-8")


def block(language: str, *, having: str) -> str:
    """The first block of that language in the README that has some text."""
    blocks: list[str] = re.findall(rf"^```{language}\n(.*?)^```$", README, re.MULTILINE | re.DOTALL)
    return next(found for found in blocks if having in found)


def test_the_worker_of_the_readme_has_ten_lines() -> None:
    lines = block("python", having="class Default").splitlines()

    assert len(lines) == 10


@pytest.mark.anyio
@pytest.mark.processes
async def test_the_worker_of_the_readme_counts_in_d1_and_keeps_a_copy_in_kv(tmp_path: Path) -> None:
    (tmp_path / "entry.py").write_text(block("python", having="class Default"))
    config = tmp_path / "wrangler_like.toml"
    config.write_text(block("toml", having="kv_namespaces"))
    url = f"http://127.0.0.1:{(port := free_port())}"
    command = [LOCALEDGE, "dev", "--config", str(config), "--port", str(port)]

    async with process(command, log=tmp_path / "log"), httpx.AsyncClient(trust_env=False) as http:

        async def is_ready() -> bool:
            try:
                return (await http.get(f"{url}/cdn-cgi/localedge/status")).status_code == 200
            except httpx.TransportError:
                return False

        await wait_until(is_ready, within_s=30)
        first = await http.get(url)
        second = await http.get(url)

    (database,) = (tmp_path / ".localedge" / "d1").glob("*.sqlite")
    with closing(sqlite3.connect(database)) as rows:
        counted = rows.execute("SELECT count(*) FROM visits").fetchone()
    assert first.text == "1 visits, counted within the last minute\n"
    assert second.text == first.text
    assert counted == (2,)
