"""Rows of a tally as a table, with as many columns as find room."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from ..results.tally import Group, Row, Tally
from .escape import columns
from .table import table
from .wording import count, interval, number

Lines = list[tuple[str, dict[str, bool]]]
FEW = 10  # questions answered; a rate of fewer is marked
MARK = "*"
NO_MARK = " "  # keeps the digits of others in line with those that carry the mark


@dataclass(frozen=True, slots=True)
class Entry:
    """What a line of a table is about."""

    title: str
    row: Row
    questions: int  # answered, however often
    interval: tuple[float, float] | None
    markup: dict[str, bool] = field(default_factory=dict)

    @property
    def mark(self) -> str:
        """What tells that few were answered."""
        return MARK if 0 < self.questions < FEW else NO_MARK


def entry(tally: Tally, group: Group, title: str = "", markup: dict[str, bool] | None = None) -> Entry:
    """The group as a line, under its own name where no other is given."""
    return Entry(title or group.name, tally.row(group), group.questions, group.interval, markup or {})


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    short: str
    cell: Callable[[Entry], str]


_N = _Column("n", "n", lambda one: f"{one.row.n}{one.mark}")
_RATE = _Column("pass rate", "rate", lambda one: number(one.row.rate))
_MEAN = _Column("mean", "mean", lambda one: number(one.row.mean))
_DEVIATION = _Column("std", "std", lambda one: number(one.row.deviation))
_INTERVAL = _Column("95% interval", "95%", lambda one: interval(one.interval))
_CHANCE = _Column("chance", "chance", lambda one: number(one.row.chance))
_ABOVE = _Column("above chance", "above", lambda one: number(one.row.above_chance))
_ERRORS = _Column("errors", "err", lambda one: str(one.row.errors))
_UNREADABLE = _Column("unreadable", "unread", lambda one: str(one.row.unreadable))
_REFUSED = _Column("unreadable+refused", "unread+ref", lambda one: f"{one.row.unreadable}+{one.row.refused}")
_SKIPPED = _Column("skipped", "skip", lambda one: str(one.row.skipped))


def rows_table(title: str, entries: Sequence[Entry], width: int, above: bool = False) -> Lines:
    """The entries with their counts and means; `above`: with the score above chance, where it finds room as well.

    Where even few columns find no room in `width`, the names are shortened.
    """
    return _table(title, entries, width, _choices([one.row for one in entries], above))


def graded_note(tally: Tally) -> str:
    """Return the sentence that says which questions stand in no pass rate and no total; "" where none is graded."""
    asked = {(one.question.once, one.model) for one in tally.whole(graded=True).trials}
    if not asked:
        return ""
    sections = ", ".join(group.name for group in tally.groups("section", pooled=True, graded=True))
    told = f"{count(len(asked), 'graded question')} of {sections}"
    return f"{told} {'stands' if len(asked) == 1 else 'stand'} apart: in no pass rate, in no total"


def graded_table(entries: Sequence[Entry], width: int) -> Lines:
    """Return the entries of graded questions: their means, beside what guessing earns, and no rate."""
    return _table("graded", entries, width, _graded_choices([one.row for one in entries]))


def _table(title: str, entries: Sequence[Entry], width: int, selections: Iterable[tuple[list[_Column], bool]]) -> Lines:
    """Return the entries as a table, with the first selection of columns that finds room."""
    choices = []
    for chosen, short in selections:
        titles = [title, *(column.short if short else column.title for column in chosen)]
        # A small n carries a mark to the right of its digits.
        titles[1] += NO_MARK
        choices.append((titles, [[one.title, *(column.cell(one) for column in chosen)] for one in entries]))
    return fitting(choices, width, [one.markup for one in entries])


def fitting(
    choices: Sequence[tuple[list[str], list[list[str]]]], width: int, markup: Sequence[dict[str, bool]] = ()
) -> Lines:
    """The first of the tables, each of titles and rows, that fits; else the last, its first column shortened.

    The titles are bold, the rows have their markup, or none.
    """
    drawn: list[str] = []
    for titles, cells in choices:
        align = "l" + "r" * (len(titles) - 1)
        drawn = table(titles, cells, align)
        if max(map(columns, drawn)) <= width:
            break
    else:
        drawn = table(titles, cells, align, width)
    return [(drawn[0], {"bold": True}), *zip(drawn[1:], markup or [{}] * (len(drawn) - 1), strict=True)]


def _choices(rows: Sequence[Row], above: bool) -> Iterator[tuple[list[_Column], bool]]:
    """Selections of columns from the widest to the narrowest, and whether their titles are short."""
    counts = _counts(rows)
    if any(row.chance is not None for row in rows):
        guessing = [_CHANCE, _ABOVE] if above else [_CHANCE]
        yield [_N, _RATE, _INTERVAL, _MEAN, *guessing, _DEVIATION, *counts], False
        if above:
            yield [_N, _RATE, _INTERVAL, _MEAN, _ABOVE, _DEVIATION, *counts], True
    yield [_N, _RATE, _INTERVAL, _MEAN, _DEVIATION, *counts], False
    yield [_N, _RATE, _MEAN, *counts], False
    yield [_N, _RATE, _MEAN, *counts], True


def _graded_choices(rows: Sequence[Row]) -> Iterator[tuple[list[_Column], bool]]:
    """Yield selections of columns as `_choices` does; the chance level stays to the last."""
    counts = _counts(rows)
    yield [_N, _MEAN, _INTERVAL, _CHANCE, _ABOVE, _DEVIATION, *counts], False
    yield [_N, _MEAN, _INTERVAL, _CHANCE, *counts], False
    yield [_N, _MEAN, _INTERVAL, _CHANCE, *counts], True
    yield [_N, _MEAN, _INTERVAL, _CHANCE], True
    yield [_N, _MEAN, _CHANCE], True


def _counts(rows: Sequence[Row]) -> list[_Column]:
    """Return the columns of what was not answered, or not with an answer."""
    counts = [_ERRORS, _REFUSED if any(row.refused for row in rows) else _UNREADABLE]
    return counts + ([_SKIPPED] if any(row.skipped for row in rows) else [])
