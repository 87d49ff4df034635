"""The scenario of README and docs/explore.md, as it stands there, finds a worker's mistake."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

from localedge.explore import Client, Outcome, Scenario
from localedge.explore.exploring import Options, explore
from localedge.explore.loading import scenarios_of

ROOT = Path(__file__).parents[2]
PAGES = (ROOT / "README.md", ROOT / "docs" / "explore.md")
SCENARIO = re.compile(r"```python\n(?:# scenario\.py\n)?(from localedge\.explore.*?)```", re.DOTALL)
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


def scenario_text(page: Path) -> str:
    (found,) = SCENARIO.findall(page.read_text("utf-8"))
    return str(found)


def project(folder: Path, page: Path) -> Path:
    """The scenario of `page` beside the worker with the mistake."""
    (folder / "wrangler.toml").write_text(CONFIG)
    (folder / "src").mkdir()
    (folder / "src" / "entry.py").write_text(WORKER)
    file = folder / "scenario.py"
    file.write_text(scenario_text(page))
    return file


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.name)
def test_the_guides_scenario_finds_the_charge_that_a_death_repeats(
    page: Path, tmp_path: Path
) -> None:
    (scenario,) = scenarios_of(project(tmp_path, page))

    report = explore(scenario, tmp_path, Options(crash=True))

    classes = {verdict.outcome for verdict in report.rows[0].failures}
    assert len(scenario_text(page).splitlines()) <= 15
    assert report.rows[0].counts["PASS"] > 0
    assert classes <= {Outcome.DUPLICATE, Outcome.DIVERGED}
    assert any(
        "POST /charges happened 2 times" in f.text for t in report.told for f in t.verdict.findings
    )


def test_the_guides_test_fails_with_the_story_of_the_second_charge(tmp_path: Path) -> None:
    project(tmp_path, PAGES[0])
    test = "def test_once(explore):\n    explore(scenario, crash=True)\n"
    (tmp_path / "test_shop.py").write_text(f"from scenario import scenario\n\n\n{test}")

    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:valkey"],
        capture_output=True,
        text=True,
        timeout=60,
        cwd=tmp_path,
    )

    assert done.returncode == 1, done.stdout + done.stderr
    assert "POST /charges happened 2 times" in done.stdout
    assert "localedge explore scenario.py --scenario buy --replay" in done.stdout


def test_a_mistake_in_the_service_is_the_scenarios_and_not_the_workers(tmp_path: Path) -> None:
    file = project(tmp_path, PAGES[0])
    text = scenario_text(PAGES[0])
    file.write_text(text.replace('{"chargeId": order.number}', "order.no_such_field"))
    (scenario,) = scenarios_of(file)

    report = explore(scenario, tmp_path, Options(crash=True))

    assert report.told[0].verdict.outcome is Outcome.SCENARIO
    assert any(
        "'Order' object has no attribute 'no_such_field'" in finding.text
        for finding in report.told[0].verdict.findings
    )


WITH_GLOBALS = """
import itertools
from workers import Response, WorkerEntrypoint

numbers = itertools.count()
seen = []


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        global late
        known = "late" in globals(), len(seen), next(numbers)
        late = True
        seen.append(request.url)
        return Response.json(known)
"""


def test_module_variables_are_as_in_a_new_isolate_for_each_request(tmp_path: Path) -> None:
    project(tmp_path, PAGES[0])
    (tmp_path / "src" / "entry.py").write_text(WITH_GLOBALS)
    found = []

    async def client(client: Client) -> None:
        for _ in range(3):
            answer = await client.get("/")
            found.append(answer.json)

    explore(Scenario(client), tmp_path, Options(crash=True))

    assert [False, 0, 0] in found
    assert {tuple(one) for one in found} == {(False, 0, 0)}
