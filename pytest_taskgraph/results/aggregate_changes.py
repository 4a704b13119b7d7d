"""The aggregates of families over paired questions, before and after: their difference, its interval, its test.

The questions of both runs are left out together, a cluster at a time: the jackknife of the difference, with the t
quantile. docs/aggregates.md has the formulas.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from math import sqrt

from ..family_description import Aggregate, FamilyDescription
from .aggregates import Known, Observed, Sums, is_spread, jackknife
from .case import INCONCLUSIVE
from .paired import holm
from .pairing import Pair
from .statistics import student, student_above, wilson

CONFIDENCE = 0.95  # of the interval of a difference
_ROUNDING = 1e-9


@dataclass(frozen=True, slots=True)
class AggregateChange:
    """An aggregate of a family over the paired questions of one model.

    Args:
        name: The aggregate.
        family: The family.
        model: The model, where there are several.
        n: Questions that it is taken over.
        clusters: What the jackknife left out, one after the other.
        before: In the run before; None where it is undefined.
        after: In the run after; None where it is undefined.
        low: Lower end of the 95 % interval of the difference, after less before; None where there is none.
        high: Upper end.
        p: One-sided, towards worse; None for what is not tested.
        adjusted_p: By Holm, over all aggregates of the comparison.
        verdict: "worse", "better" or "inconclusive"; "" for what is not tested.
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
        """Both ends of the interval of the difference; None where there is none."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    @property
    def change(self) -> float | None:
        """After less before; None where one of them is undefined."""
        return None if self.before is None or self.after is None else self.after - self.before


@dataclass(frozen=True, slots=True)
class _Tested:
    change: AggregateChange
    worse: float | None = None  # one-sided p-values
    better: float | None = None


def aggregate_changes(
    pairs: Sequence[Pair], families: Iterable[FamilyDescription], level: float
) -> tuple[AggregateChange, ...]:
    """Return each aggregate of the families that have paired questions, for each model.

    The mean of the main score is left out, for the questions themselves are tested by it. Deviations are shown, and
    not tested: neither more nor less of them is worse.

    Args:
        pairs: The paired questions; those of one `cluster` depend on each other.
        families: The descriptions of the families, in the order of reports.
        level: Of each of the two families of tests, towards worse and towards better, one-sided.
    """
    found = [
        one
        for family in families
        for model in sorted({pair.model for pair in pairs if pair.family == family.name})
        for one in _changes([pair for pair in pairs if (pair.family, pair.model) == (family.name, model)], family)
    ]
    tested = [at for at, one in enumerate(found) if one.worse is not None and one.better is not None]
    worse, better = (
        holm([p for one in found if (p := getattr(one, side)) is not None]) for side in ("worse", "better")
    )
    changes = [one.change for one in found]
    for at, p_worse, p_better in zip(tested, worse, better, strict=True):
        verdict = "worse" if p_worse <= level else "better" if p_better <= level else INCONCLUSIVE
        changes[at] = replace(changes[at], p=found[at].worse, adjusted_p=p_worse, verdict=verdict)
    return tuple(changes)


def _changes(pairs: Sequence[Pair], family: FamilyDescription) -> Iterator[_Tested]:
    known = {one.name: one for one in family.aggregates}
    for one in family.aggregates:
        if one.kind != "mean" or any(one.of):
            yield _change(pairs, one, known, family.name)


def _change(pairs: Sequence[Pair], aggregate: Aggregate, known: Known, family: str) -> _Tested:
    before = Sums(aggregate, known, (Observed(one.cluster, one.before) for one in pairs))
    after = Sums(aggregate, known, (Observed(one.cluster, one.after) for one in pairs))
    units = sorted({*before.units, *after.units})
    questions = len(before.places | after.places)
    made = AggregateChange(
        aggregate.name, family, pairs[0].model, questions, len(units), before.value(), after.value()
    )  # fmt: skip
    change = made.change
    left = [(before.value(unit), after.value(unit)) for unit in units] if len(units) > 1 else []
    differences = [now - once for once, now in left if once is not None and now is not None]
    if change is None or not left or len(differences) < len(left) or is_spread(aggregate, known):
        return _Tested(made)
    error = sqrt(jackknife(differences))
    low, high = -_most(-change, error, len(units)), _most(change, error, len(units))
    worse, better = (_p_value(one, error, len(units)) for one in (-change, change))
    return _Tested(replace(made, low=low, high=high), worse, better)


def _most(difference: float, error: float, units: int) -> float:
    """Return the upper bound of a difference: t standard errors above it.

    Where no unit differs from the others, that has no width, and Wilson's bound of a share as high among so many units
    stands.
    """
    if error < _ROUNDING:
        return max(difference, wilson(min(1.0, max(0.0, difference)) * units, units, CONFIDENCE)[1])
    return max(difference, min(1.0, difference + student((1 + CONFIDENCE) / 2, units - 1) * error))


def _p_value(difference: float, error: float, units: int) -> float:
    """Return the one-sided p-value of a difference above 0: by t, and no less than if all of the units had flipped."""
    if difference <= 0:
        return 1.0 if error < _ROUNDING else student_above(difference / error, units - 1)
    by_error = student_above(difference / error, units - 1) if error >= _ROUNDING else 0.0
    return float(max(by_error, 2.0**-units))
