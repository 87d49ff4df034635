"""The library travels alone: the standard library and pydantic, and nothing of localedge."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import edgestate

ROOT = Path(edgestate.__file__).parent


def test_it_imports_the_standard_library_pydantic_and_itself() -> None:
    allowed = set(sys.stdlib_module_names) | {"pydantic", "edgestate", "workers"}
    for file in ROOT.glob("*.py"):
        for node in ast.walk(ast.parse(file.read_text("utf-8"))):
            names = []
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom):
                names = [node.module or ""]
            assert {name.partition(".")[0] for name in names} <= allowed, file.name


def test_workers_is_imported_only_where_it_is_used() -> None:
    for file in ROOT.glob("*.py"):
        tree = ast.parse(file.read_text("utf-8"))
        tops = [node for node in tree.body if isinstance(node, ast.Import | ast.ImportFrom)]
        assert "workers" not in {getattr(node, "module", "") for node in tops}


def test_importing_it_needs_no_entropy_and_no_clock() -> None:
    program = (
        "import os, random, time, uuid\n"
        "def refuse(*_): raise OSError('not outside of a request')\n"
        "import asyncio, logging, pydantic\n"
        "os.urandom = random.random = uuid.uuid4 = time.time = refuse\n"
        "import edgestate\n"
        "print(len(edgestate.__all__))\n"
    )

    done = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, timeout=60
    )

    assert done.returncode == 0, done.stderr
    assert int(done.stdout) == len(set(edgestate.__all__))


def test_every_public_name_is_there() -> None:
    for name in edgestate.__all__:
        assert hasattr(edgestate, name), name
