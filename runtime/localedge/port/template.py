"""The files of a new project, in the layout that localedge and pywrangler accept.

Source: reference page of Python Workers, section 5 (the template of create-cloudflare), read
2026-12-01.
"""

from __future__ import annotations

import json
from typing import Final

_ENTRY: Final = """\
from urllib.parse import urlsplit

from greeting import greet
from workers import Response, WorkerEntrypoint


class Default(WorkerEntrypoint):
    async def fetch(self, request):
        path = urlsplit(request.url).path
        if path == "/notes" and request.method == "POST":
            return await self.add_note(await request.text())
        if path == "/notes":
            found = await self.env.DB.prepare("SELECT id, text FROM notes ORDER BY id").all()
            return Response.json(found.results)
        return Response(greet(await self.env.KV.get("name")))

    async def add_note(self, text):
        if not text.strip():
            return Response("A note needs a text.", status=400)
        statement = self.env.DB.prepare("INSERT INTO notes (text) VALUES (?) RETURNING id, text")
        return Response.json(await statement.bind(text).first(), status=201)
"""
_GREETING: Final = """\
def greet(name):
    return f"Hello, {name or 'World'}!"
"""
_MIGRATION: Final = """\
-- Migration number: 0001

CREATE TABLE notes (
  id INTEGER PRIMARY KEY,
  text TEXT NOT NULL
);
"""
_TEST: Final = '''\
"""Run with `pytest`: every test has empty stores of its own, migrations applied."""

import pytest

pytestmark = pytest.mark.anyio


@pytest.fixture
def anyio_backend():
    return "asyncio"


async def test_it_greets_who_is_named_in_kv(env, edge):
    await env.KV.put("name", "Ada")

    answer = await edge.fetch("/")

    assert answer.text == "Hello, Ada!"


async def test_a_note_outlives_the_worker_that_took_it(edge):
    made = await edge.fetch("/notes", method="POST", body="buy milk")
    await edge.kill()

    found = await edge.fetch("/notes")

    assert (made.status_code, found.json()) == (201, [{"id": 1, "text": "buy milk"}])


async def test_a_note_without_a_text_is_refused(edge):
    answer = await edge.fetch("/notes", method="POST", body=" ")

    assert answer.status_code == 400
'''
_PYPROJECT: Final = """\
[project]
name = "{name}"
version = "0.1.0"
requires-python = ">=3.12"
dependencies = []

[dependency-groups]
dev = ["workers-py", "workers-runtime-sdk"]

[tool.pytest.ini_options]
testpaths = ["tests"]
"""
_CONFIG: Final = """\
{{
  "name": "{name}",
  "main": "src/entry.py",
  "compatibility_date": "{date}",
  "compatibility_flags": ["python_workers"],
  "kv_namespaces": [{{ "binding": "KV" }}],
  "d1_databases": [{{ "binding": "DB", "database_name": "{name}" }}],
  "observability": {{ "enabled": true }}
}}
"""
_README: Final = """\
# {name}

On this machine:

    localedge d1 migrations apply DB
    localedge dev
    localedge check
    pytest

On the edge:

    uv run pywrangler deploy
    uv run pywrangler d1 migrations apply DB --remote
"""
_IGNORED: Final = (
    ".localedge/",
    ".wrangler/",
    ".venv/",
    ".venv-workers/",
    "python_modules/",
    "node_modules/",
    "__pycache__/",
    ".dev.vars*",
    ".env*",
)


def files(name: str, date: str) -> dict[str, str]:
    """The text of each file of a project called `name`, by its path in it."""
    return {
        "src/entry.py": _ENTRY,
        "src/greeting.py": _GREETING,
        "migrations/0001_create_notes.sql": _MIGRATION,
        "tests/test_entry.py": _TEST,
        "wrangler.jsonc": _CONFIG.format(name=name, date=date),
        "pyproject.toml": _PYPROJECT.format(name=name),
        "package.json": _package(name),
        "README.md": _README.format(name=name),
        ".gitignore": "\n".join(_IGNORED) + "\n",
    }


def _package(name: str) -> str:
    verbs = ("dev", "deploy")
    package = {
        "name": name,
        "version": "0.1.0",
        "private": True,
        "scripts": {verb: f"uv run pywrangler {verb}" for verb in verbs},
        "devDependencies": {"wrangler": "^4.127.1"},
    }
    return json.dumps(package, indent=2) + "\n"
