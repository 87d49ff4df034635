"""What `localedge export` refuses, with nothing written."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.export.projects import CONFIG, ENTRY, FILES, run, write

from localedge.port.export import bundle


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    return write(tmp_path, FILES)


def test_a_folder_with_something_in_it_is_left_alone(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(root, {"edge/mine.txt": "mine"})

    assert run() == 1

    assert "export/exists: edge is not empty: it has mine.txt." in capsys.readouterr().err
    assert [path.name for path in (root / "edge").iterdir()] == ["mine.txt"]


@pytest.mark.parametrize("place", [".", "..", "src", "src/edge", "wrangler_like.toml"])
def test_a_place_that_is_in_the_way_is_refused(
    root: Path, place: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(place, "--force") == 2

    assert "export/place" in capsys.readouterr().err


def test_a_bundle_with_the_value_of_a_secret_is_refused(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(root, {".dev.vars": "API_KEY=sk-0123456789", "src/keys.py": 'KEY = "sk-0123456789"\n'})

    assert run() == 1

    said = capsys.readouterr().err
    assert "export/secret: src/keys.py holds the value of the secret API_KEY" in said
    assert "sk-0123456789" not in said
    assert not (root / "edge").exists()


def test_a_dependency_without_an_edge_build_is_refused(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(root, {"src/entry.py": "import psycopg2\n" + ENTRY})

    assert run() == 1

    said = capsys.readouterr().err
    assert 'src/entry.py:1:1: error no-edge-build: the package "psycopg2" has no build' in said
    assert not (root / "edge").exists()


def test_a_bundle_over_the_size_limit_is_refused(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "src/model.bin").write_bytes(bytes(bundle.MAX_BYTES))

    assert run() == 1

    said = capsys.readouterr().err
    assert "export/too-large: The bundle has 64.0 MiB; the edge takes 64 MiB." in said
    assert "src/model.bin (64.0 MiB)" in said


def test_edgestate_without_its_tables_is_refused(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write(root, {"src/entry.py": "from edgestate import Agent\n" + ENTRY})

    assert run() == 1

    assert "localedge agent vendor" in capsys.readouterr().err


def test_a_worker_without_a_name_is_refused(root: Path, capsys: pytest.CaptureFixture[str]) -> None:
    write(root, {"wrangler_like.toml": CONFIG.replace('name = "notes"\nmain', "main")})

    assert run() == 3

    assert "export/no-name" in capsys.readouterr().err


def test_a_folder_without_a_project_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)

    assert run() == 3

    assert "config/" in capsys.readouterr().err


def test_a_folder_that_cannot_be_made_is_told(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run("wrangler_like.toml/edge") == 1

    assert "export/cannot-write" in capsys.readouterr().err


def test_a_file_that_cannot_be_read_is_named(
    root: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (root / "src/data.txt").symlink_to(root / "gone.txt")

    assert run() == 1

    assert f"export/cannot-read: {root}/src/data.txt: No such file" in capsys.readouterr().err
    assert not (root / "edge").exists()
