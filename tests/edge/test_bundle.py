"""What would be uploaded, and what is too much."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.edge.conftest import MakeProject

from localedge.errors import Exit, OperatorError
from localedge.gateway.recording import recorded
from localedge.port.export.target import write
from localedge.port.verify.bundle import MOST_BYTES, bundled, required
from localedge.project.own_files import EXPORT_RECORD

pytestmark = pytest.mark.anyio


async def test_what_tools_leave_beside_a_worker_is_not_in_the_bundle(
    project: MakeProject, tmp_path: Path
) -> None:
    made = project("pass")
    for name in (".venv/a.py", "node_modules/a.js", "__pycache__/a.pyc", ".localedge/lock", "b.py"):
        (made.bundle / name).parent.mkdir(exist_ok=True)
        (made.bundle / name).write_text("x")

    bundle = await bundled(made, [], tmp_path / "copy")

    assert sorted(one.name for one in bundle.folder.iterdir()) == ["b.py", "entry.py"]
    assert (bundle.main, bundle.size_bytes) == ("entry", len("pass") + 1)


async def test_what_localedge_wrote_itself_is_not_in_the_bundle(
    project: MakeProject, tmp_path: Path
) -> None:
    made = project("pass")
    write(made.bundle / "edge", {EXPORT_RECORD: b"{}", "src/entry.py": b"pass"})
    with recorded(made.bundle / "session.jsonl"):
        pass

    bundle = await bundled(made, [], tmp_path / "copy")

    assert [one.name for one in bundle.folder.iterdir()] == ["entry.py"]


async def test_a_bundle_over_the_platforms_size_is_refused(
    project: MakeProject, tmp_path: Path
) -> None:
    made = project("pass")
    with (made.bundle / "model.bin").open("wb") as file:
        file.truncate(MOST_BYTES)

    with pytest.raises(OperatorError, match="67,108,868 bytes") as caught:
        await bundled(made, [], tmp_path / "copy")

    assert (caught.value.code, caught.value.exit) == ("verify/bundle-too-large", Exit.FAILED)


async def test_vendored_packages_are_taken_as_they_are(
    project: MakeProject, tmp_path: Path
) -> None:
    made = project("pass")
    (made.root / "python_modules").mkdir()

    bundle = await bundled(made, None, tmp_path / "copy")

    assert bundle.sites == (made.root / "python_modules",)


def test_the_packages_for_the_edge_win_over_those_that_run_here(tmp_path: Path) -> None:
    pyproject = tmp_path / "pyproject.toml"

    pyproject.write_text('[project]\ndependencies = ["a", "workers-py", "b>=1"]')
    assert required(tmp_path) == ["a", "b>=1"]
    pyproject.write_text(
        '[project]\ndependencies = ["a"]\n[tool.localedge]\nedge-packages = ["c==2"]'
    )
    assert required(tmp_path) == ["c==2"]
    pyproject.unlink()
    assert required(tmp_path) == []


@pytest.mark.parametrize("text", ["[project", "[project]\ndependencies = 'a'"])
def test_a_pyproject_that_cannot_be_read_is_told_of(tmp_path: Path, text: str) -> None:
    (tmp_path / "pyproject.toml").write_text(text)

    with pytest.raises(OperatorError) as caught:
        required(tmp_path)

    assert caught.value.exit == Exit.CONFIG
