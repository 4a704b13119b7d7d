"""Aligned columns of text, for every text report."""

from __future__ import annotations

from collections.abc import Sequence

from .escape import columns, one_line, shorten

GAP = "  "


def table(header: Sequence[str], rows: Sequence[Sequence[str]], align: str, width: int | None = None) -> list[str]:
    """Return the header's line and one for each row, without spaces at the end.

    Cells are made printable, spaces around them are kept.

    Args:
        header: The titles of the columns.
        rows: The cells of each row.
        align: A letter for each column, "l" or "r".
        width: The columns of a line. The first column is shortened with an ellipsis to fit; if that is not enough, the
            whole line. None for no limit.
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
