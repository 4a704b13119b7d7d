"""Layout of a table in the terminal: its rows, with as many columns as fit."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..family_description import Column, TableLayout
from ..results.overview import OverviewEntry
from ..results.tables import Cell, Line, Reference, Table, TableEntry
from ..results.tally import Tally
from .escape import columns, one_line, wrap
from .table import GAP, folded_table
from .table import table as text_table
from .wording import count, interval, number

Lines = list[tuple[str, dict[str, bool]]]
MARK = "*"
NO_MARK = " "  # aligns the digits of cells without the mark with those of cells that have it
PUBLISHED = "published"
SIGN = "†"  # marks a row that holds published numbers alone

_TITLES = {  # statistic -> its heading, and its short heading
    "n": ("n", "n"),
    "rate": ("pass rate", "rate"),
    "mean": ("mean", "mean"),
    "deviation": ("std", "std"),
    "interval": ("95% interval", "95%"),
    "chance": ("chance", "chance"),
    "above_chance": ("above chance", "above"),
    "errors": ("errors", "err"),
    "unparseable": ("unparseable", "unparsed"),
    "refused": ("refused", "ref"),
    "skipped": ("skipped", "skip"),
}


@dataclass(frozen=True, slots=True)
class LabelledEntry:
    """An entry of a table under its title, with the markup of its line."""

    title: str
    entry: TableEntry
    markup: dict[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _TextColumn:
    title: str
    short: str
    rank: int
    cell: Callable[[TableEntry], str]
    published: bool = False


def mark(entry: TableEntry | OverviewEntry) -> str:
    """Return the mark for few answered questions, or a space of the same width."""
    return MARK if entry.few else NO_MARK


def title_of(column: Column) -> str:
    """Return the long heading of a column."""
    return column.title or _TITLES.get(column.value, (column.value,))[0]


def text_of(value: str, cell: Cell) -> str:
    """Return the text of a cell: a count, a number with three decimals, or the ends of an interval."""
    if value == "interval":
        return interval(cell.ends)
    return str(cell.value) if isinstance(cell.value, int) else number(cell.value)


def name_of(line: Line) -> str:
    """Return the name of a row, with a sign if all its numbers are published."""
    return f"{line.name} {SIGN}" if line.kind == "published" else line.name


def cell_text(value: str, entry: TableEntry, marks: Mapping[str, str]) -> str:
    """Return the text of a cell; in a published row, that of the published number.

    Args:
        value: The value of the column.
        entry: The entry of the row.
        marks: The marks of sources.
    """
    cell = entry.cells[value]
    return (published_text(cell.references, marks) or "-") if entry.published else text_of(value, cell)


def source_line(source: str, source_mark: str, rows: Iterable[TableEntry]) -> str:
    """Return the line below a table that names a source of published numbers, after the sign if a row carries it."""
    sign = f"{SIGN} " if any(entry.published for entry in rows) else ""
    return f"{sign}{PUBLISHED}{f' {source_mark}' if source_mark else ''}: {source}"


def graded_note(tally: Tally) -> str:
    """Return the sentence that counts the graded questions, which do not count in pass rates and totals; else empty."""
    questions = {(trial.question.once, trial.model) for trial in tally.total_group(graded=True).trials}
    if not questions:
        return ""
    sections = tally.groups("section", pooled=True, graded=True)
    names = ", ".join(section.name or section.family for section in sections)
    counts = f"{count(len(questions), 'graded question')} of {names}"
    return f"{counts} {'does' if len(questions) == 1 else 'do'} not count in pass rates and totals"


def pooled_note(tally: Tally) -> str:
    """Return the sentence that names the prompt templates that are pooled in other numbers; empty if there are none."""
    names = tally.pooled_prompts
    return f"{len(names)} prompts are pooled in all numbers but those by prompt: {', '.join(names)}" if names else ""


def table_lines(table: Table, rows: Sequence[LabelledEntry], width: int) -> Lines:
    """Return the rows of a table in the first layout that fits, and the sources of published numbers.

    If no layout fits, published numbers stand below the table; if that is not enough, long names stand on lines of
    their own.
    """
    marks = source_marks(table.sources)
    text_columns = _columns(table, marks)
    markup = [row.markup for row in rows]
    choices = _choices(table, text_columns, rows)
    if any(column.published for column in text_columns) and not any(_fits(*choice, width) for choice in choices):
        choices = _choices(table, [column for column in text_columns if not column.published], rows)
        return [*fit_table(choices, width, markup), *_published_below(table, rows, width)]
    sources = [source_line(source, mark, table.entries) for source, mark in marks.items()]
    below: Lines = [(line, {}) for source in sources for line in wrap(source, width, 2)]
    return [*fit_table(choices, width, markup), *below]


def fit_table(
    choices: Sequence[tuple[list[str], list[list[str]]]],
    width: int,
    markup: Sequence[dict[str, bool]] = (),
    gap: str = GAP,
) -> Lines:
    """Return the first of the tables, each of titles and rows, that fits; else the last, long names on their own lines.

    The titles are bold; the rows have the given markup, or none.
    """
    for titles, cells in choices:
        if _fits(titles, cells, width, gap):
            rows = [[line] for line in text_table(titles, cells, _align(titles), gap=gap)]
            break
    else:
        titles, cells = choices[-1]
        rows = folded_table(titles, cells, _align(titles), width, gap)
    markups = [{"bold": True}, *(markup or [{}] * len(cells))]
    return [(line, style) for lines, style in zip(rows, markups, strict=True) for line in lines]


def _fits(titles: Sequence[str], cells: Sequence[Sequence[str]], width: int, gap: str = GAP) -> bool:
    return max(map(columns, text_table(titles, cells, _align(titles), gap=gap))) <= width


def _align(titles: Sequence[str]) -> str:
    return "l" + "r" * (len(titles) - 1)


def _choices(
    table: Table, text_columns: Sequence[_TextColumn], rows: Sequence[LabelledEntry]
) -> list[tuple[list[str], list[list[str]]]]:
    """Return the titles and cells of each layout."""
    choices = []
    for layout in _layouts(table, text_columns):
        chosen = [column for column in text_columns if column.rank <= layout.rank]
        titles = [table.spec.title, *(column.short if layout.short else column.title for column in chosen)]
        choices.append((titles, [[row.title, *(column.cell(row.entry) for column in chosen)] for row in rows]))
    return choices


def _layouts(table: Table, text_columns: Sequence[_TextColumn]) -> Iterator[TableLayout]:
    """Yield the layouts of the table, without those that show the same columns as another."""
    ranks = sorted({0, *(column.rank for column in text_columns)}, reverse=True)
    declared = table.spec.layouts or (*map(TableLayout, ranks), TableLayout(0, short=True))
    highest = max(layout.rank for layout in declared)
    yield from (TableLayout(rank) for rank in ranks if rank > highest)
    yield from (layout for layout in declared if layout.rank in ranks)
    if all(layout.rank for layout in declared):
        yield TableLayout(0)


def _columns(table: Table, marks: Mapping[str, str]) -> list[_TextColumn]:
    """Return all columns of the terminal, with the intervals of aggregates, and published numbers beside values."""
    text_columns: list[_TextColumn] = []
    chosen, entries = table.columns("terminal"), table.entries
    values = [column.value for column in chosen]
    with_mark = "n" if "n" in values else next(iter(values), "")
    spare = max((column.rank for column in chosen), default=0) + 1
    for before, column in zip([None, *values], chosen, strict=False):
        if column.value == "refused" and before == "unparseable":
            text_columns[-1] = _unanswered_column(text_columns[-1].rank)
            continue
        text_columns.append(_column(column, column.value == with_mark, marks))
        cells = [entry.cells[column.value] for entry in entries]
        if column.value not in _TITLES and any(cell.ends for cell in cells):
            text_columns.append(_TextColumn(*_TITLES["interval"], spare, _ends_of(column.value)))
        if table.has_references(column.value):
            text_columns.append(
                _TextColumn(PUBLISHED, PUBLISHED, column.rank, _published_of(column.value, marks), published=True)
            )
    return text_columns


def _column(column: Column, marked: bool, marks: Mapping[str, str]) -> _TextColumn:
    title, short = _TITLES.get(column.value, (column.value, column.value))
    title, short = column.title or title, column.short or column.title or short

    def cell(entry: TableEntry) -> str:
        return cell_text(column.value, entry, marks) + (mark(entry) if marked else "")

    end = NO_MARK if marked else ""  # the mark stands to the right of the digits
    return _TextColumn(one_line(title) + end, one_line(short) + end, column.rank, cell)


def _unanswered_column(rank: int) -> _TextColumn:
    """Return the column of unparseable and refused replies."""
    return _TextColumn(
        "unparseable+refused",
        "unparsed+ref",
        rank,
        lambda entry: f"{entry.count('unparseable')}+{entry.count('refused')}",
    )


def _ends_of(value: str) -> Callable[[TableEntry], str]:
    return lambda entry: interval(entry.cells[value].ends)


def _published_of(value: str, marks: Mapping[str, str]) -> Callable[[TableEntry], str]:
    return lambda entry: "" if entry.published else published_text(entry.cells[value].references, marks)


def published_text(references: Sequence[Reference], marks: Mapping[str, str]) -> str:
    """Return published numbers, each with the mark of its source; empty for none."""
    return " ".join(number(reference.value) + marks[reference.source] for reference in references)


def source_marks(sources: Sequence[str]) -> dict[str, str]:
    """Return a letter for each source, in order; empty texts if there is a single source."""
    if len(sources) < 2:
        return dict.fromkeys(sources, "")
    return {source: chr(ord("a") + at) if at < 26 else f"[{at + 1}]" for at, source in enumerate(sources)}


def _published_below(table: Table, rows: Sequence[LabelledEntry], width: int) -> Lines:
    """Return a line for each row of the run that has published numbers beside it."""
    lines: Lines = []
    titles = {column.value: title_of(column) for column in table.columns("terminal")}
    for row in rows:
        facts = [
            f"{titles[value]} {number(reference.value)} ({reference.source})"
            for value, cell in row.entry.cells.items()
            for reference in cell.references
            if value in titles and not row.entry.published
        ]
        if facts:
            text = f"{PUBLISHED}, {row.title.strip()}: {', '.join(facts)}"
            lines += [(line, {}) for line in wrap(text, width, 4)]
    return lines
