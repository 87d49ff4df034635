"""`localedge agent vendor`: the library and its migrations in somebody's project."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest
from tests.vendor.projects import make_project

from localedge.cli.agent import library_folder
from localedge.cli.nouns import run
from localedge.port.vendor import RECORD

ROOT = Path(__file__).parents[2]
WHAT = (
    "create_agent_state",
    "guard_agent_state",
    "create_team_state",
    "keep_team_history",
    "close_team_state",
)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = make_project(tmp_path / "mine")
    monkeypatch.chdir(root)
    return root


def vendor(*flags: str) -> int:
    """The exit code of the command."""
    try:
        return run(["agent", "vendor", *flags])
    except SystemExit as end:
        assert isinstance(end.code, int)
        return end.code


def files(root: Path) -> dict[str, bytes]:
    """Every file below `root`."""
    return {
        path.relative_to(root).as_posix(): path.read_bytes()
        for path in root.rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }


def migrations(root: Path) -> list[str]:
    """The names of the project's migrations."""
    return sorted(path.name for path in (root / "migrations").iterdir())


def test_the_repos_migrations_are_what_vendor_makes(project: Path) -> None:
    code = vendor()

    assert code == 0
    assert files(project / "migrations") == files(ROOT / "migrations")


def test_the_copy_is_the_installed_package(project: Path) -> None:
    vendor()

    copied = files(project / "src" / "edgestate")
    record = json.loads(copied.pop(RECORD))
    assert copied == files(library_folder())
    assert record["files"].keys() == copied.keys()


def test_migrations_are_numbered_after_the_users_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = make_project(tmp_path / "mine", migrations=("0001_users.sql", "0007_orders.sql"))
    monkeypatch.chdir(root)

    vendor()

    made = [f"{8 + n:04}_{what}.sql" for n, what in enumerate(WHAT)]
    assert migrations(root) == ["0001_users.sql", "0007_orders.sql", *made]


def test_a_second_run_changes_nothing(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vendor()
    before = files(project)
    capsys.readouterr()

    code = vendor()

    assert code == 0
    assert files(project) == before
    assert capsys.readouterr().out.startswith("Nothing to do")


def test_migrations_that_came_between_do_not_renumber_ours(project: Path) -> None:
    vendor()
    (project / "migrations" / "0005_mine.sql").write_text("CREATE TABLE mine (id TEXT);\n")
    before = migrations(project)

    vendor()

    assert migrations(project) == before


def test_a_newer_library_brings_only_what_is_new(project: Path) -> None:
    vendor()
    package = project / "src" / "edgestate"
    last = project / "migrations" / f"000{len(WHAT)}_{WHAT[-1]}.sql"
    last.unlink()
    record = json.loads((package / RECORD).read_text())
    shutil.copy(package / "clock.py", package / "gone.py")
    record["files"]["gone.py"] = record["files"]["clock.py"]
    del record["files"]["keys.py"]
    (package / "keys.py").unlink()
    (package / RECORD).write_text(json.dumps(record))

    vendor()

    assert last.exists()
    assert (package / "keys.py").exists()
    assert not (package / "gone.py").exists()


def test_a_changed_file_is_not_overwritten(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vendor()
    mine = project / "src" / "edgestate" / "keys.py"
    mine.write_text("mine = True\n")

    code = vendor()

    assert code == 1
    assert "keys.py" in capsys.readouterr().err
    assert mine.read_text() == "mine = True\n"


def test_force_replaces_a_changed_file(project: Path) -> None:
    vendor()
    mine = project / "src" / "edgestate" / "keys.py"
    mine.write_text("mine = True\n")

    code = vendor("--force")

    assert code == 0
    assert mine.read_bytes() == (library_folder() / "keys.py").read_bytes()


def test_a_package_of_that_name_that_is_somebody_elses_is_left_alone(project: Path) -> None:
    theirs = project / "src" / "edgestate" / "__init__.py"
    theirs.parent.mkdir()
    theirs.write_text("theirs = True\n")

    code = vendor()

    assert code == 1
    assert theirs.read_text() == "theirs = True\n"
    assert not (project / "migrations").exists()


def test_a_migration_of_ours_that_was_edited_is_refused_before_anything_is_written(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    vendor()
    edited = project / "migrations" / f"0002_{WHAT[1]}.sql"
    edited.write_text("SELECT 1;\n")
    shutil.rmtree(project / "src" / "edgestate")

    code = vendor()

    assert code == 1
    assert edited.name in capsys.readouterr().err
    assert not (project / "src" / "edgestate").exists()


def test_json_says_what_was_written(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    vendor("--json")

    said = json.loads(capsys.readouterr().out)
    assert said["package"] == str(project / "src" / "edgestate")
    assert said["migrations"] == [f"{1 + n:04}_{what}.sql" for n, what in enumerate(WHAT)]


@pytest.mark.parametrize(
    ("config", "code", "text"),
    [
        ("", 3, "has no D1 database"),
        ('[[d1_databases]]\nbinding = "A"\n[[d1_databases]]\nbinding = "B"\n', 2, "A, B"),
    ],
)
def test_a_config_that_names_no_one_database_is_refused(
    project: Path, capsys: pytest.CaptureFixture[str], config: str, code: int, text: str
) -> None:
    head = (project / "wrangler.toml").read_text().partition("[[")[0]
    (project / "wrangler.toml").write_text(head + config)

    found = vendor()

    assert found == code
    assert text in capsys.readouterr().err


def test_the_database_can_be_named(project: Path) -> None:
    more = '[[d1_databases]]\nbinding = "B"\nmigrations_dir = "others"\n'
    with (project / "wrangler.toml").open("a") as config:
        config.write(more)

    code = vendor("B")

    assert code == 0
    assert len(files(project / "others")) == len(WHAT)
