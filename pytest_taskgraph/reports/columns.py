"""The rows of a table in the terminal, with as many columns as find room."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

from ..family_description import Column, TableLayout
from ..results.tables import Cell, Line, Reference, Table, TableEntry
from ..results.tally import Tally
from .escape import columns, one_line, wrap
from .table import table
from .wording import count, interval, number

Lines = list[tuple[str, dict[str, bool]]]
MARK = "*"
NO_MARK = " "  # keeps the digits of others in line with those that carry the mark
PUBLISHED = "published"
SIGN = "†"  # of a row that holds published numbers alone

_TITLES = {  # of statistics: the heading, and where room is scarce
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
class Labelled:
    """An entry under its title, with the markup of its line."""

    title: str
    entry: TableEntry
    markup: dict[str, bool] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class _Shown:
    title: str
    short: str
    rank: int
    cell: Callable[[TableEntry], str]
    published: bool = False


def mark(entry: TableEntry) -> str:
    """Return the sign that few questions were answered, or the space in its place."""
    return MARK if entry.few else NO_MARK


def title_of(column: Column) -> str:
    """Return the heading of a column where there is room."""
    return column.title or _TITLES.get(column.value, (column.value,))[0]


def text_of(value: str, cell: Cell) -> str:
    """Return the text of a cell of that value: a count, a number with three decimals, or the ends of an interval."""
    if value == "interval":
        return interval(cell.ends)
    return str(cell.value) if isinstance(cell.value, int) else number(cell.value)


def name_of(line: Line) -> str:
    """Return the name of a row, with a sign if all its numbers are published."""
    return f"{line.name} {SIGN}" if line.kind == "published" else line.name


def own_text(value: str, entry: TableEntry, marks: Mapping[str, str]) -> str:
    """Return the text of a cell; in a published row, that of the published number.

    Args:
        value: The value of the column.
        entry: The entry of the row.
        marks: The marks of sources.
    """
    cell = entry.cells[value]
    return (published(cell.references, marks) or "-") if entry.published else text_of(value, cell)


def source_line(source: str, mark: str, rows: Iterable[TableEntry]) -> str:
    """Return the line below a table that names a source of published numbers, after the sign if rows carry it."""
    sign = f"{SIGN} " if any(one.published for one in rows) else ""
    return f"{sign}{PUBLISHED}{f' {mark}' if mark else ''}: {source}"


def graded_note(tally: Tally) -> str:
    """Return the sentence that says which questions stand in no pass rate and no total; "" where none is graded."""
    asked = {(one.question.once, one.model) for one in tally.total_group(graded=True).trials}
    if not asked:
        return ""
    sections = tally.groups("section", pooled=True, graded=True)
    told = f"{count(len(asked), 'graded question')} of {', '.join(one.name or one.family for one in sections)}"
    return f"{told} {'stands' if len(asked) == 1 else 'stand'} apart: in no pass rate, in no total"


def pooled_note(tally: Tally) -> str:
    """Return the sentence that says which prompt templates are pooled in other numbers; "" where none are."""
    names = tally.pooled_prompts
    return f"{len(names)} prompts are pooled in all numbers but those by prompt: {', '.join(names)}" if names else ""


def table_lines(shown: Table, rows: Sequence[Labelled], width: int, verbose: bool = False) -> Lines:
    """Return rows of a table in the first layout that finds room, and the sources of what is published.

    Where none finds room, published numbers stand below the table, and then names are shortened.
    """
    marks = _source_marks(rows)
    every = _columns(shown, verbose, marks)
    markup = [one.markup for one in rows]
    choices = _choices(shown, every, rows)
    if any(one.published for one in every) and not any(_fits(*one, width) for one in choices):
        choices = _choices(shown, [one for one in every if not one.published], rows)
        return [*fitting(choices, width, markup), *_published_below(shown, rows, width)]
    sources = [source_line(source, mark, shown.entries) for source, mark in marks.items()]
    below: Lines = [(line, {}) for source in sources for line in wrap(source, width, 2)]
    return [*fitting(choices, width, markup), *below]


def fitting(
    choices: Sequence[tuple[list[str], list[list[str]]]], width: int, markup: Sequence[dict[str, bool]] = ()
) -> Lines:
    """The first of the tables, each of titles and rows, that fits; else the last, its first column shortened.

    The titles are bold, the rows have their markup, or none.
    """
    for titles, cells in choices:
        if _fits(titles, cells, width):
            drawn = table(titles, cells, _align(titles))
            break
    else:
        titles, cells = choices[-1]
        drawn = table(titles, cells, _align(titles), width)
    return [(drawn[0], {"bold": True}), *zip(drawn[1:], markup or [{}] * (len(drawn) - 1), strict=True)]


def _fits(titles: Sequence[str], cells: Sequence[Sequence[str]], width: int) -> bool:
    return max(map(columns, table(titles, cells, _align(titles)))) <= width


def _align(titles: Sequence[str]) -> str:
    return "l" + "r" * (len(titles) - 1)


def _choices(
    shown: Table, every: Sequence[_Shown], rows: Sequence[Labelled]
) -> list[tuple[list[str], list[list[str]]]]:
    """The titles and cells of each layout."""
    found = []
    for layout in _layouts(shown, every):
        chosen = [one for one in every if one.rank <= layout.rank]
        titles = [shown.spec.title, *(one.short if layout.short else one.title for one in chosen)]
        found.append((titles, [[one.title, *(column.cell(one.entry) for column in chosen)] for one in rows]))
    return found


def _layouts(shown: Table, every: Sequence[_Shown]) -> Iterator[TableLayout]:
    """The layouts of the table but for those that show no more than others below them."""
    ranks = sorted({0, *(one.rank for one in every)}, reverse=True)
    declared = shown.spec.layouts or (*map(TableLayout, ranks), TableLayout(0, short=True))
    highest = max(one.rank for one in declared)
    yield from (TableLayout(rank) for rank in ranks if rank > highest)
    yield from (one for one in declared if one.rank in ranks)
    if all(one.rank for one in declared):
        yield TableLayout(0)


def _columns(shown: Table, verbose: bool, marks: Mapping[str, str]) -> list[_Shown]:
    """All columns of the terminal: of an aggregate the interval too, and beside each value those that are published."""
    found: list[_Shown] = []
    chosen, entries = shown.columns("terminal", verbose), shown.entries
    values = [one.value for one in chosen]
    marked = "n" if "n" in values else next(iter(values), "")
    spare = max((one.rank for one in chosen), default=0) + 1
    for before, one in zip([None, *values], chosen, strict=False):
        if one.value == "refused" and before == "unparseable":
            found[-1] = _unanswered(found[-1].rank)
            continue
        found.append(_column(one, one.value == marked, marks))
        cells = [entry.cells[one.value] for entry in entries]
        if one.value not in _TITLES and any(cell.ends for cell in cells):
            found.append(_Shown(*_TITLES["interval"], spare, _ends_of(one.value)))
        if shown.has_references(one.value):
            found.append(_Shown(PUBLISHED, PUBLISHED, one.rank, _published_of(one.value, marks), published=True))
    return found


def _column(column: Column, marked: bool, marks: Mapping[str, str]) -> _Shown:
    title, short = _TITLES.get(column.value, (column.value, column.value))
    title, short = column.title or title, column.short or column.title or short

    def cell(entry: TableEntry) -> str:
        return own_text(column.value, entry, marks) + (mark(entry) if marked else "")

    end = NO_MARK if marked else ""  # the mark stands to the right of the digits
    return _Shown(one_line(title) + end, one_line(short) + end, column.rank, cell)


def _unanswered(rank: int) -> _Shown:
    """The column of unparseable and refused replies."""
    return _Shown(
        "unparseable+refused", "unparsed+ref", rank, lambda one: f"{one.count('unparseable')}+{one.count('refused')}"
    )


def _ends_of(value: str) -> Callable[[TableEntry], str]:
    return lambda entry: interval(entry.cells[value].ends)


def _published_of(value: str, marks: Mapping[str, str]) -> Callable[[TableEntry], str]:
    return lambda entry: "" if entry.published else published(entry.cells[value].references, marks)


def published(references: Sequence[Reference], marks: Mapping[str, str]) -> str:
    """Return published numbers, each with the mark of its source; "" for none."""
    return " ".join(number(one.value) + marks[one.source] for one in references)


def _source_marks(rows: Sequence[Labelled]) -> dict[str, str]:
    """A mark for each source of published numbers; none where there is a single one."""
    references = (one for row in rows for cell in row.entry.cells.values() for one in cell.references)
    return source_marks(one.source for one in references)


def source_marks(sources: Iterator[str]) -> dict[str, str]:
    """Return a letter for each source, in order; "" where there is a single one."""
    listed = list(dict.fromkeys(sources))
    if len(listed) < 2:
        return dict.fromkeys(listed, "")
    return {source: chr(ord("a") + at) if at < 26 else f"[{at + 1}]" for at, source in enumerate(listed)}


def _published_below(shown: Table, rows: Sequence[Labelled], width: int) -> Lines:
    """A line for each row of the run's own beside which published numbers stand."""
    found: Lines = []
    titles = {one.value: title_of(one) for one in shown.columns("terminal")}
    for row in rows:
        facts = [
            f"{titles[value]} {number(one.value)} ({one.source})"
            for value, cell in row.entry.cells.items()
            for one in cell.references
            if value in titles and not row.entry.published
        ]
        if facts:
            told = f"{PUBLISHED}, {row.title.strip()}: {', '.join(facts)}"
            found += [(line, {}) for line in wrap(told, width, 4)]
    return found
