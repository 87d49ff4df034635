"""Which file is the configuration."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.project.projects import HEAD, loaded, refused, write


def test_our_own_file_wins_in_the_same_folder_and_the_other_is_named(tmp_path: Path) -> None:
    write(tmp_path, {"wrangler_like.toml": HEAD, "wrangler.toml": HEAD, "wrangler.jsonc": "{}"})

    project = loaded(tmp_path)

    assert project.file == tmp_path / "wrangler_like.toml"
    assert any(
        "wrangler.jsonc, wrangler.toml beside it are not read" in w for w in project.warnings
    )


def test_our_own_file_wins_when_it_lies_deeper(tmp_path: Path) -> None:
    write(tmp_path, {"wrangler.jsonc": "{}", "worker/entry.py": "", "worker/src/x.py": ""})
    write(tmp_path, {"worker/wrangler_like.toml": HEAD})

    project = loaded(tmp_path / "worker" / "src")

    assert project.file == tmp_path / "worker" / "wrangler_like.toml"


def test_wranglers_file_wins_when_ours_lies_above_it(tmp_path: Path) -> None:
    write(tmp_path, {"wrangler_like.toml": HEAD, "worker/entry.py": ""})
    write(tmp_path, {"worker/wrangler.toml": HEAD})

    project = loaded(tmp_path / "worker")

    assert project.file == tmp_path / "worker" / "wrangler.toml"


def test_wrangler_looks_by_kind_before_it_looks_by_nearness(tmp_path: Path) -> None:
    write(tmp_path, {"wrangler.json": '{"name": "far"}', "worker/wrangler.toml": HEAD})

    project = loaded(tmp_path / "worker", to_run=False)

    assert project.name == "far"


def test_a_folder_with_the_name_of_a_configuration_is_none(tmp_path: Path) -> None:
    (tmp_path / "wrangler.json").mkdir()
    write(tmp_path, {"wrangler.toml": HEAD})

    assert loaded(tmp_path).file == tmp_path / "wrangler.toml"


def test_one_file_alone_is_no_warning(tmp_path: Path) -> None:
    write(tmp_path, {"wrangler.toml": HEAD})

    assert loaded(tmp_path).warnings == ()


def test_without_a_configuration_nothing_runs(tmp_path: Path) -> None:
    error = refused(tmp_path)

    assert "Missing entry-point" in error.message
    assert error.hint.startswith("There is no wrangler_like.toml here: localedge init makes")


def test_a_configuration_without_a_worker_is_told_what_to_write(tmp_path: Path) -> None:
    write(tmp_path, {"wrangler.jsonc": '{"name": "shop"}'})

    error = refused(tmp_path)

    assert "Missing entry-point" in error.message
    assert error.hint == 'Say which file is the worker: main = "src/entry.py" in wrangler.jsonc.'


def test_without_a_configuration_other_commands_are_told_so(tmp_path: Path) -> None:
    assert refused(tmp_path, to_run=False).code == "config/not-found"


def test_a_command_that_runs_no_worker_needs_no_main(tmp_path: Path) -> None:
    write(tmp_path, {"wrangler.jsonc": '{"name": "shop"}'})

    project = loaded(tmp_path, to_run=False)

    assert project.main is None
    with pytest.raises(ValueError, match="no bundle"):
        assert project.bundle


def test_a_configuration_that_cannot_be_read_names_the_reason(tmp_path: Path) -> None:
    (tmp_path / "folder.toml").mkdir()

    error = refused(tmp_path, config=Path("folder.toml"))

    assert "Could not read file: folder.toml (Is a directory)" in error.message
