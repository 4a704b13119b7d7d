"""The overview of a run: a row for each section of a family, or for each method, with its headline score."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from ..family_description import FamilyDescription
from ..trial import Trial
from .scoreboard import headline_parts, headline_score
from .tables import FEW, Cell
from .tally import Group, Row, Tally

TOTAL = "total"


@dataclass(frozen=True, slots=True)
class OverviewEntry:
    """The numbers of a row for one model.

    Args:
        score: The score with its interval.
        row: The counts of its questions.
        few: True if at least one and fewer than FEW questions are behind the score.
        baselines: The embedded baselines that answered.
    """

    score: Cell
    row: Row
    few: bool
    baselines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class OverviewRow:
    """A section or a method.

    Args:
        name: Its name; TOTAL for the last row of several sections.
        value: What the score is: a statistic, an aggregate or a metric, as in `Column.value`.
        graded: True if the questions are graded.
        entries: An entry for each model; None if the model was not asked.
    """

    name: str
    value: str
    graded: bool
    entries: tuple[OverviewEntry | None, ...]


def overview(tally: Tally) -> list[OverviewRow]:
    """Return the rows of a tally of one family: methods in the order of their tables, then sections and their total."""
    (family,) = tally.families
    return list(_rows(tally, tally.descriptions[family]))


def _rows(tally: Tally, description: FamilyDescription) -> Iterator[OverviewRow]:
    for spec, part in headline_parts(tally, description):
        value = spec.headline or ("mean" if spec.graded else "rate")
        by = "group" if spec.headline or not all(_names(part, "section", spec.graded)) else "section"
        by_name: dict[str, dict[str, Group]] = {name: {} for name in _names(part, by, spec.graded)}
        for group in part.groups(by, graded=spec.graded):
            by_name[group.name][group.model] = group
        for name, groups in by_name.items():
            title = f"{name}, graded" if spec.graded and not spec.headline else name
            yield _row(tally, part, description, title, value, groups, spec.graded)
        if len(by_name) > 1 and not (spec.headline or spec.graded):
            groups = {model: part.total_group(model) for model in part.models}
            yield _row(tally, part, description, TOTAL, value, groups, spec.graded)


def _names(tally: Tally, by: str, graded: bool) -> list[str]:
    return list(dict.fromkeys(group.name for group in tally.groups(by, pooled=True, graded=graded)))


def _row(
    tally: Tally,
    part: Tally,
    description: FamilyDescription,
    name: str,
    value: str,
    groups: Mapping[str, Group],
    graded: bool,
) -> OverviewRow:
    entries = (_entry(part, description, value, groups[model]) if model in groups else None for model in tally.models)
    return OverviewRow(name, value, graded, tuple(entries))


def _entry(tally: Tally, description: FamilyDescription, value: str, group: Group) -> OverviewEntry:
    row, few = tally.row(group), 0 < group.questions < FEW
    return OverviewEntry(headline_score(group, row, description, value), row, few, _baselines(group.trials))


def _baselines(trials: Sequence[Trial]) -> tuple[str, ...]:
    sources = {trial.reply.source for trial in trials if trial.reply is not None}
    return tuple(sorted(source for source in sources if source.startswith("baseline:")))
