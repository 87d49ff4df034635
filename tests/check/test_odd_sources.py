"""Sources that a reader could stumble over: the check says what it can, and never breaks."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.check.faults import build, findings, handler, module

from localedge.cli.check import examine
from localedge.project.options import load_arguments

CIRCLES = {
    "attributes": handler("self.a = self.b\nself.b = self.a\nawait self.a.put('x', (1,))"),
    "a text": module("from lib import part\npart = part + 'a'\n") | {"src/lib.py": "part = 'b'"},
    "a number": handler("ttl = ttl * 2\nawait self.env.KV.put('a', 'b', expirationTtl=ttl)"),
    "two names": handler("a = b + 1\nb = a + 1\nawait self.env.DB.prepare('?').bind(a).all()"),
    "a list": handler("a = [b]\nb = [a]\nawait self.env.KV.put('a', a)"),
    "a statement": handler("s = s.bind(1)\nawait s.bind((1,)).all()"),
    "functions": module("def a():\n    b()\ndef b():\n    a()\na()"),
}


@pytest.mark.parametrize("kind", CIRCLES)
def test_what_is_made_of_itself_is_no_finding(kind: str, tmp_path: Path) -> None:
    found = findings(tmp_path, CIRCLES[kind])

    assert found == []


@pytest.mark.parametrize(
    "text", ["+".join(["'a'"] * 100_000), "(" * 5000 + ")" * 5000], ids=["sum", "brackets"]
)
def test_what_is_nested_too_deep_is_told(text: str, tmp_path: Path) -> None:
    found = findings(tmp_path, handler("pass", f"TEXT = {text}"))

    assert [one.rule.id for one in found] == ["syntax"]


def test_a_long_sum_is_read(tmp_path: Path) -> None:
    text = "+".join(["'a'"] * 300)

    found = findings(tmp_path, handler(f"await self.env.DB.exec({text})"))

    assert found == []


def test_the_encoding_that_a_file_names_is_the_one_it_is_read_in(tmp_path: Path) -> None:
    build(tmp_path, {})
    entry = tmp_path / "src" / "entry.py"
    text = f"# -*- coding: latin-1 -*-\nNAME = 'ü'\n{entry.read_text('utf-8')}"
    entry.write_bytes(text.encode("latin-1"))

    (arguments,) = load_arguments(cwd=tmp_path, process_env={})
    assert examine(arguments)[1] == []


def test_a_package_that_is_not_declared_is_told_once_in_a_file(tmp_path: Path) -> None:
    source = module("import django.db\nfrom django.http import HttpResponse\nimport flask")

    found = findings(tmp_path, source)

    assert [one.rule.id for one in found] == ["undeclared-package"] * 2
