"""What the repetitions of questions came to, below the tables of the replies."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence

from ..results.repetitions import RepetitionRow, most_repetitions, reduce_repetitions
from ..results.tally import Group, Tally
from .columns import Lines, fitting
from .wording import count, number


def repetitions(tally: Tally, width: int, groups: bool = False) -> Lines:
    """The table of one model: its sections and the total, then the groups whose questions are graded; `groups`:
    each other group too. None without repetitions.
    """
    most = _most(wholes(tally))
    if most < 2:
        return []
    rows = [
        (f"  {one.name}" if kind == "group" and one.section else one.name, reduce_repetitions(one, [most]))
        for kind, one in repeated_groups(tally)
        if groups or kind != "group" or not one.section
    ]
    return _table(rows, most, width)


def repeated_groups(tally: Tally, model: str | None = None) -> Iterator[tuple[str, Group]]:
    """Yield the rows of repetitions with their kind: each section with its groups below it, the total, graded groups.

    Groups without a section stand alone.
    """
    groups = tally.groups("group", model)
    for section in tally.groups("section", model):
        if section.name:
            yield "section", section
        yield from (("group", one) for one in groups if one.section == section.name)
    if groups:
        yield "total", tally.total_group(model)
    yield from (("graded", one) for one in tally.groups(model=model, graded=True))


def wholes(tally: Tally, model: str | None = None) -> list[Group]:
    """Return all trials of the model, those of graded questions as a group of their own."""
    return [tally.total_group(model), tally.total_group(model, graded=True)]


def repetitions_by_model(tally: Tally, titles: Mapping[str, str], width: int) -> Lines:
    """A table with a line for each model, by its title. None without repetitions."""
    most = _most(wholes(tally))
    if most < 2:
        return []
    rows = [(titles[model], reduce_repetitions(tally.total_group(model), [most])) for model in tally.models]
    graded = [
        (f"{one.name}, {titles[one.model]}", reduce_repetitions(one, [most])) for one in tally.groups(graded=True)
    ]
    return _table([*(row for row in rows if row[1].questions or not graded), *graded], most, width)


def repetition_notes(tally: Tally) -> Iterator[str]:
    """What must be known to read the numbers of a run with repetitions; nothing for one without."""
    totals = [tally.total_group(model) for model in tally.models]
    most = _most(wholes(tally))
    if most < 2:
        return
    cluster = tally.descriptions.word("cluster", tally.families)
    asked = f"n counts replies: a question asked {most} times is {most} of them"
    yield f"{asked}. Intervals are over questions, by {cluster}"
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
        [name, number(one.mean), number(one.majority), number(one.pass_at[most]), number(one.pass_hat[most]),
         number(one.within), number(one.between)]
        for name, one in rows
    ]  # fmt: skip
    asked = [[name, str(one.questions), *cells] for (name, one), (_, *cells) in zip(rows, numbers, strict=True)]
    long = ["mean", "majority", f"pass@{most}", f"pass^{most}", "within", "between"]
    short = ["mean", "major", f"p@{most}", f"p^{most}", "with", "betw"]
    choices = [([title, "questions", *long], asked), ([title, *long], numbers), ([title, *short], numbers)]
    return [("", {}), *fitting(choices, width)]
