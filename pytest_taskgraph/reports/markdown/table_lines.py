"""The tables of a run in Markdown: a line for each row and model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ...family_description import STATISTICS, Column
from ...results.tables import Cell, Line, Table, TableEntry
from ..columns import PUBLISHED, SIGN, own_text, published, source_line, source_marks, title_of
from ..wording import interval, number
from .elements import cell, folded, table, words

LONG = 30  # rows of a table that stands open
WIDE = 8  # models that stand beside each other in one table

_Row = tuple[Line, TableEntry]


def markdown_table(shown: Table, most: int) -> Iterator[str]:
    """Yield the table; of more than LONG rows in sections, only sections, totals and what is not all right stand open.

    Args:
        shown: The table.
        most: The greatest number of rows.
    """
    rows = _rows(shown)
    folds = len(rows) > LONG and any(one.kind == "section" for one in shown.lines)
    opened = [one for one in rows if one[0].kind in ("section", "total") or not one[1].accepted] if folds else rows
    if shown.titled or shown.grid:
        yield from ("", words(shown.spec.caption or shown.spec.name))
    if shown.grid and len(shown.models) <= WIDE:
        yield from _grid(shown, most)
        return
    yield from _table(shown, opened[:most])
    if len(opened) > most:
        yield from ("", f"And {len(opened) - most} more rows.")
    if len(opened) < len(rows):
        yield from folded(f"All {len(rows)} rows", list(_table(shown, rows[:most]))[1:])
    for source, mark in source_marks(_sources(shown)).items():
        yield from ("", source_line(words(source), mark, shown.entries))


def _grid(shown: Table, most: int) -> list[str]:
    """A row for each value of the label, with a cell for each model: rate or mean score, its interval, and n."""
    titles = [f"{_heading(shown.spec.title)}", *map(cell, shown.models)]
    rows = [[_name(line), *(_with_interval(shown, entry) for entry in line.entries)] for line in shown.lines[:most]]
    more = ["", f"And {len(shown.lines) - most} more rows."] if len(shown.lines) > most else []
    return [*table(titles, rows), *more]


def _with_interval(shown: Table, entry: TableEntry | None) -> str:
    if entry is None:
        return "-"
    main, mark = entry.cells[shown.main], r"\*" if entry.few else ""
    return f"{number(main.value)} ({interval(main.ends)}, n {entry.count('n')}{mark})"


def _rows(shown: Table) -> list[_Row]:
    """The rows: of rates row by row, each model below the other; of graded questions model by model."""
    if shown.spec.graded:
        columns = zip(*(line.entries for line in shown.lines), strict=True)
        pairs = [(line, entry) for column in columns for line, entry in zip(shown.lines, column, strict=True)]
    else:
        pairs = [(line, entry) for line in shown.lines for entry in line.entries]
    return [(line, entry) for line, entry in pairs if entry is not None]


def _table(shown: Table, rows: Sequence[_Row]) -> list[str]:
    by_model = shown.side_by_side or (shown.spec.graded and shown.rows != "model")
    columns, marks = shown.columns("md"), source_marks(_sources(shown))
    heads = [title for column in columns for title in _titles(shown, column)]
    cells = [
        [
            _name(line),
            *([cell(entry.model)] if by_model else []),
            *(text for column in columns for text in _texts(shown, column, entry, marks)),
        ]
        for line, entry in rows
    ]
    return table([_heading(shown.spec.title), *(["model"] if by_model else []), *heads], cells, 2 if by_model else 1)


def _heading(text: str) -> str:
    """The text of others as a heading in a table."""
    return words(text).replace("|", r"\|")


def _name(line: Line) -> str:
    if line.kind == "total":
        return "**total**"
    name = cell(line.name)
    return {"section": f"**{name}**", "published": f"{name} {SIGN}"}.get(line.kind, name)


def _titles(shown: Table, column: Column) -> list[str]:
    title = title_of(column)
    found = [title if title == title_of(Column(column.value)) and column.value in STATISTICS else _heading(title)]
    found += ["95% interval"] if _has_ends(shown, column) else []
    return [*found, *([PUBLISHED] if shown.has_references(column.value) else [])]


def _texts(shown: Table, column: Column, entry: TableEntry, marks: dict[str, str]) -> list[str]:
    one = entry.cells[column.value]
    found = [own_text(column.value, entry, marks) + (r"\*" if column.value == "n" and entry.few else "")]
    found += [interval(one.ends)] if _has_ends(shown, column) else []
    return [*found, *([_beside(one, entry, marks)] if shown.has_references(column.value) else [])]


def _has_ends(shown: Table, column: Column) -> bool:
    """Return True if the intervals of the column stand beside it; those of statistics have a column of their own."""
    return column.value not in STATISTICS and any(one.cells[column.value].ends for one in shown.entries)


def _beside(one: Cell, entry: TableEntry, marks: dict[str, str]) -> str:
    return "" if entry.published else published(one.references, marks)


def _sources(shown: Table) -> Iterator[str]:
    return (one.source for entry in shown.entries for of in entry.cells.values() for one in of.references)
