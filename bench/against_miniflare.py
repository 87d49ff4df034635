"""Drive the same worker logic on localedge and miniflare, in turns; write docs/benchmarks.md.

`python -m bench.against_miniflare [--rounds N] [--seconds S]`. Rates are medians over the rounds of
one run; what counts is the ratio. The load comes from a process of its own on the same cores, whose
share of CPU stands beside the figures.
"""

from __future__ import annotations

import argparse
import json
import os
import signal
import statistics
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from bench import peers, report
from bench.peers import Peer, until_good

LOADS: list[tuple[str, str, int, float]] = [
    ("hello", "/hello", 32, 2.5),
    ("KV get", "/kv-get", 32, 3),
    ("KV put", "/kv-put", 32, 6),
    ("D1 select by key", "/d1-select", 32, 8),
    ("D1 insert", "/d1-insert", 32, 6),
    ("D1 batch of 100", "/d1-batch-100", 8, 3),
    ("500 operations in one request", "/operations-500", 2, 3),
]


def load(peer: Peer, path: str, connections: int, seconds: float) -> dict[str, float]:
    """What the load generator measured of `path`."""
    shown = subprocess.run(
        [sys.executable, "-m", "bench.load", peer.url + path, str(seconds), str(connections)],
        check=True,
        capture_output=True,
        text=True,
    ).stdout
    measured: dict[str, float] = json.loads(shown)
    if measured["errors"]:
        raise RuntimeError(f"{peer.name} answered {measured['errors']} × not 200 to {path}")
    return measured


def rates(names: dict[str, Peer], rounds: int, seconds: float) -> list[report.Row]:
    """Requests a second, per load and peer, in turns."""
    rows = []
    for title, path, connections, goal in LOADS:
        seen: dict[str, list[float]] = defaultdict(list)
        client_cpu = total_cpu = 0.0
        for _ in range(rounds):
            for name, peer in names.items():
                before = peer.cpu_s()
                measured = load(peer, path, connections, seconds)
                seen[name].append(measured["per_second"])
                client_cpu += measured["client_cpu_s"]
                total_cpu += measured["client_cpu_s"] + peer.cpu_s() - before
        rows.append(
            report.Row(
                title,
                "requests/s",
                {name: statistics.median(values) for name, values in seen.items()},
                goal=f"≥ {goal}×",
                met=lambda ours, theirs, goal=goal: ours >= goal * theirs,
                note=f"client {100 * client_cpu / max(total_cpu, 0.01):.0f} % of CPU",
            )
        )
        print(rows[-1].line(), file=sys.stderr)
    return rows


def next_good_after_edit(peer: Peer, number: int) -> float:
    """Milliseconds from saving the worker to the first answer that the new code gives."""
    word = f"hello-{number}"
    text = peer.worker_file.read_text()
    old = '"hello"' if '"hello"' in text else f'"hello-{number - 1}"'
    peer.worker_file.write_text(text.replace(f"Response({old})", f'Response("{word}")'))

    def new_answer() -> None:
        if peer.get("/hello").decode() != word:
            raise ConnectionError("the old code answered")

    return until_good(new_answer)


def isolates(peer: Peer) -> list[dict[str, Any]]:
    """The isolates of our server: pid, state, in_flight, served of each."""
    found: list[dict[str, Any]] = json.loads(peer.get("/cdn-cgi/localedge/status"))["workers"][0][
        "isolates"
    ]
    return found


def next_good_after_sigkill(peer: Peer) -> float:
    """Milliseconds from SIGKILL of every isolate that serves to the next good response."""
    for isolate in isolates(peer):
        if isolate["state"] == "serving":
            os.kill(isolate["pid"], signal.SIGKILL)
    return until_good(lambda: peer.get("/hello"))


def restart_workerd(state: Path) -> float:
    """Milliseconds until miniflare serves again: it does not start a killed workerd anew."""
    with peers.miniflare(state) as again:
        return again.start_ms


def repeated(rounds: int, measure: report.Measure) -> float:
    return statistics.median(measure(n) for n in range(1, rounds + 1))


