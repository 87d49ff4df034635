"""What a worker's death costs on stores of others and on ours: `python -m bench.explore_foreign`.

A task of four steps, each with one effect outside. The process is killed by SIGKILL before and
after each write of the store and each effect; a new process goes on, as the store's documentation
says. With a keyed tool, the other side knows a repetition and does nothing. Writes the table into
docs/explore.md.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable
from importlib import import_module
from importlib.metadata import version
from pathlib import Path

from bench import report
from bench.foreign.lives import Store, Tally, tally

PAGE = Path(__file__).parents[1] / "docs" / "explore.md"
STORES = (
    ("bench.foreign.langgraph_store", "LangGraph"),
    ("bench.foreign.dbos_store", "Dbos"),
    ("bench.foreign.edgestate_store", "Edgestate"),
)
HEAD = [
    "store",
    "tool",
    "points",
    "runs",
    "runs with a repeated effect",
    "most repeats in one",
    "a person was asked",
    "not resumed",
]


def main() -> None:
    """The table."""
    rows: list[list[str]] = []
    for module, name in STORES:
        # Imported once: the processes are forked from this one.
        store: Callable[[], Store] = getattr(import_module(module), name)
        for is_keyed in (False, True):
            with tempfile.TemporaryDirectory() as folder:
                title = store().name
                found = tally(store, title, is_keyed=is_keyed, folder=Path(folder) / "t")
                rows.append(_cells(found))
    names = ("langgraph", "langgraph-checkpoint-sqlite", "dbos")
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    said = f"{report.machine()}; {versions}. Killed by SIGKILL before and after each point."
    report.put("explore foreign", said, HEAD, rows, page=PAGE)


def _cells(found: Tally) -> list[str]:
    cells = (
        found.name,
        found.tool,
        found.points,
        found.runs,
        found.repeated,
        found.most_repeats,
        found.asked,
        found.unresumed + found.lost,
    )
    return [str(cell) for cell in cells]


if __name__ == "__main__":
    main()
