"""Temporary folders: none is left for ever, and none is taken from its owner."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from subprocess import run

import pytest

from localedge.supervisor.folders import SocketFolder, remove_left_behind

LEAVING = """
import os, tempfile
from localedge.supervisor.folders import SocketFolder
folder = SocketFolder("s", most_bytes=1000)
(folder.path / "s").touch()
print(folder.path, flush=True)
os.kill(os.getpid(), 9)
"""


@pytest.fixture
def parent(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of temporary files, of this test only."""
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    return tmp_path


def test_the_folder_of_a_killed_process_goes_and_that_of_a_living_one_stays(parent: Path) -> None:
    left = run([sys.executable, "-c", LEAVING], capture_output=True, text=True, check=False)
    living = SocketFolder("s", most_bytes=1000)
    before = sorted(parent.iterdir())

    remove_left_behind(parent, older_than_s=0)

    after = sorted(parent.iterdir())
    living.remove()
    assert before == sorted([Path(left.stdout.strip()), living.path])
    assert after == [living.path]


def test_a_new_folder_is_left_to_its_maker_and_an_old_one_is_not(parent: Path) -> None:
    new, old = parent / "localedge-newnewne", parent / "localedge-oldoldol"
    for folder in (new, old):
        folder.mkdir(mode=0o700)
    os.utime(old, (1, 1))

    SocketFolder("s", most_bytes=1000).remove()

    assert [*parent.iterdir()] == [new]


def test_what_is_not_ours_stays(parent: Path) -> None:
    others = [parent / "localedge-demo-12345678", parent / "else", parent / "localedge-readable"]
    for folder in others:
        folder.mkdir(mode=0o755)
        os.utime(folder, (1, 1))
    link = parent / "localedge-linklink"
    link.symlink_to(others[1])

    remove_left_behind(parent, older_than_s=0)

    assert sorted(parent.iterdir()) == sorted([*others, link])
