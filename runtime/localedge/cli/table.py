"""Rows in a frame, for a person who looks at them."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Sequence
from typing import Final

from rich.cells import cell_len, chop_cells

_NARROWEST: Final = 6
"""A column gets no narrower than that: what needs more columns is shown one below the other."""


def plain(value: object) -> str:
    """`value` as text for a terminal: what agents wrote cannot move the cursor or forge a line."""
    return "".join(
        character if character.isprintable() else character.encode("unicode_escape").decode()
        for character in str(value)
    )


def fitted(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """`rows` as a table that fits the terminal; as it is where stdout is none.

    Shape: cells are folded; with more columns than fit, each row is a list of names and values.
    """
    if not sys.stdout.isatty():
        return framed(columns, rows)
    width = shutil.get_terminal_size().columns
    widths = _shares(_natural(columns, rows), width - 3 * len(columns) - 1)
    if widths is None:
        return _listed(columns, rows, width)
    folded = [
        ["\n".join(_folded(cell, most)) for cell, most in zip(row, widths, strict=True)]
        for row in (columns, *rows)
    ]
    return framed(folded[0], folded[1:])


def framed(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """`rows` under `columns` in a frame of lines, one line of text per line of a cell."""
    widths = _natural(columns, rows)
    bars = ["─" * (width + 2) for width in widths]
    between = f"├{'┼'.join(bars)}┤"
    drawn = [_row(row, widths) for row in (columns, *rows)]
    return "\n".join((f"┌{'┬'.join(bars)}┐", f"\n{between}\n".join(drawn), f"└{'┴'.join(bars)}┘"))


def _natural(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> list[int]:
    return [
        max(cell_len(line) for row in (columns, *rows) for line in _lines(row[at]))
        for at in range(len(columns))
    ]


def _shares(wanted: Sequence[int], space: int) -> list[int] | None:
    """The widths of columns that want so much of `space`; None when it is too little."""
    widths = list(wanted)
    over = sum(widths) - space
    while over > 0:
        widest = max(widths)
        if widest <= _NARROWEST:
            return None
        next_widest = max((w for w in widths if w < widest), default=0)
        at = [place for place, width in enumerate(widths) if width == widest]
        cut = min(widest - max(next_widest, _NARROWEST), -(-over // len(at)))
        for place in at:
            widths[place] -= min(cut, max(0, over))
            over -= min(cut, max(0, over))
    return widths


def _listed(columns: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> str:
    most = min(max(map(cell_len, columns)), max(_NARROWEST, width // 3))
    parts = []
    for number, row in enumerate(rows, 1):
        parts.append(f"─ {number} ".ljust(width, "─"))
        for name, cell in zip(columns, row, strict=True):
            first, *rest = _folded(cell, max(_NARROWEST, width - most - 2))
            shown = _folded(name, most)[0]
            parts.append(shown + " " * (most - cell_len(shown) + 2) + first)
            parts += [" " * (most + 2) + line for line in rest]
    return "\n".join(parts)


def _folded(cell: str, width: int) -> list[str]:
    return [part for line in _lines(cell) for part in chop_cells(line, width) or [""]]


def _lines(cell: str) -> list[str]:
    return cell.split("\n")


def _row(cells: Sequence[str], widths: Sequence[int]) -> str:
    columns = [_lines(cell) for cell in cells]
    height = max(len(lines) for lines in columns)
    filled = [lines + [""] * (height - len(lines)) for lines in columns]
    return "\n".join(
        "│ "
        + " │ ".join(
            line + " " * (width - cell_len(line)) for line, width in zip(lines, widths, strict=True)
        )
        + " │"
        for lines in zip(*filled, strict=True)
    )
