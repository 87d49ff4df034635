"""The reference pages, made from the code; `python -m tests.docs.reference` writes them."""

from __future__ import annotations

import ast
import inspect
import json
import re
import types
import typing
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, Final

import typer
from typer.core import TyperArgument, TyperGroup

import edgestate.errors
import edgestate.team.errors
from edgestate.errors import StateError
from localedge.cli import nouns
from localedge.cli.overview import SUMMARIES
from localedge.errors import Exit
from localedge.port.check.checking import rules
from localedge.project import keys
from localedge.project.models import Local

ROOT: Final = Path(__file__).parents[2]
FOLDER: Final = ROOT / "docs" / "reference"
HEAD: Final = "<!-- Made from the code by `make reference`; a test compares. -->"
SOURCES: Final = (ROOT / "runtime", ROOT / "bindings")


def cell(text: str) -> str:
    """`text` as it stands in a table."""
    return " ".join(text.split()).replace("|", "\\|")


def table(heads: list[str], rows: list[list[str]]) -> list[str]:
    """A table in Markdown."""
    lines = [f"| {' | '.join(heads)} |", "|" + "---|" * len(heads)]
    return [*lines, *(f"| {' | '.join(map(cell, row))} |" for row in rows)]


# --- configuration ----------------------------------------------------------------------------


def _type(annotation: Any) -> str:
    if typing.get_origin(annotation) is typing.Literal:
        return " or ".join(f"`{value!r}`".replace("'", '"') for value in annotation.__args__)
    if isinstance(annotation, types.UnionType):
        return " or ".join(_type(one) for one in annotation.__args__ if one is not type(None))
    return {str: "text", int: "whole number", float: "number", bool: "true or false"}[annotation]


def _bounds(metadata: list[Any]) -> str:
    words = {"ge": "at least", "gt": "more than", "le": "at most"}
    found = [
        f"{word} {getattr(one, name)}"
        for one in metadata
        for name, word in words.items()
        if getattr(one, name, None) is not None
    ]
    return ", " + ", ".join(found) if found else ""


def config_page() -> str:
    """Every key of a configuration file."""
    rows = []
    for name, field in Local.model_fields.items():
        default = "none" if field.default is None else json.dumps(field.default)
        kind = _type(field.annotation) + _bounds(field.metadata)
        rows.append([f"`{name}`", kind, f"`{default}`", field.description or ""])
    lines = [
        "# Configuration keys",
        HEAD,
        "",
        "`wrangler_like.toml`, or wrangler's `.toml`, `.json` or `.jsonc`: wrangler's own",
        "keys, and one table of ours. A key that does not exist is refused with the nearest one.",
        "",
        "## The table `[localedge]`",
        "",
        *table(["key", "what it is", "default", "what it does"], rows),
    ]
    groups = (
        ("Keys that environments inherit", keys.INHERITED),
        ("Keys that each environment says for itself", keys.OWN),
        ("Keys of the whole file", keys.TOP_ONLY),
    )
    for title, group in groups:
        lines += ["", f"## {title}", "", ", ".join(f"`{name}`" for name in sorted(group)) + "."]
    return "\n".join([*lines, ""])


# --- commands ---------------------------------------------------------------------------------


def commands() -> Iterator[tuple[str, Any]]:
    """Every command with its path, groups before what is in them."""
    group = typer.main.get_command(nouns.app)
    context = typer.Context(group)
    assert isinstance(group, nouns.Nouns)
    for name in group.list_commands(context):
        yield from _below(name, group.get_command(context, name))


def _below(path: str, command: Any) -> Iterator[tuple[str, Any]]:
    yield path, command
    if isinstance(command, TyperGroup):
        for name, inner in command.commands.items():
            yield from _below(f"{path} {name}", inner)


def _options(command: Any) -> list[list[str]]:
    rows = []
    for param in command.params:
        if isinstance(param, TyperArgument):
            shown = param.metavar or (param.name or "").upper()
            rows.append([f"`{shown}`", getattr(param, "help", "") or ""])
        elif param.name != "help" and not getattr(param, "hidden", False):
            names = ", ".join(f"`{one}`" for one in [*param.opts, *param.secondary_opts])
            default = param.default
            is_shown = default not in (None, False, True, (), []) and not callable(default)
            note = f" Default: `{default}`." if is_shown else ""
            rows.append([names, (getattr(param, "help", "") or "") + note])
    return rows


def cli_page() -> str:
    """Every command."""
    lines = ["# Commands", HEAD, "", "`localedge COMMAND --help` says the same in a terminal.", ""]
    lines += table(
        ["exit code", "means"],
        [[str(int(code)), code.name.lower()] for code in Exit],
    )
    for path, command in commands():
        depth = "##" if " " not in path else "###"
        lines += ["", f"{depth} localedge {path}", ""]
        # Brackets are marked for the terminal, which would take them for markup.
        lines += _paragraphs((command.help or SUMMARIES.get(path, "")).replace("\\[", "["))
        rows = _options(command)
        if rows:
            lines += ["", *table(["given", "what it does"], rows)]
    return "\n".join([*lines, ""])


