"""From a configuration file to a Document."""

from __future__ import annotations

from pathlib import Path

from localedge.errors import Exit, OperatorError
from localedge.project import jsonc, toml
from localedge.project.document import Document, Keys

# Source: workers-sdk packages/workers-utils/src/parse.ts, read 2026-12-01.
_FOREIGN_MARKS = (
    (b"\x00\x00\xfe\xff", "UTF-32 BE"),
    (b"\xff\xfe\x00\x00", "UTF-32 LE"),
    (b"\xfe\xff", "UTF-16 BE"),
    (b"\xff\xfe", "UTF-16 LE"),
)


def read(file: Path, *, shown: str) -> Document:
    """Return what `file` says; the name of its kind decides how it is read.

    A file that is neither TOML nor JSON says nothing, as in wrangler. `shown` is the file's name
    in messages.
    Errors: OperatorError with Exit.CONFIG.
    """
    text = _text(file, shown)
    match file.suffix:
        case ".toml":
            return _read_toml(file, text, shown)
        case ".json" | ".jsonc":
            return _read_jsonc(file, text, shown)
    return Document(file, {})


def _text(file: Path, shown: str) -> str:
    try:
        data = file.read_bytes()
    except OSError as exc:
        reason = exc.strerror or type(exc).__name__
        raise refusal(
            "config/unreadable", f"Could not read file: {shown} ({reason})", "Is the path right?"
        ) from exc
    for mark, encoding in _FOREIGN_MARKS:
        if data.startswith(mark):
            raise refusal(
                "config/encoding",
                f"{shown}: Configuration file contains {encoding} byte order marker",
                "Save the file as UTF-8.",
            )
    return data.decode("utf-8", "replace").removeprefix("\ufeff")


def _read_toml(file: Path, text: str, shown: str) -> Document:
    try:
        value, lines = toml.parse(text)
    except toml.TomlError as exc:
        place = f":{exc.line}" if exc.line else ""
        place += f":{exc.column}" if exc.column else ""
        raise refusal("config/syntax", f"{shown}{place}: {exc.message}") from exc
    return Document(file, value, lines)


def _read_jsonc(file: Path, text: str, shown: str) -> Document:
    try:
        value, offsets = jsonc.parse(text)
    except jsonc.JsoncError as exc:
        line, column = _place(text, exc.offset)
        raise refusal(
            "config/syntax",
            f"{shown}:{line}:{column}: {exc.name}",
            _JSONC_HINTS.get(exc.name, "Comments and trailing commas are allowed, nothing else."),
        ) from exc
    return Document(file, value, _lines(text, offsets))


_JSONC_HINTS = {
    "InvalidSymbol": "Names and texts stand in double quotes; numbers are decimal.",
    "CommaExpected": "A comma is missing before this.",
    "ValueExpected": "Here a value is missing.",
    "EndOfFileExpected": "The value at the top has ended before this.",
    "UnexpectedEndOfString": "The text that begins here has no closing double quote.",
    "UnexpectedEndOfComment": "The comment that begins here has no end.",
    "CloseBraceExpected": "An object has no closing brace.",
    "CloseBracketExpected": "An array has no closing bracket.",
}


def _place(text: str, offset: int) -> tuple[int, int]:
    before = text[:offset]
    return before.count("\n") + 1, offset - before.rfind("\n")


def _lines(text: str, offsets: dict[Keys, int]) -> dict[Keys, int]:
    lines: dict[Keys, int] = {}
    line, position = 1, 0
    for keys, offset in sorted(offsets.items(), key=lambda entry: entry[1]):
        line += text.count("\n", position, offset)
        position = offset
        lines[keys] = line
    return lines


def refusal(code: str, message: str, hint: str = "") -> OperatorError:
    """An error of the configuration, which a command answers with Exit.CONFIG."""
    return OperatorError(code, message, hint, exit=Exit.CONFIG)
