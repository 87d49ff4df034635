"""What a check finds, and the rules that it finds it by."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

Level = Literal["error", "warning"]


@dataclass(frozen=True, slots=True)
class Rule:
    """One thing that the check looks for.

    Shape: `id` names it in reports, in silencing comments and as the page docs/check/<id>.md;
    `level` is "error" for what fails on the edge, "warning" for what may differ there; `says` is
    its sentence and `fix` what to do, both with {} fields.
    """

    id: str
    level: Level
    says: str
    fix: str


@dataclass(frozen=True, slots=True)
class Finding:
    """A rule that holds somewhere.

    Shape: `line` and `column` count from 1, `line` is 0 for a whole file.
    """

    rule: Rule
    file: Path
    line: int
    column: int
    message: str
    fix: str

    def text(self, root: Path) -> str:
        """`file:line:column: level rule: message  fix`, the file relative to `root`."""
        place = self.shown(root)
        if self.line:
            place += f":{self.line}:{self.column}"
        advice = f"  {self.fix}" if self.fix else ""
        return f"{place}: {self.rule.level} {self.rule.id}: {self.message}{advice}"

    def shown(self, root: Path) -> str:
        """The file as seen from `root`, where it lies below it."""
        return str(self.file.relative_to(root) if self.file.is_relative_to(root) else self.file)


def at(rule: Rule, file: Path, line: int, column: int = 1, /, **fields: object) -> Finding:
    """A finding of `rule`, its sentence and its fix filled from `fields`."""
    said, fix = rule.says.format(**fields), rule.fix.format(**fields)
    return Finding(rule, file, line, column, said, fix)
