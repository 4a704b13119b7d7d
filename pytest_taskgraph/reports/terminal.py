"""The summary in the terminal: a table by pattern and category, and what must be known to read it.

Lines come with the markup that pytest's terminal writer takes, such as {"bold": True}.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from ..results.record import About
from ..results.statistics import wilson
from ..results.tally import Relation, Row, Tally
from ..trial import Reply
from .escape import columns, one_line, shorten, wrap
from .table import table

Lines = list[tuple[str, dict[str, bool]]]
RANGES = 5  # of a label with many numbers
FEW = 10  # answered; a rate of fewer is marked
NOT_SMALL = " "  # keeps the digits of n in line where others carry the mark


@dataclass(frozen=True, slots=True)
class _Column:
    title: str
    short: str
    cell: Callable[[Row], str]


_N = _Column("n", "n", lambda row: f"{row.n}{'*' if 0 < row.n < FEW else NOT_SMALL}")
_RATE = _Column("pass rate", "rate", lambda row: _number(row.rate))
_MEAN = _Column("mean", "mean", lambda row: _number(row.mean))
_DEVIATION = _Column("std", "std", lambda row: _number(row.deviation))
_INTERVAL = _Column("95% interval", "95%", lambda row: _interval(row))
_CHANCE = _Column("chance", "chance", lambda row: _number(row.chance))
_ABOVE = _Column("above chance", "above", lambda row: _number(row.above_chance))
_ERRORS = _Column("errors", "err", lambda row: str(row.errors))
_UNREADABLE = _Column("unreadable", "unread", lambda row: str(row.unreadable))
_REFUSED = _Column("unreadable+refused", "unread+ref", lambda row: f"{row.unreadable}+{row.refused}")
_SKIPPED = _Column("skipped", "skip", lambda row: str(row.skipped))


def _number(value: float | None) -> str:
    return "-" if value is None else f"{value:.3f}"


def _interval(row: Row) -> str:
    return _interval_of(row.right, row.n)


def _interval_of(count: int, n: int) -> str:
    return "-" if n == 0 else "{:.3f}-{:.3f}".format(*wilson(count, n))


def header(about: About, width: int = 80) -> list[str]:
    """What the run is, in two lines of at most `width` columns, and one more for an oracle and for a survey."""
    asked = [f"seed {about.seed}", *([] if about.questions is None else [_count(about.questions, "question")])]
    start, end = f"taskgraph {about.version}: ", "".join(f", {fact}" for fact in asked)
    models = one_line(f"{_plural('model', len(about.models))} {', '.join(about.models) or 'none'}")
    how = {
        _plural("notation", len(about.notations)): ", ".join(about.notations),
        "frame": about.frame,
        "reading": about.reading,
    }
    lines = [
        start + shorten(models, max(8, width - columns(start + end))) + end,
        "taskgraph: " + one_line(", ".join(f"{name} {value}" for name, value in how.items() if value)),
        *(["taskgraph: oracle: answers are looked up; its marks say nothing about a model"] if about.oracle else []),
        *(["taskgraph: a survey: nothing is judged"] if about.judge == "none" else []),
    ]
    return [shorten(line, width) for line in lines]


def lines(tally: Tally, about: About, verbosity: int = 0, width: int = 80) -> Lines:
    """The summary, each line of at most `width` columns (width >= 40); none where nothing was asked.

    One line where verbosity < 0; where it is > 0 the score above chance, and a table more for each label that takes
    more than one value. Questions asked varied have a table of their own.
    """
    if not tally:
        return []
    if verbosity < 0:
        return [(_brief(tally, about, width), {"bold": True})]
    found: Lines = [(line, {}) for line in header(about, width)]
    for model in tally.models:
        found.append(("", {}))
        if len(tally.models) > 1:
            found.append((one_line(f"model {model}", width), {"bold": True}))
        found += _summary(tally, about, model, width, verbosity > 0) + _invariance(tally.relations(model), width)
        for label in tally.labels() if verbosity > 0 else ():
            found += [
                ("", {}),
                *_table(f"by {label}", [(row.name, row, {}) for row in tally.rows(label, model, RANGES)], width, True),
            ]
    return found + [(line, {"yellow": True}) for note in _notes(tally) for line in wrap(note, width, 3)]


def _summary(tally: Tally, about: About, model: str, width: int, above: bool) -> Lines:
    """The table of one model: each category and its patterns below it, the total last."""
    patterns = tally.rows("pattern", model)
    rows: list[tuple[str, Row, dict[str, bool]]] = []
    for category in tally.rows("category", model):
        rows.append((category.name, category, {"bold": True}))
        rows += [("  " + row.name, row, {}) for row in patterns if row.category == category.name]
    total = tally.total(model)
    return _table("pattern", [*rows, ("total", total, {"bold": True, **_colour(total, about)})], width, above)


def _invariance(relations: Sequence[Relation], width: int) -> Lines:
    """A table of the questions asked varied: how often the verdict was the same as about the question as it is."""
    if not relations:
        return []
    cells = [[one.name, str(one.pairs), _number(one.share), _interval_of(one.same, one.pairs)] for one in relations]
    for titles in (["relation", "pairs", "same verdict", "95% interval"], ["relation", "pairs", "same", "95%"]):
        drawn = table(titles, cells, "lrrr")
        if max(map(columns, drawn)) <= width:
            break
    else:
        drawn = table(titles, cells, "lrrr", width)
    return [("", {}), (drawn[0], {"bold": True}), *((line, {}) for line in drawn[1:])]


def _colour(total: Row, about: About) -> dict[str, bool]:
    """Green where all that was asked is right, else red; none in a survey, where gates judge, or nothing was asked."""
    asked = total.n + total.errors
    if about.judge != "questions" or not asked:
        return {}
    return {"green": True} if total.right == asked else {"red": True}


def _table(title: str, rows: Sequence[tuple[str, Row, dict[str, bool]]], width: int, above: bool = False) -> Lines:
    """The rows as a table with as many columns as find room; where even few do not, the names are shortened."""
    drawn: list[str] = []
    for chosen, short in _choices([row for _, row, _ in rows], above):
        titles = [title, *(column.short if short else column.title for column in chosen)]
        # A small n carries a mark to the right of its digits.
        titles[1] += NOT_SMALL
        cells = [[name, *(column.cell(row) for column in chosen)] for name, row, _ in rows]
        drawn = table(titles, cells, "l" + "r" * len(chosen))
        if max(map(columns, drawn)) <= width:
            break
    else:
        drawn = table(titles, cells, "l" + "r" * len(chosen), width)
    return [(drawn[0], {"bold": True}), *zip(drawn[1:], (markup for _, _, markup in rows), strict=True)]


def _choices(rows: Sequence[Row], above: bool) -> Iterator[tuple[list[_Column], bool]]:
    """Selections of columns from the widest to the narrowest, and whether their titles are short.

    `above`: where chance is known, it and the score above it stand before interval and spread.
    """
    counts = [_ERRORS, _REFUSED if any(row.refused for row in rows) else _UNREADABLE]
    counts += [_SKIPPED] if any(row.skipped for row in rows) else []
    if any(row.chance is not None for row in rows):
        guessing = [_CHANCE, _ABOVE] if above else [_CHANCE]
        yield [_N, _RATE, _INTERVAL, _MEAN, *guessing, _DEVIATION, *counts], False
        if above:
            yield [_N, _RATE, _MEAN, *guessing, *counts], False
            yield [_N, _RATE, _MEAN, *guessing, *counts], True
    yield [_N, _RATE, _INTERVAL, _MEAN, _DEVIATION, *counts], False
    yield [_N, _RATE, _MEAN, *counts], False
    yield [_N, _RATE, _MEAN, *counts], True


def _brief(tally: Tally, about: About, width: int) -> str:
    """The run in one line."""
    total, survey = tally.total(), ", a survey" if about.judge == "none" else ""
    if len(tally.models) > 1:
        rates = ", ".join(f"{_number(tally.total(model).rate)} {model}" for model in tally.models)
        return one_line(f"taskgraph: {total.n} answered{survey}: {rates}", width)
    counts = {"unreadable": total.unreadable, "refused": total.refused, "skipped": total.skipped}
    facts = [f"{total.right} of {total.n} right ({_number(total.rate)})", f"mean {_number(total.mean)}"]
    facts += [_count(total.errors, "error")] if total.errors else []
    end = ", ".join([*facts, *(f"{count} {name}" for name, count in counts.items() if count)]) + survey
    start = "taskgraph: "
    return shorten(f"{start}{one_line(total.model, max(6, width - len(start + end) - 2))}: {end}", width)


def _notes(tally: Tally) -> Iterator[str]:
    rows = [*tally.rows("pattern"), *tally.rows("category")]
    if any(0 < row.n < FEW for row in rows):
        yield f"* fewer than {FEW} answered: such a rate says little"
    others = Counter(
        trial.reply.source for trial in tally if trial.reply is not None and _stood_in(trial.reply, trial.model)
    )
    for source, number in sorted(others.items()):
        yield f"{_count(number, 'open question')} answered by {source}, by words in common: no graph tells the answer"
    again = sum(tally.attempts(trial) > 1 for trial in tally)
    if again:
        yield f"{_count(again, 'question')} asked more than once (reruns, other suites): the last answer counts"


def _stood_in(reply: Reply, model: str) -> bool:
    """Whether another embedded baseline answered than the one that was asked."""
    return reply.source.startswith("baseline:") and reply.source != model


def _count(number: int, noun: str) -> str:
    return f"{number} {_plural(noun, number)}"


def _plural(noun: str, number: int) -> str:
    return noun if number == 1 else noun + "s"
