"""A file changes: the new version serves, the old one finishes what it has begun."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from tests.runtime.edge import Edge, edge, worker, write_project
from tests.waiting import wait_until

from localedge.gateway.recording import recorded
from localedge.port.export.target import write
from localedge.project.own_files import EXPORT_RECORD
from localedge.supervisor.reload import is_source

pytestmark = [pytest.mark.processes, pytest.mark.anyio]


def answering(text: str) -> str:
    """A worker that answers with `text`, or waits first."""
    return worker(f"""
        if "wait" in request.url:
            print("waiting")
            await asyncio.sleep(0.6)
        return Response({text!r})
    """)


async def until(server: Edge, text: str) -> httpx.Response:
    """The first answer that has `text` in it."""

    async def found() -> httpx.Response | None:
        answer = await server.get("/")
        return answer if text in answer.text else None

    answer = await wait_until(found)
    assert answer is not None
    return answer


def save(folder: Path, source: str) -> None:
    """The worker's file holds `source`."""
    (folder / "src" / "entry.py").write_text(source, "utf-8")


async def test_a_saved_file_serves_and_the_old_version_ends_what_it_began(tmp_path: Path) -> None:
    write_project(tmp_path, answering("one"))

    async with edge(tmp_path) as server:
        slow = asyncio.ensure_future(server.get("/wait"))
        await server.wait_log("waiting")
        save(tmp_path, answering("two"))
        await until(server, "two")
        begun = await slow
        await server.wait_full()
        status = await server.status()

    assert begun.text == "one"
    assert {isolate["generation"] for isolate in status["isolates"]} == {2}


async def test_a_syntax_error_keeps_the_old_version_serving_and_shows_the_error(
    tmp_path: Path,
) -> None:
    write_project(tmp_path, answering("one"))

    async with edge(tmp_path) as server:
        save(tmp_path, "class Default(:\n")
        await server.wait_log("not reloaded")
        during = await server.get("/")
        failure = (await server.status())["failure"]
        log = server.logged()
        save(tmp_path, answering("three"))
        await until(server, "three")

    assert during.text == "one"
    assert "SyntaxError" in failure
    assert "entry.py" in log
    assert "class Default(:" in log


async def test_ten_saves_in_a_second_are_one_reload(tmp_path: Path) -> None:
    write_project(tmp_path, answering("0"))

    async with edge(tmp_path) as server:
        for number in range(1, 11):
            save(tmp_path, answering(str(number)))
            await asyncio.sleep(0.08)  # what is tested is saving at a pace
        await until(server, "10")
        status = await server.status()

    assert status["generation"] == 2


async def test_a_worker_that_raises_at_import_is_shown_and_heals_when_mended(
    tmp_path: Path,
) -> None:
    write_project(tmp_path, "def broken():\n    return 1 / 0\n\nbroken()\n")

    async with edge(tmp_path) as server:
        page = await server.get("/", headers={"accept": "text/html"})
        text = await server.get("/")
        log = server.logged()
        save(tmp_path, answering("mended"))
        await until(server, "mended")

    assert page.status_code == 500
    assert "ZeroDivisionError" in page.text
    assert "return 1 / 0" in page.text
    assert "ZeroDivisionError" in text.text
    assert "line 2, in broken" in log
    assert "localedge/" not in text.text.partition("Traceback")[2]


async def test_a_changed_config_is_read_again(tmp_path: Path) -> None:
    write_project(tmp_path, worker("return Response(self.env.WORD)"), config='[vars]\nWORD = "a"')

    async with edge(tmp_path) as server:
        before = await server.get("/")
        write_project(
            tmp_path, worker("return Response(self.env.WORD)"), config='[vars]\nWORD = "b"'
        )
        await until(server, "b")

    assert before.text == "a"


async def test_a_broken_config_is_named_and_changes_nothing(tmp_path: Path) -> None:
    write_project(tmp_path, answering("one"))

    async with edge(tmp_path) as server:
        (tmp_path / "wrangler_like.toml").write_text("name = ", "utf-8")
        line = await server.wait_log("not reloaded")
        answer = await server.get("/")

    assert "config/" in line
    assert answer.text == "one"


async def test_a_namespace_that_is_added_gets_its_server(tmp_path: Path) -> None:
    write_project(tmp_path, answering("without"))
    storing = worker("""
        await self.env.KV.put("key", "stored")
        return Response(await self.env.KV.get("key"))
    """)

    async with edge(tmp_path) as server:
        write_project(tmp_path, storing, config='[[kv_namespaces]]\nbinding = "KV"\nid = "n"')
        answer = await until(server, "stored")

    assert answer.status_code == 200


def test_a_file_that_our_output_goes_to_is_no_source(tmp_path: Path) -> None:
    output, source = tmp_path / "output.txt", tmp_path / "entry.py"
    source.touch()
    program = (
        "import sys; from localedge.supervisor.reload import is_own_output as is_own\n"
        "print(*map(is_own, sys.argv[1:]))"
    )

    with output.open("wb") as file:
        words = [sys.executable, "-c", program, str(output), str(source), str(tmp_path / "gone")]
        subprocess.run(words, stdout=file, check=True, timeout=20)

    assert output.read_text("utf-8").split() == ["True", "False", "False"]


def test_what_localedge_writes_itself_is_no_source(tmp_path: Path) -> None:
    with recorded(tmp_path / "session.jsonl"):
        pass
    write(tmp_path / "edge", {EXPORT_RECORD: b"{}", "src/entry.py": b""})
    write(tmp_path, {"entry.py": b"", "parts/names.jsonl": b'{"name": "Ada"}'})

    files = [path for path in tmp_path.rglob("*") if path.is_file()]
    sources = {path.name for path in files if is_source(str(path), tmp_path)}

    assert sources == {"entry.py", "names.jsonl"}
    assert not is_source(str(tmp_path / "edge" / "src" / "entry.py"), tmp_path)
