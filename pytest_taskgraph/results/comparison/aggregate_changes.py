"""Changes of the aggregates of families over paired questions: the difference, its interval and its test.

The questions of both runs are left out together, a cluster at a time: the jackknife of the difference, with the t
quantile. docs/reference/metrics.md has the formulas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt

from ...family_description import Aggregate, FamilyDescription
from ..aggregates import AggregatesByName, AggregateSums, ObservedQuestion, is_spread, jackknife
from ..case import INCONCLUSIVE
from ..statistics.intervals import student_quantile, student_tail, wilson
from ..statistics.paired import holm
from .pairing import QuestionPair

CONFIDENCE = 0.95  # of the interval of a difference
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class AggregateChange:
    """An aggregate of a family over the paired questions of one model.

    Args:
        name: The aggregate.
        family: The family.
        model: The model; "" if there is a single one.
        n: Number of questions in the aggregate.
        clusters: Number of units that the jackknife leaves out in turn.
        before: Value in the run before; None if undefined.
        after: Value in the run after; None if undefined.
        low: Lower end of the 95 % interval of the difference, after less before; None if there is none.
        high: Upper end of that interval.
        p: One-sided p-value towards worse; None if it is not tested.
        adjusted_p: The p-value adjusted by Holm over all aggregates of the comparison.
        verdict: "worse", "better" or "inconclusive"; "" if it is not tested.
    """

    name: str
    family: str
    model: str
    n: int
    clusters: int
    before: float | None
    after: float | None
    low: float | None = None
    high: float | None = None
    p: float | None = None
    adjusted_p: float | None = None
    verdict: str = ""

    @property
    def ends(self) -> tuple[float, float] | None:
        """Return both ends of the interval of the difference; None if there is none."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def change(self) -> float | None:
        """Return after less before; None if one of them is undefined."""
        return None if self.before is None or self.after is None else self.after - self.before


_Tested = tuple[AggregateChange, tuple[float, float] | None]  # with its p-values towards worse and towards better


def aggregate_changes(
    pairs: Sequence[QuestionPair], families: Iterable[FamilyDescription], level: float
) -> tuple[AggregateChange, ...]:
    """Return each aggregate of the families that have paired questions, for each model.

    The mean of the main score is left out because the questions themselves are tested by it, and so are aggregates
    without a paired question. Deviations are shown and not tested: neither more nor less of them is worse.

    Args:
        pairs: The paired questions; those of one `cluster` depend on each other.
        families: The descriptions of the families, in the order of reports.
        level: One-sided level of all tests towards worse, and again of all tests towards better.
    """
    computed = [
        change
        for family in families
        for model in sorted({pair.model for pair in pairs if pair.family == family.name})
        for change in _changes([pair for pair in pairs if (pair.family, pair.model) == (family.name, model)], family)
    ]
    tested = [(place, p_values) for place, (_, p_values) in enumerate(computed) if p_values is not None]
    worse, better = (holm([p_values[side] for _, p_values in tested]) for side in (0, 1))
    changes = [change for change, _ in computed]
    for (place, p_values), p_worse, p_better in zip(tested, worse, better, strict=True):
        verdict = "worse" if p_worse <= level else "better" if p_better <= level else INCONCLUSIVE
        changes[place] = replace(changes[place], p=p_values[0], adjusted_p=p_worse, verdict=verdict)
    return tuple(changes)


def _changes(pairs: Sequence[QuestionPair], family: FamilyDescription) -> Iterator[_Tested]:
    aggregates = {aggregate.name: aggregate for aggregate in family.aggregates}
    for aggregate in family.aggregates:
        if aggregate.kind != "mean" or any(aggregate.of):
            change, p_values = _change(pairs, aggregate, aggregates, family.name)
            if change.n:
                yield change, p_values


def _change(pairs: Sequence[QuestionPair], aggregate: Aggregate, aggregates: AggregatesByName, family: str) -> _Tested:
    before = AggregateSums(aggregate, aggregates, (ObservedQuestion(pair.cluster, pair.before) for pair in pairs))
    after = AggregateSums(aggregate, aggregates, (ObservedQuestion(pair.cluster, pair.after) for pair in pairs))
    units = sorted({*before.units, *after.units})
    questions = len(before.contributing | after.contributing)
    without_interval = AggregateChange(
        aggregate.name, family, pairs[0].model, questions, len(units), before.value(), after.value()
    )  # fmt: skip
    change = without_interval.change
    left_out = [(before.value(unit), after.value(unit)) for unit in units] if len(units) > 1 else []
    differences = [
        after_value - before_value
        for before_value, after_value in left_out
        if before_value is not None and after_value is not None
    ]
    untested = aggregate.neutral or is_spread(aggregate, aggregates)
    if change is None or not left_out or len(differences) < len(left_out) or untested:
        return without_interval, None
    error = sqrt(jackknife(differences))
    low, high = -_upper_bound(-change, error, len(units)), _upper_bound(change, error, len(units))
    p_values = _p_value(-change, error, len(units)), _p_value(change, error, len(units))
    return replace(without_interval, low=low, high=high), p_values


def _upper_bound(difference: float, error: float, units: int) -> float:
    """Return the upper bound of a difference: t standard errors above it.

    If no unit differs from the others, that has no width, and Wilson's bound for a share as high among so many units is
    used instead.
    """
    if error < _ROUNDING:
        return max(difference, wilson(min(1.0, max(0.0, difference)) * units, units, CONFIDENCE)[1])
    return max(difference, min(1.0, difference + student_quantile((1 + CONFIDENCE) / 2, units - 1) * error))


def _p_value(difference: float, error: float, units: int) -> float:
    """Return a one-sided p-value of a difference above 0: by t, but at least that of a flip of all units."""
    if difference <= 0:
        return 1.0 if error < _ROUNDING else student_tail(difference / error, units - 1)
    by_error = student_tail(difference / error, units - 1) if error >= _ROUNDING else 0.0
    return float(max(by_error, 2.0**-units))
