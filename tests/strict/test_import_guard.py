"""What module scope may not do under `import_guard`, and what it still may."""

from __future__ import annotations

import importlib.util
import os
import random
import sys
import uuid
from pathlib import Path
from textwrap import dedent
from types import ModuleType

import pytest

from localedge.errors import JsException
from localedge.isolate.import_guard import DISALLOWED, NO_ENTROPY, import_guard


def imported(bundle: Path, text: str, name: str = "guarded_entry") -> ModuleType:
    """The module with `text`, imported as an isolate does it."""
    file = bundle / f"{name}.py"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(dedent(text), "utf-8")
    spec = importlib.util.spec_from_file_location(name, file)
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    with import_guard(bundle):
        spec.loader.exec_module(made)
    return made


@pytest.mark.parametrize("name", ["random", "randint", "choice", "shuffle", "seed", "getrandbits"])
def test_functions_of_random_are_refused_by_name(name: str, tmp_path: Path) -> None:
    arguments = {"randint": "1, 6", "choice": "[1]", "shuffle": "[1]", "getrandbits": "8"}

    with pytest.raises(RuntimeError) as caught:
        imported(tmp_path, f"import random\nrandom.{name}({arguments.get(name, '')})")

    assert str(caught.value) == f"Cannot use random.{name}() outside of request context"


@pytest.mark.parametrize(
    "text",
    [
        "import os; os.urandom(8)",
        "from os import urandom; urandom(8)",
        "import uuid; uuid.uuid4()",
        "import secrets; secrets.token_hex()",
        "import secrets; secrets.choice([1, 2])",
        "import random; random.SystemRandom().random()",
        "import random; random.Random()",
    ],
)
def test_entropy_is_refused(text: str, tmp_path: Path) -> None:
    with pytest.raises(OSError) as caught:
        imported(tmp_path, text)

    assert str(caught.value) == NO_ENTROPY


def test_a_socket_is_refused(tmp_path: Path) -> None:
    with pytest.raises(JsException) as caught:
        imported(tmp_path, "import socket\nwith socket.socket() as s:\n    s.connect(('::', 9))")

    assert caught.value.message == DISALLOWED


@pytest.mark.parametrize(
    "text",
    [
        "import random; NUMBER = random.Random(7).random()",
        "import random; MAKER = random.SystemRandom()",
        "import hashlib; DIGEST = hashlib.sha256(b'x').hexdigest()",
        "import tempfile; tempfile.gettempdir()",
        "import time; NOW = time.time()",
        "import uuid\ndef new():\n    return uuid.uuid4()",
    ],
)
def test_what_draws_nothing_is_allowed(text: str, tmp_path: Path) -> None:
    assert imported(tmp_path, text).__name__ == "guarded_entry"


def test_what_module_scope_took_hold_of_works_afterwards(tmp_path: Path) -> None:
    module = imported(tmp_path, "from random import random\nfrom os import urandom")

    assert 0 <= module.random() < 1
    assert len(module.urandom(8)) == 8


def test_everything_is_as_it_was_afterwards(tmp_path: Path) -> None:
    before = (random.random, os.urandom, random.Random.seed)

    with pytest.raises(OSError, match=NO_ENTROPY):
        imported(tmp_path, "import os; os.urandom(1)")

    assert (random.random, os.urandom, random.Random.seed) == before
    assert uuid.uuid4() != uuid.uuid4()


def test_a_package_may_draw_while_it_is_imported(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "salted.py").write_text("import os\nSALT = os.urandom(4)\n", "utf-8")
    monkeypatch.syspath_prepend(tmp_path / "packages")

    module = imported(tmp_path / "bundle", "from salted import SALT")

    assert len(module.SALT) == 4
    del sys.modules["salted"]


def test_a_function_of_a_package_may_not_draw_for_module_scope(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "packages").mkdir()
    (tmp_path / "packages" / "salting.py").write_text(
        "import os\ndef salt():\n    return os.urandom(4)\n", "utf-8"
    )
    monkeypatch.syspath_prepend(tmp_path / "packages")

    with pytest.raises(OSError, match=NO_ENTROPY):
        imported(tmp_path / "bundle", "from salting import salt\nSALT = salt()")

    del sys.modules["salting"]
