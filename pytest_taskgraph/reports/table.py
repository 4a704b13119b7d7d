"""Aligned columns of text, for every text report."""

from __future__ import annotations

from collections.abc import Sequence

from .escape import columns, one_line, shorten

GAP = "  "


def table(
    header: Sequence[str], rows: Sequence[Sequence[str]], align: str, width: int | None = None, gap: str = GAP
) -> list[str]:
    """Return the header's line and one for each row, without spaces at the end.

    Cells are made printable, spaces around them are kept.

    Args:
        header: The titles of the columns.
        rows: The cells of each row.
        align: A letter for each column, "l" or "r".
        width: The columns of a line. The first column is shortened with an ellipsis to fit; if that is not enough, the
            whole line. None for no limit.
        gap: The text between columns.
    """
    cells = [[_cell(cell) for cell in row] for row in (header, *rows)]
    widths = _widths(cells, width, gap)
    if width is not None:
        cells = [[shorten(row[0], widths[0]), *row[1:]] for row in cells]
    lines = [gap.join(map(_pad, row, widths, align)).rstrip() for row in cells]
    return lines if width is None else [shorten(line, width) for line in lines]


def folded_table(
    header: Sequence[str], rows: Sequence[Sequence[str]], align: str, width: int, gap: str = GAP
) -> list[list[str]]:
    """Return the lines of the header and of each row; a first cell that does not fit stands on a line of its own.

    Args:
        header: The titles of the columns.
        rows: The cells of each row.
        align: A letter for each column, "l" or "r".
        width: The columns of a line.
        gap: The text between columns.
    """
    cells = [[_cell(cell) for cell in row] for row in (header, *rows)]
    widths = _widths(cells, width, gap)
    folded_rows = []
    for row in cells:
        folded = columns(row[0]) > widths[0] and any(cell.strip() for cell in row[1:])
        lines = [gap.join(map(_pad, ["" if folded else row[0], *row[1:]], widths, align)).rstrip()]
        folded_rows.append([shorten(line, width) for line in ([row[0], *lines] if folded else lines)])
    return folded_rows


def _widths(cells: Sequence[Sequence[str]], width: int | None, gap: str) -> list[int]:
    """Return the width of each column; the first has what the others leave of `width`."""
    widths = [max(columns(row[at]) for row in cells) for at in range(len(cells[0]))]
    if width is not None:
        widths[0] = max(1, min(widths[0], width - sum(widths[1:]) - len(gap) * (len(widths) - 1)))
    return widths


def _cell(text: str) -> str:
    bare = text.strip(" ")
    before, after = (text[: text.index(bare)], text[text.index(bare) + len(bare) :]) if bare else ("", "")
    return before + one_line(bare) + after


def _pad(cell: str, width: int, side: str) -> str:
    space = " " * (width - columns(cell))
    return space + cell if side == "r" else cell + space