def _paragraphs(text: str) -> list[str]:
    lines: list[str] = []
    for paragraph in text.split("\n\n"):
        if paragraph.startswith("Examples:"):
            examples = [line.strip() for line in paragraph.splitlines()[1:]]
            lines += ["```sh", *examples, "```", ""]
        else:
            lines += [" ".join(paragraph.split()), ""]
    return lines[:-1]


# --- errors -----------------------------------------------------------------------------------


def _text(node: ast.expr | None) -> str | None:
    """What stands in a call as text, with … for what is put in."""
    if isinstance(node, ast.Constant) and isinstance(node.value, str):
        return node.value
    if isinstance(node, ast.JoinedStr):
        return "".join(_text(part) or "…" for part in node.values)
    return None


def _is_code(text: str | None) -> bool:
    head, slash, tail = (text or "").partition("/")
    names = (head, *tail.split("/"))
    return bool(slash) and all(
        name and name[0].isalpha() and name.replace("-", "").isalnum() and name.islower()
        for name in names
    )


def operator_errors() -> dict[str, list[str]]:
    """Every code of an error for operators, with its messages."""
    found: dict[str, list[str]] = {}
    for path in sorted(file for source in SOURCES for file in source.rglob("*.py")):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if not isinstance(node, ast.Call) or not node.args or not _is_code(_text(node.args[0])):
                continue
            name = getattr(node.func, "id", getattr(node.func, "attr", ""))
            if not name.endswith(("Error", "refusal", "refused", "error")):
                continue
            code = _text(node.args[0]) or ""
            parts = [_text(arg) for arg in node.args[1:3]]
            message = "  ".join(part for part in parts if part)
            if message not in found.setdefault(code, []):
                found[code].append(message)
    return dict(sorted(found.items()))


def _first(thing: Any) -> str:
    return " ".join((inspect.getdoc(thing) or "").split("\n\n")[0].split())


def errors_page() -> str:
    """Every error."""
    lines = [
        "# Errors",
        HEAD,
        "",
        "## For who runs a command",
        "",
        "`code: what happened  what to do`, and the exit code of the [command](cli.md).",
        "",
    ]
    lines += table(
        ["code", "says"],
        [
            [f"`{code}`", " / ".join(message for message in messages if message)]
            for code, messages in operator_errors().items()
        ],
    )
    lines += [
        "",
        "## For who uses edgestate",
        "",
        "Subclasses of `StateError`; each carries the ids that it is built from as attributes.",
        "",
    ]
    classes = {
        value
        for module in (edgestate.errors, edgestate.team.errors)
        for value in vars(module).values()
        if isinstance(value, type) and issubclass(value, StateError) and value is not StateError
    }
    lines += table(
        ["error", "code", "worth trying again", "means"],
        [
            [f"`{one.__name__}`", f"`{one.code}`", "yes" if one.retryable else "no", _first(one)]
            for one in sorted(classes, key=lambda one: one.__name__)
        ],
    )
    lines += [
        "",
        "Worker code gets what the platform raises, with the platform's texts: `JsException`, or",
        "the SDK's own `TypeError` and `OSError`.",
    ]
    return "\n".join([*lines, ""])


# --- rules ------------------------------------------------------------------------------------


def rules_page() -> str:
    """Every rule of `localedge check`."""
    lines = [
        "# Rules of `localedge check`",
        HEAD,
        "",
        "An error fails on the edge, a warning may differ there ([more](../check/README.md)).",
        "",
    ]
    lines += table(
        ["rule", "level", "says", "what to do"],
        [
            [f"[`{rule.id}`](../check/{rule.id}.md)", rule.level, rule.says, rule.fix]
            for rule in rules()
        ],
    )
    return "\n".join([*lines, ""])


# --- tables of other pages --------------------------------------------------------------------

COMPARISON: Final = ROOT / "docs" / "comparison.md"
_FROM: Final = re.compile(r"(<!-- from (\S+): (.+?) -->\n)(.*?)(<!-- end -->)", re.DOTALL)


def measured(page: str, name: str) -> str:
    """What a page has between its marks of that name; else the tables under that heading."""
    text = (ROOT / "docs" / page).read_text("utf-8")
    _, begun, rest = text.partition(f"<!-- {name}: begin -->\n")
    if begun:
        return rest.partition(f"<!-- {name}: end -->")[0]
    section = text.partition(f"\n## {name}\n")[2].partition("\n## ")[0]
    lines = [line for line in section.splitlines() if line.startswith("|")]
    assert lines, f"{page} has nothing named {name}"
    return "\n".join(["", *lines, ""]) + "\n"


def comparison_page() -> str:
    """The comparison, with the tables as they are on the pages that they come from."""
    text = COMPARISON.read_text("utf-8")
    return _FROM.sub(lambda found: found[1] + measured(found[2], found[3]) + found[5], text)


PAGES: Final[dict[str, Callable[[], str]]] = {
    "config.md": config_page,
    "cli.md": cli_page,
    "errors.md": errors_page,
    "check-rules.md": rules_page,
}


def main() -> None:
    """Write every page."""
    FOLDER.mkdir(exist_ok=True)
    for name, page in PAGES.items():
        (FOLDER / name).write_text(page(), "utf-8")
        print(f"Wrote {(FOLDER / name).relative_to(ROOT)}.")
    COMPARISON.write_text(comparison_page(), "utf-8")


if __name__ == "__main__":
    main()
