"""Rows in a frame, for a person who looks at them."""

from __future__ import annotations

from collections.abc import Sequence

from rich.cells import cell_len


def framed(columns: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """`rows` under `columns` in a frame of lines, one line of text per line of a cell."""
    widths = [
        max(cell_len(line) for row in (columns, *rows) for line in _lines(row[at]))
        for at in range(len(columns))
    ]
    bars = ["─" * (width + 2) for width in widths]
    between = f"├{'┼'.join(bars)}┤"
    drawn = [_row(row, widths) for row in (columns, *rows)]
    return "\n".join((f"┌{'┬'.join(bars)}┐", f"\n{between}\n".join(drawn), f"└{'┴'.join(bars)}┘"))


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
