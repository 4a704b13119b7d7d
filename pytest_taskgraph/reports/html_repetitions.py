"""What the repetitions of questions came to, as the page shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..results.repetitions import Reduced, reduced, repeated
from ..results.tally import Tally
from .repetitions import repetition_notes, wholes
from .wording import number


@dataclass(frozen=True, slots=True)
class RepeatedLine:
    """A line of a table: a category, a pattern below its category, a model, or the total."""

    name: str
    kind: str  # "category", "pattern", "model", "total", or "graded": a pattern whose questions are
    cells: list[str]  # as Repetitions.titles


@dataclass(frozen=True, slots=True)
class Repetitions:
    """The tables of a run in which questions were asked more than once."""

    most: int  # how often one question was put to one model
    lines: list[RepeatedLine]  # of one model its categories, the total and what is graded; of several a line each
    whole: list[tuple[str, list[RepeatedLine]]]  # each model with its categories, their patterns, and the total
    notes: list[str]

    @property
    def titles(self) -> list[str]:
        """The columns beside the name."""
        spread = ["spread within a question", "spread between workflows"]
        return ["questions", "mean score", "majority", f"pass@{self.most}", f"pass^{self.most}", *spread]


def repetitions(tally: Tally) -> Repetitions | None:
    """The repetitions, each reduced by question and meant over questions; None where no question was repeated."""
    most = max(repeated(whole.trials) for whole in wholes(tally))
    if most < 2:
        return None
    whole = [(model, list(_lines(tally, model, most))) for model in tally.models]
    if len(whole) > 1:
        short = [RepeatedLine(model, "model", _cells(reduced(tally.whole(model), [most]), most)) for model, _ in whole]
    else:
        short = [line for _, lines in whole for line in lines if line.kind != "group"]
    return Repetitions(most, short, whole, list(repetition_notes(tally)))


def _lines(tally: Tally, model: str, most: int) -> Iterator[RepeatedLine]:
    groups = tally.groups("group", model)
    for section in tally.groups("section", model):
        yield RepeatedLine(section.name, "section", _cells(reduced(section, [most]), most))
        for one in groups:
            if one.section == section.name:
                yield RepeatedLine(one.name, "group", _cells(reduced(one, [most]), most))
    if tally.whole(model).trials:
        yield RepeatedLine("total", "total", _cells(reduced(tally.whole(model), [most]), most))
    for one in tally.groups(model=model, graded=True):
        yield RepeatedLine(one.name, "graded", _cells(reduced(one, [most]), most))


def _cells(one: Reduced, most: int) -> list[str]:
    shares = (one.mean, one.majority, one.pass_at[most], one.pass_hat[most], one.within, one.between)
    return [f"{one.questions:,}", *map(number, shares)]
