"""Columns that line up, for every report made of text."""

from __future__ import annotations

from collections.abc import Sequence

from .escape import columns, one_line, shorten

GAP = "  "


def table(header: Sequence[str], rows: Sequence[Sequence[str]], align: str, width: int | None = None) -> list[str]:
    """The header's line and one for each row, without spaces at the end.

    `align` has a letter a column, "l" or "r". Cells are made printable, spaces around them are kept. No line is wider
    than `width`: the first column gives way, shortened with an ellipsis; where that is not enough, the whole line.
    """
    cells = [[_cell(cell) for cell in row] for row in (header, *rows)]
    widths = [max(columns(row[at]) for row in cells) for at in range(len(header))]
    if width is not None:
        others = sum(widths[1:]) + len(GAP) * (len(widths) - 1)
        widths[0] = max(1, min(widths[0], width - others))
        cells = [[shorten(row[0], widths[0]), *row[1:]] for row in cells]
    lines = [GAP.join(map(_pad, row, widths, align)).rstrip() for row in cells]
    return lines if width is None else [shorten(line, width) for line in lines]


def _cell(text: str) -> str:
    bare = text.strip(" ")
    before, after = (text[: text.index(bare)], text[text.index(bare) + len(bare) :]) if bare else ("", "")
    return before + one_line(bare) + after


def _pad(cell: str, width: int, side: str) -> str:
    space = " " * (width - columns(cell))
    return space + cell if side == "r" else cell + space
