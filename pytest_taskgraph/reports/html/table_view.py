"""Tables of the page: those of each family, repetitions, and variations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...family_description import STATISTICS, Column
from ...results.scoreboard import ScoreboardRow, is_baseline, order_models, scoreboard
from ...results.tables import Cell, Line, Table, TableEntry, cross_family_tables, family_tables
from ...results.tally import Tally
from ..columns import PUBLISHED, cell_text, graded_note, name_of, published_text, source_line, source_marks, title_of
from ..repetition_lines import Repetitions, repetitions
from ..scoreboard_text import (
    NONE,
    RATE,
    SAME,
    UNKNOWN,
    answered_text,
    block_name,
    cost_of,
    has_prompts,
    repeats_score,
    score_title,
    scoreboard_notes,
    seconds_text,
    time_of,
    tokens_text,
)
from ..wording import interval, model_name, number

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
    notes: list[str]


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
    columns = _columns(table)
    return HtmlTable(
        table.spec.caption or table.spec.name,
        heading,
        [title for column in columns for title in _titles(table, column)],
        order_models(table.models),
        beside,
        table.names_models,
        list(_beside_lines(table) if beside else _row_lines(table, columns, marks)),
        any(entry.few for entry in table.entries),
        [source_line(source, mark, table.entries) for source, mark in marks.items()],
        list(table.notes),
    )


def _columns(table: Table) -> list[Column]:
    """Return the columns of the table, without mean scores if each reads as the pass rate beside it."""
    columns = table.columns("html")
    if not {"rate", "mean"} <= {column.value for column in columns} or table.has_references("mean"):
        return columns
    figures = [[number(entry.cells[value].value) for value in ("rate", "mean")] for entry in table.entries]
    return [column for column in columns if column.value != "mean" or any(rate != mean for rate, mean in figures)]


def _beside_lines(table: Table) -> Iterator[HtmlLine]:
    for line in table.lines:
        entries = (line.entries[table.models.index(model)] for model in order_models(table.models))
        rates = [_rate(entry, table.main) if entry else None for entry in entries]
        yield HtmlLine(line.name, _kind(table, line), "", [], rates)


def _row_lines(table: Table, columns: list[Column], marks: Mapping[str, str]) -> Iterator[HtmlLine]:
    """Yield a line for each row and model, model by model."""
    for model in order_models(table.models):
        for line in table.lines:
            entry = line.entries[table.models.index(model)]
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
        [of.name, model_name(of.model), f"{of.pairs:,}", number(of.share), interval(of.interval)]
        for of in tally.relations()
    ]


@dataclass(frozen=True, slots=True)
class ScoreboardCell:
    """A cell: a text, the number it is sorted by, a second line, and the interval that is drawn beside it."""

    text: str
    sort: float | None = None  # None sorts last
    below: str = ""
    interval: tuple[float, float] | None = None
    value: float | None = None


@dataclass(frozen=True, slots=True)
class ScoreboardLine:
    """A row: a model, its prompt template if models have several rows, and its numbers."""

    model: str
    prompt: str
    highest: bool
    baseline: bool
    cells: list[ScoreboardCell]


@dataclass(frozen=True, slots=True)
class ScoreboardView:
    """The scoreboard."""

    prompts: bool  # True if a column names the prompt template
    titles: list[str]  # of the cells
    blocks: list[tuple[str, list[ScoreboardLine]]]  # name and rows; a single block needs no name
    few: bool  # True if a score rests on few questions
    notes: list[str]


def scoreboard_view(tally: Tally) -> ScoreboardView | None:
    """Return the scoreboard; None if no question was asked."""
    blocks = scoreboard(tally)
    rows = [row for block in blocks for row in block.rows]
    if not rows:
        return None
    title = score_title(blocks)
    cells_by_row = [dict(_score_cells(row, title)) for row in rows]
    titles = [
        name for name in cells_by_row[0] if any(cells[name].text not in (NONE, UNKNOWN) for cells in cells_by_row)
    ]
    cells_of = iter(cells_by_row)
    lines = [
        [
            ScoreboardLine(row.model, row.prompt, row.highest, is_baseline(row.model), [cells[name] for name in titles])
            for row, cells in zip(block.rows, cells_of, strict=False)
        ]
        for block in blocks
    ]
    names = [block_name(block, blocks) if len(blocks) > 1 else "" for block in blocks]
    return ScoreboardView(
        has_prompts(blocks),
        titles,
        list(zip(names, lines, strict=True)),
        any(row.few for row in rows),
        scoreboard_notes(blocks),
    )


def _score_cells(row: ScoreboardRow, score: str) -> Iterator[tuple[str, ScoreboardCell]]:
    """Yield the title and the cell of each column."""
    effort, usage = row.effort, row.effort.usage
    yield score, _figure(row.score, drawn=True)
    if score != RATE:
        yield RATE, _rate_figure(row)
    yield "above chance", ScoreboardCell(number(row.above_chance), row.above_chance)
    yield "answered", ScoreboardCell(answered_text(row), row.answered)
    yield "errors", ScoreboardCell(f"{row.errors:,}", row.errors)
    yield "tokens in", ScoreboardCell(tokens_text(usage.tokens_in, usage), usage.tokens_in)
    reasoning = "" if usage.tokens_reasoning is None else f"{usage.tokens_reasoning:,} reasoning"
    yield "tokens out", ScoreboardCell(tokens_text(usage.tokens_out, usage), usage.tokens_out, reasoning)
    yield "cost", ScoreboardCell(cost_of(usage), usage.cost)
    median = "" if effort.median is None else f"median {seconds_text(effort.median)}"
    yield "time", ScoreboardCell(time_of(effort), usage.latency, median)


def _rate_figure(row: ScoreboardRow) -> ScoreboardCell:
    """Return the cell of the pass rate, which is not stated twice."""
    if row.rate is None:
        return ScoreboardCell(NONE)
    return ScoreboardCell(SAME, row.rate.value) if repeats_score(row) else _figure(row.rate)


def _figure(cell: Cell, drawn: bool = False) -> ScoreboardCell:
    between = interval(cell.ends).replace("-", "–") if cell.ends else ""
    return ScoreboardCell(number(cell.value), cell.value, between, cell.ends if drawn else None, cell.value)
