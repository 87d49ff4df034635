"""`localedge check` as a command: what it prints, how it ends, what silences it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.check.faults import CONFIG, build, findings, handler, migration, places, worker
from tests.project import recorded
from tests.replay import load

from localedge.cli.check import as_json_text, examine
from localedge.cli.main import main

THREAD = handler("threading.Thread(target=print).start()", "import threading")
DEPLOYS = {
    name: case
    for name, case in load("config").items()
    if case.get("deploy", {}).get("exit") == 1 and case["exit"] == 0
}


def run(folder: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> int:
    monkeypatch.chdir(folder)
    with pytest.raises(SystemExit) as caught:
        main(["check", *arguments])
    assert isinstance(caught.value.code, int)
    return caught.value.code


def test_a_clean_project_ends_with_0(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    build(tmp_path, {})

    assert run(tmp_path, monkeypatch) == 0
    assert capsys.readouterr() == ("Found 0 errors and 0 warnings.\n", "")


def test_an_error_ends_with_1_and_is_told_with_place_rule_and_fix(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    build(tmp_path, THREAD)

    assert run(tmp_path, monkeypatch) == 1
    first, last = capsys.readouterr().out.splitlines()
    assert first == (
        "src/entry.py:6:9: error thread: threading.Thread() starts a thread; on the edge that is "
        "RuntimeError: can't start new thread.  Use async code."
    )
    assert last == "Found 1 error and 0 warnings."


def test_a_warning_alone_ends_with_0(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    build(tmp_path, handler("print(os.getenv('A'))", "import os"))

    assert run(tmp_path, monkeypatch) == 0


def test_a_configuration_that_cannot_be_read_ends_with_3(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    build(tmp_path, {"wrangler.jsonc": "{ name"})

    with pytest.raises(SystemExit) as caught:
        monkeypatch.chdir(tmp_path)
        main(["check", "--json"])
    assert caught.value.code == 3
    out, err = capsys.readouterr()
    assert out == ""
    assert "wrangler.jsonc" in err


def test_json_tells_all_of_a_finding(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    build(tmp_path, THREAD)

    assert run(tmp_path, monkeypatch, "--json") == 1
    assert json.loads(capsys.readouterr().out) == {
        "errors": 1,
        "warnings": 0,
        "findings": [
            {
                "rule": "thread",
                "level": "error",
                "file": "src/entry.py",
                "line": 6,
                "column": 9,
                "message": "threading.Thread() starts a thread; on the edge that is "
                "RuntimeError: can't start new thread.",
                "fix": "Use async code.",
            }
        ],
    }


def test_config_and_env_choose_what_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = CONFIG.replace('"kv_', '"env": { "slow": { "limits": { "cpu_ms": 300001 } } }, "kv_')
    build(tmp_path / "shop", {"wrangler.jsonc": slow})

    assert run(tmp_path, monkeypatch, "-c", "shop/wrangler.jsonc") == 0
    assert run(tmp_path, monkeypatch, "-c", "shop/wrangler.jsonc", "--env", "slow") == 1
    assert "cpu-limit" in capsys.readouterr().out


@pytest.mark.parametrize("name", DEPLOYS)
def test_what_wrangler_would_not_deploy_is_an_error(name: str, tmp_path: Path) -> None:
    case: dict[str, Any] = DEPLOYS[name]
    recorded.write(case, tmp_path)

    told = findings_of(tmp_path, case)

    said = " ".join(one["message"] for one in told if one["level"] == "error")
    missing = [p for p in case["deploy"]["errors"] if not recorded.phrase(p, tmp_path).search(said)]
    assert missing == []


def findings_of(folder: Path, case: dict[str, Any]) -> list[dict[str, Any]]:
    root, found = examine(recorded.arguments(case, folder))
    told: list[dict[str, Any]] = json.loads(as_json_text(found, root))["findings"]
    return told


def test_the_recordings_have_deploys_that_fail() -> None:
    assert len(DEPLOYS) >= 2


# --- comments that silence ---


def test_a_comment_with_a_reason_silences_its_line(tmp_path: Path) -> None:
    body = "threading.Thread(target=print).start()  # localedge: ignore[thread] only at home"

    assert findings(tmp_path, handler(body, "import threading")) == []


def test_a_comment_of_its_own_silences_the_next_line(tmp_path: Path) -> None:
    body = "# localedge: ignore[thread] only at home\n# and never there\nthreading.Thread()"

    assert findings(tmp_path, handler(body, "import threading")) == []


def test_a_comment_silences_the_whole_statement(tmp_path: Path) -> None:
    body = "threading.Thread(\n    target=print,  # localedge: ignore[thread] only at home\n)"

    assert findings(tmp_path, handler(body, "import threading")) == []


def test_a_comment_silences_just_the_rules_that_it_names(tmp_path: Path) -> None:
    body = "threading.Thread()  # localedge: ignore[file, process] only at home"

    found = findings(tmp_path, handler(body, "import threading"))

    assert [one.rule.id for one in found] == ["thread"]


def test_a_comment_without_a_reason_silences_nothing(tmp_path: Path) -> None:
    body = "threading.Thread()  # localedge: ignore[thread]"

    found = findings(tmp_path, handler(body, "import threading"))

    assert {one.rule.id for one in found} == {"silence-without-reason", "thread"}


def test_a_text_that_looks_like_a_comment_silences_nothing(tmp_path: Path) -> None:
    body = "threading.Thread(name='# localedge: ignore[thread] no')"

    found = findings(tmp_path, handler(body, "import threading"))

    assert [one.rule.id for one in found] == ["thread"]


def test_a_comment_in_sql_silences_its_statement(tmp_path: Path) -> None:
    text = "PRAGMA foreign_keys = off; -- localedge: ignore[migration-foreign-keys] for sqlite3\n"

    assert findings(tmp_path, migration(text)) == []


def test_a_comment_in_json_silences_its_line(tmp_path: Path) -> None:
    line = '"limits": { "cpu_ms": 300001 }, // localedge: ignore[cpu-limit] enterprise\n'

    assert findings(tmp_path, {"wrangler.jsonc": CONFIG.replace('"kv_', f'{line}"kv_')}) == []


def test_a_comment_above_a_list_in_toml_silences_its_members(tmp_path: Path) -> None:
    text = "[project]\nname = 'shop'\n# localedge: ignore[no-edge-build] for the tests\n"
    text += "dependencies = [\n  'workers-runtime-sdk',\n  'uvloop',\n]\n"

    assert findings(tmp_path, {"pyproject.toml": text}) == []


# --- what is looked at ---


def test_every_file_of_the_bundle_is_checked_and_nothing_else(tmp_path: Path) -> None:
    fault = "import threading\nthreading.Thread()\n"
    files = {
        "src/shop/jobs.py": fault,
        "src/python_modules/lib.py": fault,
        "src/.venv-workers/lib.py": fault,
        "src/own/pyvenv.cfg": "home = /usr",
        "src/own/lib.py": fault,
        "tests/test_jobs.py": fault,
    }

    found = findings(tmp_path, files)

    assert places(tmp_path, found, "thread") == [("src/shop/jobs.py", 2)]


def test_a_configuration_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    assert findings(tmp_path, {"wrangler.jsonc": f"\ufeff{CONFIG}"}) == []


def test_python_with_a_byte_order_mark_is_read(tmp_path: Path) -> None:
    text = "\ufeffimport fcntl\nfrom workers import *\n"

    found = findings(tmp_path, worker(text))

    assert places(tmp_path, found, "missing-module") == [("src/entry.py", 1)]


def test_bytes_that_are_no_utf8_are_a_finding(tmp_path: Path) -> None:
    build(tmp_path, {})
    (tmp_path / "src" / "data.py").write_bytes(b"x = '\xff'\n")

    found = findings(tmp_path, {})

    assert places(tmp_path, found, "syntax") == [("src/data.py", 1)]


def test_the_repository_itself_has_no_findings(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    root = Path(__file__).parents[2]

    assert run(root, monkeypatch) == 0
    assert capsys.readouterr().out == "Found 0 errors and 0 warnings.\n"
