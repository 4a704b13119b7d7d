"""Tables of the page: those of each family, repetitions, and variations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...family_description import STATISTICS, Column
from ...results.tables import Line, Table, TableEntry, cross_family_tables, family_tables
from ...results.tally import Tally
from ..columns import PUBLISHED, cell_text, graded_note, name_of, published_text, source_line, source_marks, title_of
from ..repetition_lines import Repetitions, repetitions
from ..wording import interval, number

Interval = tuple[float, float]
_TITLES = {"mean": "mean score", "interval": "95 % interval", "deviation": "standard deviation"}
MOST_DRAWN = 4  # intervals drawn in a row; if there are more, only those of columns of rank 0 are drawn
_COUNTS = ("unparseable", "refused", "errors", "skipped")


@dataclass(frozen=True, slots=True)
class HtmlCell:
    """A cell: a text, and the interval and the value that are drawn beside it on an axis from 0 to 1."""

    text: str
    interval: Interval | None = None
    value: float | None = None
    number: bool = True  # True if it is aligned to the right
    between: str = ""  # the ends of the interval as text, unless `text` holds them


@dataclass(frozen=True, slots=True)
class RateCell:
    """The pass rate or mean score of one of several models, with its interval and counts."""

    rate: HtmlCell
    between: str
    n: str
    counts: list[tuple[str, str]]  # numbers of unparseable, refused, failed and skipped questions, with their names


@dataclass(frozen=True, slots=True)
class HtmlLine:
    """A row; `kind` is that of `tables.Line`, "plain" for a group without a section."""

    name: str
    kind: str
    model: str
    cells: list[HtmlCell]
    rates: list[RateCell | None]  # one for each model, None if the model was not asked


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """A table: models side by side, each with its rate (`beside`), or a line for each pair of row and model."""

    caption: str
    heading: str
    columns: list[str]
    models: list[str]
    beside: bool
    by_model: bool  # True if a column names the model
    lines: list[HtmlLine]
    few: bool  # True if a number rests on few questions
    sources: list[str]


@dataclass(frozen=True, slots=True)
class FamilyTables:
    """The tables of one family."""

    name: str
    group: str  # the word of the family for a group
    tables: list[HtmlTable]
    graded_note: str
    relations: list[list[str]]
    repetitions: Repetitions | None

    @property
    def few(self) -> bool:
        """Return True if a number rests on few questions."""
        return any(table.few for table in self.tables)


def families(tally: Tally) -> list[FamilyTables]:
    """Return the tables of each family of the run, in their order."""
    return [_family_tables(tally.of_family(name), name) for name in tally.families]


def tables_across_families(tally: Tally) -> list[HtmlTable]:
    """Return the table over several families; empty for a single family."""
    return [html_table(table, "family") for table in cross_family_tables(tally)]


def _family_tables(tally: Tally, name: str) -> FamilyTables:
    group = tally.descriptions[name].group
    return FamilyTables(
        name,
        group,
        [html_table(table, _heading(table, group)) for table in family_tables(tally)],
        graded_note(tally),
        relations(tally),
        repetitions(tally),
    )


def _heading(table: Table, group: str) -> str:
    return group if table.rows == "group" else table.spec.title


def html_table(table: Table, heading: str) -> HtmlTable:
    """Return a table as the page shows it; `heading` is the heading of the first column."""
    beside = table.arrangement != "rows"
    marks = source_marks(table.sources)
    columns = table.columns("html")
    return HtmlTable(
        table.spec.caption or table.spec.name,
        heading,
        [title for column in columns for title in _titles(table, column)],
        list(table.models),
        beside,
        table.names_models,
        list(_beside_lines(table) if beside else _row_lines(table, columns, marks)),
        any(entry.few for entry in table.entries),
        [source_line(source, mark, table.entries) for source, mark in marks.items()],
    )


def _beside_lines(table: Table) -> Iterator[HtmlLine]:
    for line in table.lines:
        rates = [_rate(entry, table.main) if entry else None for entry in line.entries]
        yield HtmlLine(line.name, _kind(table, line), "", [], rates)


def _row_lines(table: Table, columns: list[Column], marks: Mapping[str, str]) -> Iterator[HtmlLine]:
    """Yield a line for each row and model, model by model."""
    for model_index in range(len(table.models)):
        for line in table.lines:
            entry = line.entries[model_index]
            if entry is not None:
                cells = [cell for column in columns for cell in _cells(table, column, entry, marks)]
                yield HtmlLine(name_of(line), _kind(table, line), entry.model, cells, [])


def _kind(table: Table, line: Line) -> str:
    below = any(other.kind == "section" for other in table.lines)
    return "plain" if line.kind == "group" and not below else line.kind


def _rate(entry: TableEntry, main: str) -> RateCell:
    cell = entry.cells[main]
    counts = [(f"{entry.count(name):,}", name) for name in _COUNTS if entry.count(name)]
    rate = HtmlCell(number(cell.value), cell.ends, cell.value)
    return RateCell(rate, _between(cell.ends), _count(entry, "n"), counts)


def _titles(table: Table, column: Column) -> list[str]:
    title = column.title or _TITLES.get(column.value) or title_of(column)
    return [title, *([PUBLISHED] if table.has_references(column.value) else [])]


def _cells(table: Table, column: Column, entry: TableEntry, marks: Mapping[str, str]) -> list[HtmlCell]:
    cell, value = entry.cells[column.value], column.value
    is_drawn = _is_drawn(table, column)
    if entry.published:
        html_cell = HtmlCell(cell_text(value, entry, marks), number=not is_drawn)
    elif value == "interval":
        main = entry.cells.get("mean" if table.spec.graded else "rate")
        html_cell = HtmlCell(_between(cell.ends), cell.ends, main.value if main else None, number=False)
    elif isinstance(cell.value, int):
        html_cell = HtmlCell(_count(entry, value))
    elif value in STATISTICS:
        html_cell = HtmlCell(number(cell.value))
    elif is_drawn:
        html_cell = HtmlCell(number(cell.value), cell.ends, cell.value, False, _between(cell.ends) if cell.ends else "")
    else:
        html_cell = HtmlCell(number(cell.value))
    published = "" if entry.published else published_text(cell.references, marks)
    return [html_cell, *([HtmlCell(published)] if table.has_references(value) else [])]


def _is_drawn(table: Table, column: Column) -> bool:
    """Return True if the intervals of a column are drawn: those of a metric or aggregate that fits."""
    if column.value in STATISTICS or not any(entry.cells[column.value].ends for entry in table.entries):
        return False
    others = [column for column in table.columns("html") if column.value not in STATISTICS]
    return len(others) <= MOST_DRAWN or column.rank == 0


def _count(entry: TableEntry, value: str) -> str:
    return f"{entry.count(value):,}{'*' if value == 'n' and entry.few else ''}"


def _between(ends: Interval | None) -> str:
    return interval(ends).replace("-", "–") if ends else "-"


def relations(tally: Tally) -> list[list[str]]:
    """Return how often the verdict stayed the same, for each model and variation."""
    return [
        [relation.name, relation.model, f"{relation.pairs:,}", number(relation.share), interval(relation.interval)]
        for relation in tally.relations()
    ]