def moments(ours: Peer, theirs: Peer, folder: Path, rounds: int) -> list[report.Row]:
    """Start, edit, SIGKILL, `fresh` and memory."""

    def start_ours(n: int) -> float:
        with peers.localedge(folder / f"start-{n}") as peer:
            return peer.start_ms

    def start_theirs(n: int) -> float:
        with peers.miniflare(folder / f"start-theirs-{n}") as peer:
            return peer.start_ms

    rows = [
        report.Row(
            "start to first response",
            "ms",
            {
                "localedge": repeated(rounds, start_ours),
                "miniflare": repeated(rounds, start_theirs),
            },
            goal="≤ 0.7×",
            met=lambda a, b: a <= 0.7 * b,
        ),
        report.Row(
            "edit to next good response",
            "ms",
            {
                "localedge": repeated(rounds, lambda n: next_good_after_edit(ours, n)),
                "miniflare": repeated(rounds, lambda n: next_good_after_edit(theirs, n)),
            },
            goal="≤ 200 ms",
            met=lambda a, _: a <= 200,
        ),
    ]
    killed = repeated(rounds, lambda _: settled(next_good_after_sigkill, ours))
    rows.append(
        report.Row(
            "SIGKILL to next good response",
            "ms",
            {"localedge": killed, "miniflare": restart_workerd(folder / "again")},
            goal="≤ 50 ms",
            met=lambda a, _: a <= 50,
            note="miniflare: a new start, it does not replace a killed workerd",
        )
    )
    with peers.localedge(folder / "fresh", local="fresh = true") as fresh:
        one = [1000 * timed(fresh, "/hello") for _ in range(20 * rounds)]
    rows.append(
        report.Row(
            "`fresh`: one request, one isolate",
            "ms",
            {"localedge": statistics.median(one)},
            goal="≤ 25 ms",
            met=lambda a, _: a <= 25,
        )
    )
    return rows


def settled(measure: report.PeerMeasure, peer: Peer) -> float:
    """`measure`, once every isolate of `peer` stands again."""

    def all_there() -> None:
        if len(isolates(peer)) < 3:
            raise ConnectionError("two isolates and a standby are not there yet")

    until_good(all_there)
    for _ in range(4):
        peer.get("/hello")
    return measure(peer)


def timed(peer: Peer, path: str) -> float:
    began = time.perf_counter()
    peer.get(path)
    return time.perf_counter() - began


def memory(ours: Peer, theirs: Peer) -> list[report.Row]:
    """All processes together, and one idle isolate's own pages."""
    settled(lambda _: 0.0, ours)
    idle = [i["pid"] for i in isolates(ours) if i["state"] == "standby"]
    return [
        report.Row(
            "memory of all processes (PSS)",
            "MB",
            {"localedge": ours.memory_mb(), "miniflare": theirs.memory_mb()},
            goal="≤ 0.7×",
            met=lambda a, b: a <= 0.7 * b,
        ),
        report.Row(
            "idle isolate, private memory",
            "MB",
            {"localedge": max(peers.private_kb(pid) for pid in idle) / 1024},
            goal="≤ 20 MB",
            met=lambda a, _: a <= 20,
        ),
    ]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--seconds", type=float, default=2.0)
    options = parser.parse_args()
    version = peers.install_miniflare()
    with tempfile.TemporaryDirectory(prefix="bench-") as name, ExitStack() as stack:
        folder = Path(name)
        ours = stack.enter_context(peers.localedge(folder / "ours"))
        power = stack.enter_context(
            peers.localedge(folder / "power", local='durability = "power"', name="power")
        )
        theirs = stack.enter_context(peers.miniflare(folder / "theirs"))
        rows = memory(ours, theirs)
        rows += moments(ours, theirs, folder, options.rounds)
        rows += rates({"localedge": ours, "miniflare": theirs}, options.rounds, options.seconds)
        rows += insert_with_power(power, theirs, options.rounds, options.seconds)
    report.write("miniflare", f"miniflare {version}", rows)


def insert_with_power(power: Peer, theirs: Peer, rounds: int, seconds: float) -> list[report.Row]:
    """The insert once more with `durability = "power"` (an fsync per commit)."""
    seen: dict[str, list[float]] = {"localedge": [], "miniflare": []}
    for _ in range(rounds):
        seen["localedge"].append(load(power, "/d1-insert", 32, seconds)["per_second"])
        seen["miniflare"].append(load(theirs, "/d1-insert", 32, seconds)["per_second"])
    return [
        report.Row(
            'D1 insert, `durability = "power"`',
            "requests/s",
            {name: statistics.median(values) for name, values in seen.items()},
            goal="",
            met=lambda _a, _b: True,
        )
    ]


if __name__ == "__main__":
    main()
