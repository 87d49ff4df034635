"""Help as a terminal shows it: paragraphs are filled, each example has a line of its own."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from typing import Final

from typer.core import TyperGroup

_EXAMPLES: Final = re.compile(r"Examples?:\s*")
_TAG: Final = re.compile(r"(?<!\\)\[(?=[a-z#/@])")
"""What rich would take for markup, and leave out."""


def polished(command: object) -> None:
    """The help of `command`, and of all commands in it, is as it is shown."""
    text = getattr(command, "help", None)
    if isinstance(text, str):
        shown = _TAG.sub(r"\\[", "\n\n".join(_paragraphs(text)))
        setattr(command, "help", shown)  # noqa: B010  (typer's own field)
    if isinstance(command, TyperGroup):
        for inner in command.commands.values():
            polished(inner)


def examples(text: str) -> list[str]:
    """The command lines that the examples in a help text are."""
    for paragraph in text.split("\n\n"):
        found = _EXAMPLES.match(paragraph.strip())
        if found is not None:
            lines = " ".join(paragraph.strip()[found.end() :].split())
            return [one for one in re.split(r" ?· | (?=localedge )", lines) if one]
    return []


def _paragraphs(text: str) -> Iterator[str]:
    for paragraph in inspect.cleandoc(text).split("\n\n"):
        if _EXAMPLES.match(paragraph):
            yield "\n".join(["Examples:", *(f"  {one}" for one in examples(paragraph))])
        else:
            yield " ".join(paragraph.split())
