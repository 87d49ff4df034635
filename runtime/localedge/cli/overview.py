"""What `localedge --help` says: one line for each noun, all of it on one screen of 80 by 24."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

SUMMARIES: Final = {
    "dev": "run the workers on this machine until Ctrl-C",
    "init": "make a new project",
    "check": "say what of the project would fail or differ on the edge",
    "export": "write what the edge needs of the project",
    "verify": "compare this machine's answers with the real parts'",
    "kv": "read and write local KV namespaces",
    "d1": "SQL, migrations, export and time travel of local D1 databases",
    "agent": "agents' tasks and decisions; bring in edgestate",
    "trace": "print what happened to a task, across agents",
    "tail": "follow requests and their logs",
    "logs": "print what workers have printed and raised",
    "kill": "kill an isolate, as SIGKILL from outside would",
    "clock": "move the clock of the workers",
    "explore": "every crash, every order, every stale read of a scenario",
    "doctor": "what this machine and this project have, and what to do",
    "completion": "completion for bash, zsh and fish",
}
"""In the order in which help shows them. One that is not here is shown by its own first line."""


def overview(nouns: Iterable[str]) -> str:
    """The help of the whole command line."""
    lines = [f"  {noun:<12}{SUMMARIES.get(noun, '')}".rstrip() for noun in nouns]
    return "\n".join(
        [
            "Usage: localedge COMMAND ...",
            "",
            "Run, break and trust Cloudflare-style Python Workers on plain CPython.",
            "",
            *lines,
            "",
            "localedge COMMAND --help shows what a command takes, with examples.",
            "",
        ]
    )
