"""Aggregates of a family over trials: their values and intervals.

Every aggregate is computed from sums of numerators and denominators. A mean over questions is a ratio whose
denominators are 1. Repetitions of a question are averaged first, so that each question counts once. Questions of a
cluster may depend on each other, so the interval of every aggregate except a mean is that of the delete-one-cluster
jackknife (B. Efron, C. Stein, Annals of Statistics 9 (1981) 586-596) with the t quantile, widened near 0 and 1 to that
of the logit. docs/reference/metrics.md has the formulas.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from math import exp, fsum, log, prod, sqrt
from typing import Final, Literal

from ..errors import UsageError
from ..family_description import STATISTICS, Aggregate, FamilyDescription
from ..trial import Trial
from .statistics.certainty import ASK_MORE, AT_THRESHOLD, AnsweredQuestion, Ends, Sample, describe_need
from .statistics.intervals import ENOUGH_CLUSTERS, describe_restriction, deviation, mean, student_quantile, wilson
from .statistics.power import MOST, independent_needed, mean_needed
from .tally import ANSWERED, metrics_of

_NAME = re.compile(r"[\w-]+")
_ROUNDING = 1e-9
_LARGEST = 700.0  # greatest exponent; exp of more overflows

SEEDS: Final = ("seed-mean", "seed-deviation")

AggregatesByName = Mapping[str, Aggregate]
Stratum = tuple[str, str] | None  # a label and one of its values; None for all questions
Leaf = tuple[Literal["mean", "ratio"], str]  # a metric ("" for the main score), or a part
PartPair = tuple[float, float]  # numerator and denominator
ExactPair = tuple[Fraction, Fraction]


@dataclass(frozen=True, slots=True)
class Estimate:
    """An aggregate over some trials.

    Args:
        value: The aggregate; None if undefined, as the sensitivity without a question of its class.
        low: Lower end of the interval; None if there is none.
        high: Upper end of the interval; None if there is none.
        n: Number of questions in the aggregate.
        clusters: Number of clusters of these questions.
        about: The clusters that the interval is about if it says nothing of others, in words; else "".
        variance: Variance of the value, times the clusters, or the questions if clusters are few; None as `low`.
    """

    value: float | None
    low: float | None
    high: float | None
    n: int
    clusters: int
    about: str = ""
    variance: float | None = None

    @property
    def ends(self) -> Ends | None:
        """Return both ends of the interval; None if there is none."""
        return None if self.low is None or self.high is None else (self.low, self.high)

    def describe_needed(self, threshold: float, confidence: float, noun: str = "cluster") -> str:
        """Return how many questions are needed for a decision in 4 of 5 runs at the same value and spread.

        Args:
            threshold: Threshold that the value is compared with, 0 to 1.
            confidence: Level of the two-sided interval, 0 to 1, both excluded.
            noun: What the family calls a cluster.
        """
        if self.value is None or self.variance is None:
            return ASK_MORE
        if abs(self.value - threshold) < _ROUNDING:
            return AT_THRESHOLD
        units = self.clusters if self.clusters >= ENOUGH_CLUSTERS else self.n
        each, most = self.n / units, int(MOST * units / self.n)
        if self.variance < _ROUNDING:
            need = independent_needed(self.value, threshold, confidence, units, most)
        else:
            need = mean_needed(abs(self.value - threshold), self.variance, confidence, units, most)
        return describe_need(need, each, noun, "the value")


@dataclass(frozen=True, slots=True)
class ObservedQuestion:
    """The answered repetitions of a question, and the unit that the jackknife leaves it out with."""

    unit: str
    trials: Sequence[Trial]


class AggregateSums:
    """Contributions of the questions to the leaves of an aggregate, by stratum and unit.

    Args:
        aggregate: The aggregate to be computed.
        aggregates: The aggregates that it may refer to, by name.
        questions: The questions, each once.
    """

    def __init__(
        self, aggregate: Aggregate, aggregates: AggregatesByName, questions: Iterable[ObservedQuestion]
    ) -> None:
        self._aggregate, self._aggregates = aggregate, aggregates
        pairs_by_unit: dict[tuple[Leaf, Stratum], dict[str | None, list[PartPair]]] = {}
        needed = _needed_leaves(aggregate, aggregates)
        self.contributing: set[int] = set()  # positions of the questions that contribute
        for position, question in enumerate(questions):
            for leaf, label in needed:
                labels = question.trials[0].question.labels
                pair = _contribution(leaf, question.trials) if not label or label in labels else None
                if pair is not None:
                    self.contributing.add(position)
                    stratum = (label, str(labels[label])) if label else None
                    pairs_by_unit.setdefault((leaf, stratum), {}).setdefault(question.unit, []).append(pair)
        # Fractions: sums without a unit are exact, and the order of the questions does not matter.
        self._by_unit = {
            key: {unit: _exact_sum(pairs) for unit, pairs in pairs_of.items()}
            for key, pairs_of in pairs_by_unit.items()
        }
        self._totals = {key: _exact_sum(sums.values()) for key, sums in self._by_unit.items()}

    @property
    def units(self) -> list[str]:
        """Return the units that contribute to the aggregate, sorted."""
        return sorted({unit for units in self._by_unit.values() for unit in units if unit is not None})

    def value(self, without: str | None = None) -> float | None:
        """Return the aggregate over all units except the given one; None if it is undefined."""
        return self._value(self._aggregate, None, without)

    def _value(self, aggregate: Aggregate, stratum: Stratum, without: str | None) -> float | None:
        if aggregate.kind == "mean" or aggregate.kind == "ratio":
            return self._ratio((_leaf(aggregate), stratum), without)
        others = [self._aggregates[name] for name in aggregate.of]
        if aggregate.kind in ("geometric-mean", "harmonic-mean"):
            values = [self._value(other, stratum, without) for other in others]
            defined = [value for value in values if value is not None]
            if len(defined) < len(values):  # F1 is 0 if the recall is 0 and the precision of no element is undefined
                return 0.0 if aggregate.kind == "harmonic-mean" and 0 in defined else None
            return geometric_mean(defined) if aggregate.kind == "geometric-mean" else harmonic_mean(defined)
        strata = sorted({at for _, at in self._by_unit if at is not None and at[0] == aggregate.label})
        values = [self._value(other, stratum, without) for other in others for stratum in strata]
        defined = [value for value in values if value is not None]
        return mean(defined) if aggregate.kind == "seed-mean" else deviation(defined)

    def _ratio(self, leaf_and_stratum: tuple[Leaf, Stratum], without: str | None) -> float | None:
        sums_by_unit = self._by_unit.get(leaf_and_stratum, {})
        if len(sums_by_unit) == (without in sums_by_unit):
            return None
        numerator, denominator = self._totals[leaf_and_stratum]
        if without in sums_by_unit:
            numerator, denominator = numerator - sums_by_unit[without][0], denominator - sums_by_unit[without][1]
        return float(numerator / denominator)


def estimate_aggregate(
    aggregate: Aggregate,
    aggregates: AggregatesByName,
    trials: Iterable[Trial],
    confidence: float = 0.95,
    noun: str = "cluster",
) -> Estimate:
    """Return the aggregate over the answered trials, with its interval.

    With fewer than ENOUGH_CLUSTERS clusters each question is left out by itself, with all draws of its demonstrations,
    and the interval is about these clusters alone. There is no interval over a single cluster or question, nor if the
    aggregate becomes undefined when one of them is left out.

    Args:
        aggregate: The aggregate.
        aggregates: The aggregates that it may refer to, by name.
        trials: Trials in any order. Unanswered ones are ignored; repetitions of a question count as a single question.
        confidence: Level of the two-sided interval, 0 to 1, both excluded.
        noun: What the family calls a cluster.
    """
    by_question = _by_question(trials)
    sums = AggregateSums(
        aggregate, aggregates, (ObservedQuestion(key, repetitions) for key, repetitions in by_question.items())
    )
    questions = {key: repetitions[0].question for key, repetitions in by_question.items()}
    cluster_of = {key: question.cluster or question.once for key, question in questions.items()}
    unit_of = {key: f"{question.unit} {by_question[key][0].model}" for key, question in questions.items()}
    keys = sums.units
    clusters = len({cluster_of[key] for key in keys})
    enough_clusters = clusters >= ENOUGH_CLUSTERS
    about = "" if enough_clusters or clusters == len(keys) else describe_restriction(clusters, noun)
    value = sums.value()
    if value is None:
        return Estimate(None, None, None, len(keys), clusters)
    if aggregate.kind == "mean":
        answered = {key: by_question[key] for key in keys}
        return _estimate_mean(aggregate, answered, cluster_of, confidence, clusters, noun)
    left_out = cluster_of if enough_clusters else unit_of
    sums = AggregateSums(
        aggregate,
        aggregates,
        (ObservedQuestion(left_out[key], repetitions) for key, repetitions in by_question.items()),
    )
    interval = _interval(sums, value, confidence, spread=is_spread(aggregate, aggregates))
    if interval is None:
        return Estimate(value, None, None, len(keys), clusters)
    low, high, variance = interval
    return Estimate(
        value, low, high, len(keys), clusters, about, variance * (clusters if enough_clusters else len(keys))
    )


def jackknife(values: Sequence[float]) -> float:
    """Return the jackknife estimate of the variance of a figure.

    Args:
        values: The figure without each of the units in turn; at least two.
    """
    count = len(values)
    middle = fsum(values) / count
    return fsum((value - middle) * (value - middle) for value in values) * (count - 1) / count


def geometric_mean(values: Sequence[float]) -> float | None:
    """Return the geometric mean; None for no values and if a value is negative."""
    if not values or min(values) < 0:
        return None
    return sqrt(prod(values)) if len(values) == 2 else float(prod(values) ** (1 / len(values)))


def harmonic_mean(values: Sequence[float]) -> float | None:
    """Return the harmonic mean, 0.0 if a value is 0; None for no values and if a value is negative."""
    if not values or min(values) < 0:
        return None
    return len(values) / fsum(1 / value for value in values) if min(values) > 0 else 0.0


def aggregate_leaves(aggregate: Aggregate, aggregates: AggregatesByName) -> frozenset[Leaf]:
    """Return the metrics and parts that the aggregate is computed from."""
    return frozenset(leaf for leaf, _ in _needed_leaves(aggregate, aggregates))


def is_spread(aggregate: Aggregate, aggregates: AggregatesByName) -> bool:
    """Return True if the aggregate is a deviation or computed from deviations: a smaller value is then no worse."""
    if aggregate.kind in ("mean", "ratio"):
        return False
    return aggregate.kind == "seed-deviation" or any(is_spread(aggregates[name], aggregates) for name in aggregate.of)


def merge_aggregates(families: Iterable[FamilyDescription]) -> dict[str, Aggregate]:
    """Return the aggregates of several families by name.

    Raises:
        UsageError: if two families define a name differently.
    """
    by_name: dict[str, Aggregate] = {}
    owners: dict[str, str] = {}
    for family in families:
        for aggregate in family.aggregates:
            owner = owners.setdefault(aggregate.name, family.name)
            if by_name.setdefault(aggregate.name, aggregate) != aggregate:
                raise UsageError(
                    f"the families {owner!r} and {family.name!r} define the aggregate "
                    f"{aggregate.name!r} differently; select one of them only"
                )
    return by_name


def find_aggregate_mistake(aggregates: Sequence[Aggregate], metrics: Collection[str] | None = None) -> str:
    """Return what is wrong with the aggregates of a family; "" if nothing is.

    Args:
        aggregates: All aggregates of the family.
        metrics: Names of all metrics of the run; None if unknown.
    """
    aggregates_before: dict[str, Aggregate] = {}
    for aggregate in aggregates:
        if reason := _aggregate_mistake(aggregate, aggregates_before, metrics):
            return f"aggregate {aggregate.name!r}: {reason}"
        aggregates_before[aggregate.name] = aggregate
    return ""


def _aggregate_mistake(
    aggregate: Aggregate, aggregates_before: AggregatesByName, metrics: Collection[str] | None
) -> str:
    """Return what is wrong with an aggregate, given the aggregates declared before it; "" if nothing is."""
    name, of = aggregate.name, aggregate.of
    if not _NAME.fullmatch(name) or name in STATISTICS:
        return "expected a name of letters, digits, _ and -, except that of a statistic of every row such as 'mean'"
    if name in aggregates_before or name in (metrics or ()):
        return f"{'another aggregate' if name in aggregates_before else 'a metric'} has that name; rename it"
    if aggregate.kind in ("mean", "ratio"):
        return _leaf_mistake(aggregate, metrics)
    if missing := [other for other in of if other not in aggregates_before]:
        return f"there is no aggregate {missing[0]!r} before it; known: {', '.join(aggregates_before) or 'none'}"
    seeds = aggregate.kind in SEEDS
    if not of or (seeds and len(of) > 1):
        return f"found of={of!r}; expected the name{'' if seeds else 's'} of {'an aggregate' if seeds else 'others'}"
    if seeds and any(label for _, label in _needed_leaves(aggregates_before[of[0]], aggregates_before)):
        return f"{of[0]!r} is itself computed over the values of a label; expected an aggregate that is not"
    return ""


def _leaf_mistake(aggregate: Aggregate, metrics: Collection[str] | None) -> str:
    """Return what is wrong with the `of` of a mean or a ratio; "" if nothing is."""
    of, ratio = aggregate.of, aggregate.kind == "ratio"
    if len(of) > 1 or (ratio and not any(of)):
        return f"found of={of!r}; expected the name of {'a part' if ratio else 'a metric'}"
    if metrics is None or ratio or not any(of) or of[0] in metrics:
        return ""
    return f"there is no metric {of[0]!r}; known: {', '.join(sorted(metrics))}"


def _needed_leaves(aggregate: Aggregate, aggregates: AggregatesByName, label: str = "") -> frozenset[tuple[Leaf, str]]:
    """Return the leaves of the aggregate, each with the label over whose values it is taken, or ""."""
    if aggregate.kind in ("mean", "ratio"):
        return frozenset({(_leaf(aggregate), label)})
    inner = aggregate.label if aggregate.kind in SEEDS else label
    return frozenset(leaf for name in aggregate.of for leaf in _needed_leaves(aggregates[name], aggregates, inner))


def _leaf(aggregate: Aggregate) -> Leaf:
    return ("mean" if aggregate.kind == "mean" else "ratio", aggregate.of[0] if aggregate.of else "")


def _by_question(trials: Iterable[Trial]) -> dict[str, list[Trial]]:
    by_question: dict[str, list[Trial]] = {}
    for trial in trials:
        if trial.outcome in ANSWERED:
            by_question.setdefault(f"{trial.question.once} {trial.model}", []).append(trial)
    return by_question


def _contribution(leaf: Leaf, trials: Sequence[Trial]) -> PartPair | None:
    """Return the contribution of a question: the mean of its repetitions; None if no repetition contributes."""
    pairs = [pair for trial in trials if (pair := _part_of(leaf, trial)) is not None]
    numerator, denominator = (fsum(numbers) for numbers in zip(*pairs, strict=True)) if pairs else (0.0, 0.0)
    return (numerator / len(pairs), denominator / len(pairs)) if denominator > 0 else None


def _part_of(leaf: Leaf, trial: Trial) -> PartPair | None:
    kind, name = leaf
    if kind == "ratio":
        part = trial.score.parts.get(name) if trial.score else None
        return None if part is None else (part[0], part[1])
    if not name:
        return (0.0 if trial.score is None else trial.score.value, 1.0)
    value = metrics_of(trial).get(name)
    return None if value is None else (value, 1.0)


def _exact_sum(pairs: Iterable[PartPair] | Iterable[ExactPair]) -> ExactPair:
    numerators, denominators = zip(*pairs, strict=True)
    return _exact_total(numerators), _exact_total(denominators)


def _exact_total(values: Iterable[float | Fraction]) -> Fraction:
    """Return the exact sum. Whole numbers, as most parts are, are added as integers, for speed."""
    ratios = [
        value.as_integer_ratio() if isinstance(value, float) else (value.numerator, value.denominator)
        for value in values
    ]
    whole = sum(numerator for numerator, denominator in ratios if denominator == 1)
    return sum((Fraction(*ratio) for ratio in ratios if ratio[1] != 1), Fraction(whole))


def _estimate_mean(
    aggregate: Aggregate,
    by_question: Mapping[str, Sequence[Trial]],
    cluster_of: Mapping[str, str],
    confidence: float,
    clusters: int,
    noun: str,
) -> Estimate:
    """Return the mean over questions with the interval of `certainty.Sample`."""
    leaf = _leaf(aggregate)
    answered = [
        AnsweredQuestion(
            key,
            cluster_of[key],
            [pair[0] for trial in trials if (pair := _part_of(leaf, trial)) is not None],
            f"{trials[0].question.unit} {trials[0].model}",
        )
        for key, trials in by_question.items()
    ]
    sample = Sample(answered, confidence, rates=False, noun=noun)
    low, high = sample.ends or (None, None)
    return Estimate(sample.mean, low, high, len(answered), clusters, sample.about if sample.ends else "")


def _interval(sums: AggregateSums, value: float, confidence: float, spread: bool) -> tuple[float, float, float] | None:
    """Return the ends of the interval and the variance of the value; None if there is no interval."""
    units = sums.units
    without = [sums.value(unit) for unit in units] if len(units) > 1 else []
    values = [value for value in without if value is not None]
    if not values or len(values) < len(without):
        return None
    variance = jackknife(values)
    if sqrt(variance) < _ROUNDING:
        if spread:
            return None
        low, high = wilson(min(1.0, max(0.0, value)) * len(units), len(units), confidence)
    else:
        half = student_quantile((1 + confidence) / 2, len(units) - 1) * sqrt(variance)
        low, high = (max(0.0, value - half), value + half) if spread else _interval_in_unit(value, half)
    return min(low, value), max(high, value), variance


def _interval_in_unit(value: float, half: float) -> tuple[float, float]:
    """Return the interval of a value from 0 to 1: the hull of two intervals.

    The first has the half width on both sides of the value, the second on both sides of its logit. Near 0 and 1
    estimates are skewed, and the first is too short on the side of the middle.
    """
    low, high = max(0.0, value - half), min(1.0, value + half)
    if not _ROUNDING < value < 1 - _ROUNDING:
        return low, high
    logit, reach = log(value / (1 - value)), half / (value * (1 - value))
    return min(low, _from_logit(logit - reach)), max(high, _from_logit(logit + reach))


def _from_logit(logit: float) -> float:
    return 1 / (1 + exp(-logit)) if logit > -_LARGEST else 0.0
