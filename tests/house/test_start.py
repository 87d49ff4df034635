"""What `localedge dev` imports before the first isolate is on its way: the least that it needs."""

from __future__ import annotations

import json
import subprocess
import sys

LATER = {"httpx", "prometheus_client", "rich", "starlette", "uvicorn"}


def _imported(program: str) -> set[str]:
    shown = subprocess.run(
        [sys.executable, "-c", f"import json, sys; {program}; print(json.dumps([*sys.modules]))"],
        check=True,
        capture_output=True,
        text=True,
        timeout=60,
    ).stdout
    return {name.partition(".")[0] for name in json.loads(shown)}


def test_the_server_starts_isolates_before_it_imports_what_answers_requests() -> None:
    first = _imported("import localedge.cli.nouns, localedge.cli.dev")

    assert not first & LATER
    assert "pydantic" in first


def test_what_answers_requests_leaves_out_pages_and_measures_until_they_are_asked_for() -> None:
    answering = _imported("import localedge.cli.answering")

    assert answering & LATER == {"uvicorn"}
