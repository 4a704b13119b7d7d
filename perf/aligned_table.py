"""Tables of the scripts of this folder, aligned for a terminal or in Markdown."""

from __future__ import annotations

from collections.abc import Sequence


def table_lines(headings: Sequence[str], rows: Sequence[Sequence[str]], markdown: bool) -> list[str]:
    """Return the lines of a table, whose cells are aligned to the right unless it is Markdown."""
    if markdown:
        return [f"| {' | '.join(cells)} |" for cells in (headings, ["---"] * len(headings), *rows)]
    widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
    return [
        "  ".join(cell.rjust(width) for cell, width in zip(cells, widths, strict=True)) for cells in (headings, *rows)
    ]
