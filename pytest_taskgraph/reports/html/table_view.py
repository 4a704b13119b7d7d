"""The tables of the page: those of each family, repetitions, and how varied questions came out."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from ...family_description import STATISTICS, Column
from ...results.repetitions import RepetitionRow, most_repetitions, reduce_repetitions
from ...results.tables import Line, Table, TableEntry, cross_family_tables, family_tables
from ...results.tally import Tally
from ..columns import PUBLISHED, graded_note, name_of, own_text, published, source_line, source_marks, title_of
from ..repetition_lines import repeated_groups, repetition_notes, wholes
from ..terminal.side_by_side import has_rates_alone
from ..wording import interval, number


@dataclass(frozen=True, slots=True)
class RepeatedLine:
    """A line of a table: a section, a group below its section, a model, or the total."""

    name: str
    kind: str  # "section", "group", "model", "total", or "graded": a group whose questions are
    cells: list[str]  # as Repetitions.titles


@dataclass(frozen=True, slots=True)
class Repetitions:
    """The tables of a run in which questions were asked more than once."""

    most: int  # how often one question was put to one model
    lines: list[RepeatedLine]  # of one model its sections, the total and what is graded; of several a line each
    whole: list[tuple[str, list[RepeatedLine]]]  # each model with its sections, their groups, and the total
    notes: list[str]
    cluster: str  # what questions that are not independent share

    @property
    def titles(self) -> list[str]:
        """The columns beside the name."""
        spread = ["spread within a question", f"spread between {self.cluster}s"]
        return ["questions", "mean score", "majority", f"pass@{self.most}", f"pass^{self.most}", *spread]


def repetitions(tally: Tally) -> Repetitions | None:
    """The repetitions, each reduced by question and meant over questions; None where no question was repeated."""
    most = max(most_repetitions(whole.trials) for whole in wholes(tally))
    if most < 2:
        return None
    whole = [(model, list(_lines(tally, model, most))) for model in tally.models]
    if len(whole) > 1:
        short = [
            RepeatedLine(model, "model", _repetition_cells(reduce_repetitions(tally.total_group(model), [most]), most))
            for model, _ in whole
        ]
    else:
        short = [line for _, lines in whole for line in lines if line.kind != "group"]
    cluster = tally.descriptions.word("cluster", tally.families)
    return Repetitions(most, short, whole, list(repetition_notes(tally)), cluster)


def _lines(tally: Tally, model: str, most: int) -> Iterator[RepeatedLine]:
    for kind, one in repeated_groups(tally, model):
        shown = "plain" if kind == "group" and not one.section else kind
        yield RepeatedLine(one.name, shown, _repetition_cells(reduce_repetitions(one, [most]), most))


def _repetition_cells(one: RepetitionRow, most: int) -> list[str]:
    shares = (one.mean, one.majority, one.pass_at[most], one.pass_hat[most], one.within, one.between)
    return [f"{one.questions:,}", *map(number, shares)]


Interval = tuple[float, float]
_TITLES = {"mean": "mean score", "interval": "95 % interval", "deviation": "standard deviation"}
MOST_DRAWN = 4  # intervals a row; of more columns those of rank 0 alone are drawn, for the page to show the others
_COUNTS = ("unparseable", "refused", "errors", "skipped")


@dataclass(frozen=True, slots=True)
class HtmlCell:
    """A cell: a text, and the interval and the value that are drawn beside it on an axis from 0 to 1."""

    text: str
    interval: Interval | None = None
    value: float | None = None
    number: bool = True  # whether its digits stand to the right
    between: str = ""  # the ends of the interval, where the text does not tell them


@dataclass(frozen=True, slots=True)
class RateCell:
    """The pass rate or mean score of one model among others, and what it stands on."""

    rate: HtmlCell
    between: str
    n: str
    counts: list[tuple[str, str]]  # of what was not answered


@dataclass(frozen=True, slots=True)
class HtmlLine:
    """A row; `kind` is that of `tables.Line`, "plain" for a group that stands below no section."""

    name: str
    kind: str
    model: str
    cells: list[HtmlCell]
    rates: list[RateCell | None]  # one a model, None where the model was not asked


@dataclass(frozen=True, slots=True)
class HtmlTable:
    """A table: models beside each other with a rate each (`beside`), or a row for each row and model."""

    caption: str
    heading: str
    columns: list[str]
    models: list[str]
    beside: bool
    by_model: bool  # whether a column names the model
    lines: list[HtmlLine]
    few: bool
    sources: list[str]


@dataclass(frozen=True, slots=True)
class FamilyTables:
    """What a family came to."""

    name: str
    group: str  # what it calls a group
    tables: list[HtmlTable]
    graded_note: str
    relations: list[list[str]]
    repetitions: Repetitions | None

    @property
    def few(self) -> bool:
        """Whether any number is one of few."""
        return any(one.few for one in self.tables)


def families(tally: Tally) -> list[FamilyTables]:
    """Return the tables of each family that was asked, in their order."""
    return [_family(tally.of_family(name), name) for name in tally.families]


def across(tally: Tally) -> list[HtmlTable]:
    """Return the table over several families; none for a single one."""
    return [html_table(one, "family") for one in cross_family_tables(tally)]


def _family(tally: Tally, name: str) -> FamilyTables:
    group = tally.descriptions[name].group
    return FamilyTables(
        name,
        group,
        [html_table(one, _heading(one, group)) for one in family_tables(tally)],
        graded_note(tally),
        relations(tally),
        repetitions(tally),
    )


def _heading(shown: Table, group: str) -> str:
    return group if shown.rows == "group" else shown.spec.title


def html_table(shown: Table, heading: str) -> HtmlTable:
    """Return a table as the page shows it; `heading` is that of the first column."""
    beside = shown.grid or (shown.side_by_side and has_rates_alone(shown))
    marks = source_marks(one.source for entry in shown.entries for of in entry.cells.values() for one in of.references)
    columns = shown.columns("html")
    return HtmlTable(
        shown.spec.caption or shown.spec.name,
        heading,
        [title for column in columns for title in _titles(shown, column)],
        list(shown.models),
        beside,
        shown.side_by_side or (shown.spec.graded and shown.rows != "model"),
        list(_beside(shown) if beside else _rows(shown, columns, marks)),
        any(one.few for one in shown.entries),
        [source_line(source, mark, shown.entries) for source, mark in marks.items()],
    )


def _beside(shown: Table) -> Iterator[HtmlLine]:
    for line in shown.lines:
        rates = [_rate(one, shown.main) if one else None for one in line.entries]
        yield HtmlLine(line.name, _kind(shown, line), "", [], rates)


def _rows(shown: Table, columns: list[Column], marks: Mapping[str, str]) -> Iterator[HtmlLine]:
    """A row for each row and model, model by model."""
    for at in range(len(shown.models)):
        for line in shown.lines:
            entry = line.entries[at]
            if entry is not None:
                cells = [one for column in columns for one in _cells(shown, column, entry, marks)]
                yield HtmlLine(name_of(line), _kind(shown, line), entry.model, cells, [])


def _kind(shown: Table, line: Line) -> str:
    below = any(one.kind == "section" for one in shown.lines)
    return "plain" if line.kind == "group" and not below else line.kind


def _rate(entry: TableEntry, main: str) -> RateCell:
    cell = entry.cells[main]
    counts = [(f"{entry.count(name):,}", name) for name in _COUNTS if entry.count(name)]
    drawn = HtmlCell(number(cell.value), cell.ends, cell.value)
    return RateCell(drawn, _between(cell.ends), _count(entry, "n"), counts)


def _titles(shown: Table, column: Column) -> list[str]:
    title = column.title or _TITLES.get(column.value) or title_of(column)
    return [title, *([PUBLISHED] if shown.has_references(column.value) else [])]


def _cells(shown: Table, column: Column, entry: TableEntry, marks: Mapping[str, str]) -> list[HtmlCell]:
    one, value = entry.cells[column.value], column.value
    drawn = _is_drawn(shown, column)
    if entry.published:
        found = HtmlCell(own_text(value, entry, marks), number=not drawn)
    elif value == "interval":
        main = entry.cells.get("mean" if shown.spec.graded else "rate")
        found = HtmlCell(_between(one.ends), one.ends, main.value if main else None, number=False)
    elif isinstance(one.value, int):
        found = HtmlCell(_count(entry, value))
    elif value in STATISTICS:
        found = HtmlCell(number(one.value))
    elif drawn:
        found = HtmlCell(number(one.value), one.ends, one.value, False, _between(one.ends) if one.ends else "")
    else:
        found = HtmlCell(number(one.value))
    beside = "" if entry.published else published(one.references, marks)
    return [found, *([HtmlCell(beside)] if shown.has_references(value) else [])]


def _is_drawn(shown: Table, column: Column) -> bool:
    """Return True if the intervals of a column are drawn: of a metric or aggregate, and there is room for it."""
    if column.value in STATISTICS or not any(one.cells[column.value].ends for one in shown.entries):
        return False
    others = [one for one in shown.columns("html") if one.value not in STATISTICS]
    return len(others) <= MOST_DRAWN or column.rank == 0


def _count(entry: TableEntry, value: str) -> str:
    return f"{entry.count(value):,}{'*' if value == 'n' and entry.few else ''}"


def _between(ends: Interval | None) -> str:
    return interval(ends).replace("-", "–") if ends else "-"


def relations(tally: Tally) -> list[list[str]]:
    """For each model and each way in which questions were varied: how often the verdict stayed the same."""
    return [
        [one.name, one.model, f"{one.pairs:,}", number(one.share), interval(one.interval)] for one in tally.relations()
    ]
