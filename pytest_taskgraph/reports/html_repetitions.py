"""What the repetitions of questions came to, as the page shows it."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..results.repetitions import Reduced, reduced, repeated
from ..results.tally import Tally
from .repetitions import repeated_groups, repetition_notes, wholes
from .wording import number


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
    most = max(repeated(whole.trials) for whole in wholes(tally))
    if most < 2:
        return None
    whole = [(model, list(_lines(tally, model, most))) for model in tally.models]
    if len(whole) > 1:
        short = [RepeatedLine(model, "model", _cells(reduced(tally.whole(model), [most]), most)) for model, _ in whole]
    else:
        short = [line for _, lines in whole for line in lines if line.kind != "group"]
    cluster = tally.descriptions.word("cluster", tally.families)
    return Repetitions(most, short, whole, list(repetition_notes(tally)), cluster)


def _lines(tally: Tally, model: str, most: int) -> Iterator[RepeatedLine]:
    for kind, one in repeated_groups(tally, model):
        shown = "plain" if kind == "group" and not one.section else kind
        yield RepeatedLine(one.name, shown, _cells(reduced(one, [most]), most))


def _cells(one: Reduced, most: int) -> list[str]:
    shares = (one.mean, one.majority, one.pass_at[most], one.pass_hat[most], one.within, one.between)
    return [f"{one.questions:,}", *map(number, shares)]
