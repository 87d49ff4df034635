"""`localedge kv`, in wrangler's words, with a running server and without one."""

from __future__ import annotations

import asyncio
import base64
import json
import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from localedge.cli.main import main
from localedge.supervisor import valkey
from localedge.supervisor.state import Run, locked, write_run

pytestmark = pytest.mark.processes

CONFIG = """
name = "x"

[[kv_namespaces]]
binding = "KV"
id = "main-id"

[[kv_namespaces]]
binding = "BOTH"
id = "real"
preview_id = "preview"

[[env.other.kv_namespaces]]
binding = "KV"
id = "other-id"
"""


@dataclass(frozen=True)
class Answer:
    """How a command ended and what it wrote."""

    exit: int
    out: bytes
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


Command = Callable[..., Answer]


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A project's folder, which is the current one."""
    (tmp_path / "wrangler_like.toml").write_text(CONFIG, encoding="utf-8")
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder: Path, capfdbinary: pytest.CaptureFixture[bytes]) -> Command:
    """`run("key", "get", …)` is `localedge kv key get …`."""

    def command(*args: str) -> Answer:
        with pytest.raises(SystemExit) as ended:
            main(["kv", *args])
        out, err = capfdbinary.readouterr()
        return Answer(int(ended.value.code or 0), out, err.decode())

    return command


@pytest.fixture
def server(folder: Path) -> Iterator[str]:
    """A server that has the project's state, as `localedge dev` does."""
    state = folder / ".localedge"
    lock, kv = locked(state), valkey.running(state / "kv")
    with asyncio.Runner() as runner:
        runner.run(lock.__aenter__())
        url = runner.run(kv.__aenter__())
        run = Run(pid=os.getpid(), host="127.0.0.1", port=8787, token="t", kv_url=url)
        write_run(state, run)
        yield url
        runner.run(kv.__aexit__(None, None, None))
        runner.run(lock.__aexit__(None, None, None))


def test_what_was_put_without_a_server_is_there_for_the_next_command(run: Command) -> None:
    put = run("key", "put", "k", "väl", "--binding", "KV")

    got = run("key", "get", "k", "--namespace-id", "main-id")

    assert (put.exit, put.out) == (0, b"")
    assert put.err == 'Writing the value "väl" to key "k" on namespace main-id.\n'
    assert (got.exit, got.out, got.err) == (0, "väl".encode(), "")


@pytest.mark.usefixtures("server")
def test_a_running_server_is_used_when_there_is_one(run: Command) -> None:
    run("key", "put", "k", "v", "--binding=KV", "--metadata", '{"a": 1}')

    listed = run("key", "list", "--binding=KV")
    text = run("key", "get", "k", "--binding=KV", "--text")
    as_json = run("key", "get", "k", "--binding=KV", "--json")

    assert listed.json == [{"name": "k", "metadata": {"a": 1}}]
    assert text.out == b"v\n"
    assert as_json.json == {"key": "k", "value": "v", "metadata": {"a": 1}}


@pytest.mark.usefixtures("server")
def test_keys_are_listed_by_prefix_and_beyond_one_page(run: Command, folder: Path) -> None:
    items = [{"key": f"a{number:04}", "value": ""} for number in range(1001)]
    (folder / "many.json").write_text(json.dumps([*items, {"key": "b", "value": ""}]))

    put = run("bulk", "put", "many.json", "--binding=KV")
    listed = run("key", "list", "--binding=KV", "--prefix", "a")

    assert (put.exit, put.err) == (0, "Success!\n")
    assert [key["name"] for key in listed.json] == [item["key"] for item in items]


@pytest.mark.usefixtures("server")
def test_a_file_is_stored_byte_by_byte(run: Command, folder: Path) -> None:
    content = bytes(range(256))
    (folder / "in.bin").write_bytes(content)

    put = run("key", "put", "k", "--path", "in.bin", "--binding=KV", "--local")

    assert put.err == 'Writing the contents of in.bin to the key "k" on namespace main-id.\n'
    assert run("key", "get", "k", "--binding=KV").out == content


@pytest.mark.usefixtures("server")
def test_a_ttl_and_an_expiration_are_kept(run: Command) -> None:
    run("key", "put", "ttl", "v", "--binding=KV", "--ttl", "600")
    run("key", "put", "end", "v", "--binding=KV", "--expiration", "2000000000")

    end, ttl = run("key", "list", "--binding=KV").json

    assert end == {"name": "end", "expiration": 2_000_000_000}
    assert ttl["expiration"] < 2_000_000_000


@pytest.mark.usefixtures("server")
def test_a_key_is_deleted(run: Command) -> None:
    run("key", "put", "k", "v", "--binding=KV")

    deleted = run("key", "delete", "k", "--binding=KV")
    got = run("key", "get", "k", "--binding=KV")

    assert deleted.err == 'Deleting the key "k" on namespace main-id.\n'
    assert (got.exit, got.out, got.err) == (1, b"", "Value not found\n")


@pytest.mark.usefixtures("server")
def test_bulk_commands_read_their_keys_from_a_file(run: Command, folder: Path) -> None:
    items = [
        {"key": "a", "value": "1", "metadata": {"m": 1}, "expiration_ttl": 600},
        {"key": "b", "value": base64.b64encode(b"\x00\xff").decode(), "base64": True},
    ]
    (folder / "put.json").write_text(json.dumps(items))
    (folder / "get.json").write_text(json.dumps(["a", {"name": "missing"}]))
    (folder / "delete.json").write_text(json.dumps(["a", "missing"]))

    run("bulk", "put", "put.json", "--binding=KV")
    stored = run("key", "get", "b", "--binding=KV")
    got = run("bulk", "get", "get.json", "--binding=KV")
    deleted = run("bulk", "delete", "delete.json", "--binding=KV", "--force")
    left = run("key", "list", "--binding=KV")

    assert stored.out == b"\x00\xff"
    assert got.json == {"a": {"value": "1"}, "missing": {"value": None}}
    assert (deleted.exit, deleted.err) == (0, "Success!\n")
    assert left.json == [{"name": "b"}]


