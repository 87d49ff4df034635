"""`localedge export`: a folder that the edge's own tools deploy."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path
from typing import Any

import pytest
from tests.export.projects import CONFIG, ENTRY, FILES, MIGRATION, run, write

from localedge.gateway.recording import recorded
from localedge.port.export.exporting import Done, export
from localedge.port.export.gathering import Library
from localedge.port.scaffold import create
from localedge.project import jsonc, load
from localedge.project.reading import read

LIBRARY = Library(Path("worker/edgestate").resolve(), "1.0")


def exported(root: Path, *, force: bool = False, environment: str | None = None) -> Done:
    project = load(start=root, environment=environment, process_env={})
    value = read(project.file, shown=project.file.name).value
    return export(project, value, root / "edge", library=LIBRARY, force=force)


def config_of(folder: Path) -> Any:
    return jsonc.parse((folder / "wrangler.jsonc").read_text("utf-8"))[0]


def names_below(folder: Path) -> set[str]:
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def test_the_configuration_loses_the_local_table_and_the_local_ids(tmp_path: Path) -> None:
    exported(write(tmp_path, FILES))

    assert config_of(tmp_path / "edge") == {
        "$schema": "node_modules/wrangler/config-schema.json",
        "name": "notes",
        "main": "src/entry.py",
        "compatibility_date": "2026-11-01",
        "compatibility_flags": ["python_workers"],
        "vars": {"GREETING": "hello"},
        "kv_namespaces": [{"binding": "CACHE"}],
        "d1_databases": [
            {"binding": "DB", "database_name": "notes", "migrations_dir": "migrations"}
        ],
    }


def test_the_bundle_and_the_migrations_go_along(tmp_path: Path) -> None:
    hidden = {".dev.vars": "KEY=value", "src/.env": "A=b", "src/__pycache__/greeting.pyc": ""}

    done = exported(write(tmp_path, {**FILES, **hidden}))

    assert set(done.files) == {
        *("wrangler.jsonc", "pyproject.toml", "package.json", ".gitignore"),
        *("src/entry.py", "src/greeting.py", "migrations/0001_create_notes.sql"),
    }
    assert names_below(tmp_path / "edge") == {*done.files, ".localedge-export.json"}


def test_a_worker_at_the_top_of_its_project_gets_a_folder_of_its_own(tmp_path: Path) -> None:
    files = {
        "wrangler.toml": CONFIG.replace("src/", "").split("[localedge]")[0],
        "entry.py": ENTRY,
        "greeting.py": FILES["src/greeting.py"],
        "parts/deep/one.py": "",
        "migrations/0001_create_notes.sql": MIGRATION,
        "tests/test_entry.py": "",
        "requirements.txt": "",
    }

    done = exported(write(tmp_path, files))

    bundled = {name for name in done.files if name.startswith("src/")}
    assert bundled == {"src/entry.py", "src/greeting.py", "src/parts/deep/one.py"}
    assert config_of(tmp_path / "edge")["main"] == "src/entry.py"


def test_a_recorded_session_stays_here(tmp_path: Path) -> None:
    with recorded(write(tmp_path, FILES) / "src" / "clicks.jsonl"):
        pass

    done = exported(tmp_path)

    assert not [name for name in done.files if "clicks" in name]
    assert [note for note in done.notes if note.startswith("Left out clicks.jsonl")]


def test_folders_outside_of_the_project_come_into_the_export(tmp_path: Path) -> None:
    text = CONFIG.replace("src/entry.py", "../code/entry.py")
    text = text.replace('"migrations"', '"../sql"\nmigrations_pattern = "../sql/*.sql"')
    files = {
        "project/wrangler_like.toml": text,
        "code/entry.py": ENTRY,
        "code/greeting.py": "",
        "sql/0001_create_notes.sql": MIGRATION,
    }
    write(tmp_path, files)

    done = exported(tmp_path / "project")

    assert {"src/entry.py", "migrations/0001_create_notes.sql"} < set(done.files)
    database = config_of(tmp_path / "project/edge")["d1_databases"][0]
    assert database["migrations_dir"] == "migrations"
    assert database["migrations_pattern"] == "migrations/*.sql"


def test_each_environment_keeps_what_is_its_own(tmp_path: Path) -> None:
    staging = """
