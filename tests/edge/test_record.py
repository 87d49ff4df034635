"""The stored vectors, recorded afresh from the real parts."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from localedge.cli.main import main
from localedge.port.record.recording import KINDS

pytestmark = pytest.mark.edge
STORED = Path(__file__).parents[1] / "vectors"


def record(folder: Path, vectors: Path) -> int:
    with pytest.raises(SystemExit) as caught:
        main(["verify", "--record-vectors", str(folder), "--vectors", str(vectors)])
    assert isinstance(caught.value.code, int)
    return caught.value.code


def test_the_real_parts_answer_what_is_stored_but_for_what_was_changed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    changed = tmp_path / "changed"
    shutil.copytree(STORED, changed)
    kv = json.loads((changed / "kv.json").read_bytes())
    kv["put-get"][1]["returns"] = "another value"
    (changed / "kv.json").write_text(json.dumps(kv), "utf-8")

    code = record(tmp_path / "fresh", changed)

    said = capsys.readouterr().out.splitlines()
    assert code == 1
    assert [line for line in said if line[0] not in " R"] == ["kv:put-get"]
    assert '  -  "returns": "another value"' in [line.replace("   ", "  ", 1) for line in said]
    for kind in KINDS:
        fresh = (tmp_path / "fresh" / f"{kind}.json").read_text("utf-8")
        assert fresh == (STORED / f"{kind}.json").read_text("utf-8")
