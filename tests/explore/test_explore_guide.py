"""The scenario of docs/explore.md, as it stands there, against a worker with a plain mistake."""

from __future__ import annotations

import re
from pathlib import Path

from localedge.explore import Outcome
from localedge.explore.exploring import Options, explore
from localedge.explore.loading import scenarios_of

GUIDE = Path(__file__).parents[2] / "docs" / "explore.md"
CONFIG = """
name = "shop"
main = "src/entry.py"
compatibility_date = "2026-01-01"
compatibility_flags = ["python_workers"]
[[kv_namespaces]]
binding = "ORDERS"
id = "orders"
"""
WORKER = """
import json
from workers import Response, WorkerEntrypoint, fetch


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        orders = self.env.ORDERS
        if request.method == "POST":
            order = await request.json()
            if await orders.get(order["id"]) is None:
                await fetch(self.env.SHOP_URL + "/charges", method="POST", body="{}")
                await orders.put(order["id"], "paid")
            return Response.json({"status": "paid"})
        paid = await orders.get(request.url.rpartition("/")[2])
        return Response.json({"status": paid or "unknown"})
"""


def test_the_guides_scenario_finds_the_charge_that_a_death_repeats(tmp_path: Path) -> None:
    (scenario_text,) = re.findall(
        r"```python\n(from localedge\.explore.*?)```", GUIDE.read_text("utf-8"), re.DOTALL
    )
    (tmp_path / "wrangler.toml").write_text(CONFIG)
    (tmp_path / "src").mkdir()
    (tmp_path / "src" / "entry.py").write_text(WORKER)
    file = tmp_path / "scenario.py"
    file.write_text(scenario_text)
    (scenario,) = scenarios_of(file)

    report = explore(scenario, tmp_path, Options(crash=True))

    classes = {verdict.outcome for verdict in report.rows[0].failures}
    assert len(scenario_text.splitlines()) <= 16
    assert report.rows[0].counts["PASS"] > 0
    assert classes <= {Outcome.DUPLICATE, Outcome.DIVERGED}
    assert any(
        "POST /charges happened 2 times" in f.text for t in report.told for f in t.verdict.findings
    )