[env.staging]
main = "other/entry.py"
[[env.staging.d1_databases]]
binding = "DB"
database_id = "staging"
"""
    files = {**FILES, "wrangler_like.toml": CONFIG + staging, "other/entry.py": ENTRY}

    done = exported(write(tmp_path, files), environment="staging")

    assert config_of(tmp_path / "edge")["env"]["staging"] == {
        "main": "other/entry.py",
        "d1_databases": [{"binding": "DB", "database_name": "notes-staging-db"}],
    }
    lines = [command.line for command in done.commands]
    assert (
        "npx wrangler d1 create notes-staging-db --binding DB --update-config --env staging"
        in lines
    )


def test_static_files_go_along(tmp_path: Path) -> None:
    text = CONFIG + '\n[assets]\ndirectory = "./public"\n'
    files = {**FILES, "wrangler_like.toml": text, "public/index.html": "<p>hi"}

    done = exported(write(tmp_path, files))

    assert "public/index.html" in done.files
    assert config_of(tmp_path / "edge")["assets"] == {"directory": "public"}


def test_the_commands_create_migrate_and_deploy(tmp_path: Path) -> None:
    files = {**FILES, ".dev.vars": 'API_KEY="a-secret-of-some-length"\n'}

    done = exported(write(tmp_path, files))

    assert [command.line for command in done.commands] == [
        f"cd {tmp_path}/edge && npm install",
        "npx wrangler login",
        "npx wrangler kv namespace create notes-cache --binding CACHE --update-config",
        "npx wrangler d1 create notes --binding DB --update-config",
        "npx wrangler d1 migrations apply DB --remote",
        "uv run pywrangler deploy",
        "npx wrangler secret put API_KEY",
    ]


def test_two_bindings_of_one_store_are_told_apart_from_two_stores(tmp_path: Path) -> None:
    text = CONFIG.replace(
        "[[d1_databases]]", '[[kv_namespaces]]\nbinding = "SAME"\nid = "cache"\n\n[[d1_databases]]'
    )

    done = exported(write(tmp_path, {**FILES, "wrangler_like.toml": text}))

    lines = [command.line for command in done.commands]
    assert "# give SAME in wrangler.jsonc the id of CACHE" in lines
    assert not any("create" in line and "SAME" in line for line in lines)


def test_an_id_that_the_edge_has_made_stays_and_is_not_made_again(tmp_path: Path) -> None:
    made = "0123456789abcdef0123456789abcdef"
    text = CONFIG.replace('id = "cache"', f'id = "{made}"')

    done = exported(write(tmp_path, {**FILES, "wrangler_like.toml": text}))

    assert config_of(tmp_path / "edge")["kv_namespaces"] == [{"binding": "CACHE", "id": made}]
    assert not any("kv namespace create" in command.line for command in done.commands)


def test_a_second_export_keeps_ids_and_foreign_files_and_removes_its_own_old_ones(
    tmp_path: Path,
) -> None:
    exported(write(tmp_path, FILES))
    edge = tmp_path / "edge"
    made = "01234567-89ab-cdef-0123-456789abcdef"
    text = (edge / "wrangler.jsonc").read_text("utf-8")
    given = text.replace('"binding": "DB"', f'"binding": "DB", "database_id": "{made}"')
    (edge / "wrangler.jsonc").write_text(given, "utf-8")
    (edge / "notes.md").write_text("mine", "utf-8")
    (tmp_path / "src/greeting.py").unlink()
    (tmp_path / "src/entry.py").write_text(ENTRY.replace("from greeting", "from words"), "utf-8")
    (tmp_path / "src/words.py").write_text("", "utf-8")

    done = exported(tmp_path, force=True)

    assert done.removed == ("src/greeting.py",)
    assert config_of(edge)["d1_databases"][0]["database_id"] == made
    assert {"notes.md", "src/words.py"} < names_below(edge)


def test_a_project_of_init_is_exported_with_its_own_pyproject(tmp_path: Path) -> None:
    create(tmp_path / "notes")

    done = exported(tmp_path / "notes")

    original = (tmp_path / "notes/pyproject.toml").read_text("utf-8")
    assert (tmp_path / "notes/edge/pyproject.toml").read_text("utf-8") == original
    assert done.notes == ()
    assert done.findings == ()


def test_a_pyproject_of_something_larger_gives_what_the_worker_imports(tmp_path: Path) -> None:
    larger = '[project]\nname = "x"\nversion = "1"\ndependencies = ["pydantic>=2.10", "uvloop"]\n'
    entry = "import httpx\nimport pydantic\nimport surely_unknown\n" + ENTRY
    files = {**FILES, "pyproject.toml": larger, "src/entry.py": entry}

    done = exported(write(tmp_path, files))

    document = tomllib.loads((tmp_path / "edge/pyproject.toml").read_text("utf-8"))
    assert document["project"]["dependencies"] == ["httpx", "pydantic>=2.10"]
    assert document["dependency-groups"]["dev"] == ["workers-py", "workers-runtime-sdk"]
    assert [note.rpartition(": ")[2] for note in done.notes if "pyproject" in note] == [
        "uvloop.",
        "httpx.",
        "add it to pyproject.toml.",
    ]


def test_edgestate_comes_along_where_its_tables_are_there(tmp_path: Path) -> None:
    tables = {
        f"migrations/{number:04}_{path.name[5:]}": path.read_text("utf-8")
        for number, path in enumerate(sorted((LIBRARY.folder / "migrations").glob("*.sql")), 2)
    }
    files = {**FILES, **tables, "src/entry.py": "from edgestate import Agent\n" + ENTRY}

    done = exported(write(tmp_path, files))

    assert "src/edgestate/__init__.py" in done.files
    document = tomllib.loads((tmp_path / "edge/pyproject.toml").read_text("utf-8"))
    assert document["project"]["dependencies"] == ["pydantic"]


def test_the_command_tells_what_is_next(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(write(tmp_path, FILES))

    assert run() == 0

    said = capsys.readouterr().out.splitlines()
    assert said[0] == "Wrote 7 files to edge."
    assert said[2].startswith("  cd edge && npm install  # ")


def test_json_has_the_commands(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(write(tmp_path, FILES))

    assert run("out", "--json") == 0

    told = json.loads(capsys.readouterr().out)
    assert told["folder"] == str(tmp_path / "out")
    assert told["commands"][-1] == "uv run pywrangler deploy"
