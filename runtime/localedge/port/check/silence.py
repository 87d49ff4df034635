"""Comments that silence a rule: `# localedge: ignore[rule] reason`, and after -- or // as well."""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

_COMMENT: Final = re.compile(r"(?:#|--|//)\s*localedge:\s*ignore\[([^\]\n]*)\][ \t]*([^\n]*)")


@dataclass(slots=True)
class Silences:
    """What the comments of one file silence.

    Shape: `by_line` maps a line to the rule ids that are silent there; `unreasoned` are the lines
    whose comment gives no reason and so silences nothing; `named` is every id with its line.
    """

    by_line: dict[int, frozenset[str]] = field(default_factory=dict)
    unreasoned: list[int] = field(default_factory=list)
    named: list[tuple[int, str]] = field(default_factory=list)

    def covers(self, rule: str, lines: range) -> bool:
        """Whether a comment on one of `lines` silences `rule`."""
        return any(rule in self.by_line.get(line, ()) for line in lines)

    def _take(self, line: int, comment: str, *, is_alone: bool) -> None:
        found = _COMMENT.match(comment)
        if found is None:
            return
        if not found[2].strip():
            self.unreasoned.append(line)
            return
        ids = frozenset(name.strip() for name in found[1].split(","))
        self.named.extend((line, name) for name in sorted(ids))
        # A comment on a line of its own speaks for the next one; for its own too, because what
        # concerns a whole file is told of its first line.
        for target in (line, line + 1) if is_alone else (line,):
            self.by_line[target] = self.by_line.get(target, frozenset()) | ids


def of_python(text: str) -> Silences:
    """The silences of Python source."""
    silences = Silences()
    if "localedge:" not in text:
        return silences
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        if token.type == tokenize.COMMENT:
            line, column = token.start
            is_alone = not token.line[:column].strip()
            silences._take(line, token.string, is_alone=is_alone)
    return _chained(silences, text.splitlines())


def of_text(text: str) -> Silences:
    """The silences of SQL, TOML or JSON with comments."""
    silences = Silences()
    for number, line in enumerate(text.splitlines(), start=1):
        found = _COMMENT.search(line)
        if found is not None:
            is_alone = not line[: found.start()].strip()
            silences._take(number, line[found.start() :], is_alone=is_alone)
    return _chained(silences, text.splitlines())


def _chained(silences: Silences, lines: list[str]) -> Silences:
    """Several comment lines, one below the other, speak for the line after the last one."""
    for line in sorted(silences.by_line):
        following = line
        while following <= len(lines) and _is_comment(lines[following - 1]):
            following += 1
        if following != line:
            ids = silences.by_line.get(following, frozenset())
            silences.by_line[following] = ids | silences.by_line[line]
    return silences


def _is_comment(line: str) -> bool:
    return line.lstrip().startswith(("#", "--", "//"))


def spoken(silences: Silences) -> Iterator[str]:
    """The ids that are silenced somewhere."""
    return (name for _, name in silences.named)