@pytest.mark.usefixtures("server")
def test_the_namespace_is_the_one_that_dev_uses_unless_told(run: Command) -> None:
    run("key", "put", "k", "preview", "--binding=BOTH")
    run("key", "put", "k", "real", "--binding=BOTH", "--no-preview")
    run("key", "put", "k", "other", "--binding=KV", "--env", "other")

    found = [run("key", "get", "k", f"--namespace-id={name}").out for name in ("preview", "real")]

    assert found == [b"preview", b"real"]
    assert run("key", "get", "k", "--binding=BOTH", "--preview").out == b"preview"
    assert run("key", "get", "k", "--namespace-id=other-id").out == b"other"


def test_state_can_lie_elsewhere(run: Command, folder: Path) -> None:
    run("key", "put", "k", "v", "--binding=KV", "--persist-to", "else where")

    assert run("key", "get", "k", "--binding=KV", "--persist-to", "else where").out == b"v"
    assert (folder / "else where" / "kv").is_dir()
    assert not (folder / ".localedge").exists()


@pytest.mark.parametrize(
    ("args", "exit", "said"),
    [
        (["key", "get", "k"], 2, "binding and namespace-id is required"),
        (["key", "get", "k", "--binding=A", "--namespace-id=b"], 2, "mutually exclusive"),
        (["key", "put", "k", "--binding=KV"], 2, "value and path is required"),
        (["key", "put", "k", "v", "--path=f", "--binding=KV"], 2, "mutually exclusive"),
        (["key", "put", "k", "v", "--metadata={", "--binding=KV"], 2, "--metadata is no JSON"),
        (["key", "get", "k", "--binding=NOPE"], 1, 'binding name "NOPE" was not found'),
        (["key", "get", "k", "--binding=KV", "--preview"], 1, "No preview ID found for KV"),
        (["key", "get", "k", "--binding=KV", "--remote"], 1, "Cannot use --remote"),
        (["key", "put", "k", "--path=missing", "--binding=KV"], 1, "Could not read file"),
        (["bulk", "put", "missing.json", "--binding=KV"], 1, "Could not read file"),
        (["key", "get", "k", "--binding=KV", "--config=no.toml"], 3, "config/"),
    ],
)
def test_a_command_line_that_cannot_be_is_refused(
    args: list[str], exit: int, said: str, run: Command
) -> None:
    answer = run(*args)

    assert answer.exit == exit
    assert said in " ".join(answer.err.replace("│", " ").split())
    assert answer.out == b""


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("{", "is no JSON: Expected property name"),
        ('{"a": 1}', "Expected an array of key-value objects"),
        ('[{"key": "a"}]', 'The item at index 0 is {"key": "a"}'),
        ('[{"key": "a", "value": 1}]', "The item at index 0"),
        ('[{"key": "a", "value": "?", "base64": true}]', "is not base64"),
    ],
)
def test_a_bulk_file_that_is_none_is_refused_whole(
    text: str, said: str, run: Command, folder: Path
) -> None:
    (folder / "put.json").write_text(text)

    answer = run("bulk", "put", "put.json", "--binding=KV")

    assert answer.exit == 1
    assert said in answer.err


@pytest.mark.usefixtures("server")
def test_what_the_platform_refuses_is_refused_in_its_words(run: Command) -> None:
    answer = run("key", "put", "k", "v", "--binding=KV", "--ttl", "59")

    assert answer.exit == 1
    assert answer.err.endswith(
        "kv/refused: KV PUT failed: 400 Invalid expiration_ttl of 59. "
        "Expiration TTL must be at least 60.\n"
    )


def test_a_state_that_somebody_else_has_is_named(run: Command, folder: Path) -> None:
    lock = locked(folder / ".localedge")
    with asyncio.Runner() as runner:
        runner.run(lock.__aenter__())
        answer = run("key", "get", "k", "--binding=KV")
        runner.run(lock.__aexit__(None, None, None))

    assert answer.exit == 4
    assert f"process {os.getpid()} has the local state" in answer.err


def test_without_a_config_a_namespace_is_named_by_its_id(run: Command, folder: Path) -> None:
    (folder / "wrangler_like.toml").unlink()

    run("key", "put", "k", "v", "--namespace-id=n")

    assert run("key", "get", "k", "--namespace-id=n").out == b"v"
    assert run("key", "get", "k", "--binding=KV").exit == 3


def test_a_redis_url_of_the_config_is_used(run: Command, folder: Path, valkey_url: str) -> None:
    config = folder / "wrangler_like.toml"
    config.write_text(CONFIG + f'\n[localedge]\nredis_url = "{valkey_url}"\n')

    run("key", "put", "k", "by url", "--namespace-id=test_kv_command")

    assert run("key", "get", "k", "--namespace-id=test_kv_command").out == b"by url"
    assert not (folder / ".localedge").exists()


def test_no_server_answers_there_is_an_exit_of_its_own(run: Command, folder: Path) -> None:
    config = folder / "wrangler_like.toml"
    config.write_text(CONFIG + f'\n[localedge]\nredis_url = "unix://{folder}/nobody"\n')

    answer = run("key", "get", "k", "--binding=KV")

    assert answer.exit == 4
    assert "kv/unreachable: KV GET failed: 500 Internal Server Error" in answer.err
