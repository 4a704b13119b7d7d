"""Tables of repeated questions, below the tables of the replies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..results.repetitions import RepetitionRow, most_repetitions, reduce_repetitions
from ..results.tally import Group, Tally
from .columns import Lines, fit_table
from .wording import count, number


@dataclass(frozen=True, slots=True)
class RepeatedLine:
    """A line of a table: a section, a group below its section, a model, or the total."""

    name: str
    kind: str  # "section", "group", "model", "total", or "graded" for a group of graded questions
    cells: list[str]  # one for each title of `Repetitions.titles`


@dataclass(frozen=True, slots=True)
class Repetitions:
    """The tables of a run with repeated questions."""

    most: int  # greatest number of repetitions of a question
    lines: list[RepeatedLine]  # one model: its sections, total and graded groups; several models: a line for each
    whole: list[tuple[str, list[RepeatedLine]]]  # each model with its sections, their groups, and the total
    notes: list[str]
    cluster: str  # the word of the families for what dependent questions share

    @property
    def titles(self) -> list[str]:
        """Return the titles of the columns after the name."""
        spread = ["spread within a question", f"spread between {self.cluster}s"]
        return ["questions", "mean score", "majority", f"pass@{self.most}", f"pass^{self.most}", *spread]


def repetitions(tally: Tally) -> Repetitions | None:
    """Return the repetitions, reduced by question and averaged over questions; None if there are none."""
    most = _most(_wholes(tally))
    if most < 2:
        return None
    whole = [(model, list(_repeated_lines(tally, model, most))) for model in tally.models]
    if len(whole) > 1:
        short = [
            RepeatedLine(model, "model", _repetition_cells(reduce_repetitions(tally.total_group(model), [most]), most))
            for model, _ in whole
        ]
    else:
        short = [line for _, lines in whole for line in lines if line.kind != "group"]
    cluster = tally.descriptions.word("cluster", tally.families)
    return Repetitions(most, short, whole, list(repetition_notes(tally)), cluster)


def _repeated_lines(tally: Tally, model: str, most: int) -> Iterator[RepeatedLine]:
    for kind, group in _repeated_groups(tally, model):
        shown_kind = "plain" if kind == "group" and not group.section else kind
        yield RepeatedLine(group.name, shown_kind, _repetition_cells(reduce_repetitions(group, [most]), most))


def _repetition_cells(summary: RepetitionRow, most: int) -> list[str]:
    shares = (
        summary.mean,
        summary.majority,
        summary.pass_at[most],
        summary.pass_hat[most],
        summary.within,
        summary.between,
    )
    return [f"{summary.questions:,}", *map(number, shares)]


def model_repetitions(tally: Tally, width: int, groups: bool = False) -> Lines:
    """Return the table of one model: its sections, the total and the groups of graded questions.

    Empty if no question was repeated.

    Args:
        tally: The trials of the model.
        width: The width of the terminal in columns.
        groups: True to show all other groups too.
    """
    most = _most(_wholes(tally))
    if most < 2:
        return []
    rows = [
        (f"  {group.name}" if kind == "group" and group.section else group.name, reduce_repetitions(group, [most]))
        for kind, group in _repeated_groups(tally)
        if groups or kind != "group" or not group.section
    ]
    return _table(rows, most, width)


def _repeated_groups(tally: Tally, model: str | None = None) -> Iterator[tuple[str, Group]]:
    """Yield the rows of repetitions with their kind: each section with its groups below it, the total, graded groups.

    Groups without a section have no heading.
    """
    groups = tally.groups("group", model)
    for section in tally.groups("section", model):
        if section.name:
            yield "section", section
        yield from (("group", group) for group in groups if group.section == section.name)
    if groups:
        yield "total", tally.total_group(model)
    yield from (("graded", group) for group in tally.groups(model=model, graded=True))


def _wholes(tally: Tally, model: str | None = None) -> list[Group]:
    """Return all trials of the model, those of graded questions as a group of their own."""
    return [tally.total_group(model), tally.total_group(model, graded=True)]


def repetitions_by_model(tally: Tally, titles: Mapping[str, str], width: int) -> Lines:
    """Return a table with a line for each model, by its title; empty without repetitions."""
    most = _most(_wholes(tally))
    if most < 2:
        return []
    rows = [(titles[model], reduce_repetitions(tally.total_group(model), [most])) for model in tally.models]
    graded = [
        (f"{group.name}, {titles[group.model]}", reduce_repetitions(group, [most]))
        for group in tally.groups(graded=True)
    ]
    return _table([*(row for row in rows if row[1].questions or not graded), *graded], most, width)


def repetition_notes(tally: Tally) -> Iterator[str]:
    """Yield the notes that explain the numbers of a run with repetitions."""
    totals = [tally.total_group(model) for model in tally.models]
    most = _most(_wholes(tally))
    if most < 2:
        return
    cluster = tally.descriptions.word("cluster", tally.families)
    counts = f"n counts replies: a question asked {most} times is {most} of them"
    yield f"{counts}. Intervals are over questions, by {cluster}"
    yield f"within: std over the repetitions of a question; between: std over {cluster}s"
    missing = sum(reduce_repetitions(total, [most]).left_out[most] for total in totals)
    if missing:
        noun, verb = count(missing, "question"), "has" if missing == 1 else "have"
        yield f"{noun} with fewer than {most} replies {verb} no part in pass@{most} and pass^{most}"


def _most(totals: Iterable[Group]) -> int:
    return max((most_repetitions(total.trials) for total in totals), default=0)


def _table(rows: Sequence[tuple[str, RepetitionRow]], most: int, width: int) -> Lines:
    title = f"{most} repetitions"
    numbers = [
        [name, number(summary.mean), number(summary.majority), number(summary.pass_at[most]),
         number(summary.pass_hat[most]), number(summary.within), number(summary.between)]
        for name, summary in rows
    ]  # fmt: skip
    counted_rows = [
        [name, str(summary.questions), *cells] for (name, summary), (_, *cells) in zip(rows, numbers, strict=True)
    ]
    long = ["mean", "majority", f"pass@{most}", f"pass^{most}", "within", "between"]
    short = ["mean", "major", f"p@{most}", f"p^{most}", "with", "betw"]
    choices = [
        ([title, "questions", *long], counted_rows),
        ([title, *long], numbers),
        ([title, *short], numbers),
    ]
    return [("", {}), *fit_table(choices, width)]
