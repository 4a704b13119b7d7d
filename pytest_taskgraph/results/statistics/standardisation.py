"""Rates at several values, compared as if the mix of groups were the same at each value.

Two estimators. Both are linear in the outcomes, and equal the pooled rates if the mix is the same at each value.

direct    the mean of the groups' rates at a value, with weights that are the same at each value: direct
          standardisation. It needs every group at every value.
within    least squares with an effect for each group and one for each value. For two values the difference is that
          of Mantel and Haenszel (S. Greenland, J. M. Robins, Biometrics 41 (1985) 55-68), with any number of values
          its generalisation. It needs groups at two values or more, however few questions each has.

The standard error is that of the jackknife over clusters (B. Efron, C. Stein, Annals of Statistics 9 (1981) 586-596).
docs/explanation/statistics.md works an example by hand.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import fsum, sqrt
from typing import Literal

from .intervals import ENOUGH_CLUSTERS, student_quantile, wilson

Method = Literal["direct", "within"]
Cells = Mapping[str, Sequence[tuple[int, float]]]  # group -> questions and summed outcomes at each value

_ROUNDING = 1e-9  # a smaller link between two values comes from rounding alone


@dataclass(frozen=True, slots=True)
class Observation:
    """The outcome of one question.

    Args:
        group: Its group.
        at: Index of its value.
        outcome: Mean outcome of its repetitions, 0.0 to 1.0.
        cluster: Its cluster.
        unit: What depends on each other even if clusters are few.
    """

    group: str
    at: int
    outcome: float
    cluster: str
    unit: str


@dataclass(frozen=True, slots=True)
class StandardisedRate:
    """The rate at one value, 0.0 to 1.0, with its 95 % interval; None if too few questions determine it."""

    rate: float
    interval: tuple[float, float] | None
    effective: float  # number of independent questions at one value that would determine it as well


def standardise(
    observations: Sequence[Observation],
    values: int,
    weights: Mapping[str, float],
    method: Method,
    confidence: float = 0.95,
) -> list[StandardisedRate | None]:
    """Return the standardised rate at each value; None at a value that no group connects with the others.

    Args:
        observations: The outcomes.
        values: Number of values.
        weights: Weight of each group, above 0; groups without one are left out.
        method: The estimator.
        confidence: Level of the intervals, 0 to 1, both excluded.
    """
    used = [each for each in observations if each.group in weights]
    rates = estimate_rates(cells_of(used, values), weights, method)
    determined = [at for at, rate in enumerate(rates) if rate is not None]
    place = {at: new for new, at in enumerate(determined)}
    used = [Observation(o.group, place[o.at], o.outcome, o.cluster, o.unit) for o in used if o.at in place]
    if not used:
        return [None] * values
    inner = _Standardisation(used, len(determined), weights, method, confidence).rates()
    return [inner[place[at]] if at in place else None for at in range(values)]


def cells_of(observations: Iterable[Observation], values: int) -> dict[str, list[tuple[int, float]]]:
    """Return the number of questions and the sum of their outcomes of each group at each value; groups by name."""
    outcomes: dict[str, list[list[float]]] = {}
    for each in observations:
        outcomes.setdefault(each.group, [[] for _ in range(values)])[each.at].append(each.outcome)
    return {group: [(len(of), fsum(of)) for of in outcomes[group]] for group in sorted(outcomes)}


def estimate_rates(cells: Cells, weights: Mapping[str, float], method: Method) -> list[float | None]:
    """Return the rate at each value, None where it is not determined; "within" may give one beyond 0 and 1.

    Args:
        cells: Questions and summed outcomes of each group at each value.
        weights: Weight of each group.
        method: The estimator. "within" determines the largest set of values that groups connect.
    """
    count = len(next(iter(cells.values()), ()))
    if method == "direct":
        direct = _solve_direct(_sums(cells, weights, method, count))
        return [*direct] if direct else [None] * count
    connected = _largest_component(cells, count)
    part = {
        group: [row[at] for at in connected]
        for group, row in cells.items()
        if group in weights and any(row[at][0] for at in connected)
    }
    solved = _solve_within(_sums(part, weights, method, len(connected)), len(connected)) if part else None
    rates: list[float | None] = [None] * count
    for at, rate in zip(connected, solved or (), strict=False):
        rates[at] = rate
    return rates


def clip(rate: float) -> float:
    """Return the nearest rate from 0 to 1."""
    return min(1.0, max(0.0, rate))


def _largest_component(cells: Cells, count: int) -> list[int]:
    """Return the values that groups connect with each other: the set with the most questions, the first of several."""
    links = [[False] * count for _ in range(count)]
    questions = [0] * count
    for row in cells.values():
        present = [at for at, (n, _) in enumerate(row) if n]
        for at in present:
            questions[at] += row[at][0]
            links[at] = [linked or other in present for other, linked in enumerate(links[at])]
    left, best = [at for at in range(count) if questions[at]], list[int]()
    while left:
        component = _component(links, left[0])
        left = [at for at in left if at not in component]
        best = max(best, component, key=lambda some: sum(questions[at] for at in some))
    return best


def _component(links: Sequence[Sequence[bool]], start: int) -> list[int]:
    reached, open_values = {start}, [start]
    while open_values:
        at = open_values.pop()
        new = [other for other, linked in enumerate(links[at]) if linked and other not in reached]
        reached.update(new)
        open_values += new
    return sorted(reached)


# Both estimators are functions of sums over the groups, so that a replicate without a cluster changes few terms:
# direct    weight, weight x rate at each value (a group that lacks a value adds nothing)
# within    weight, weight x rate, weight x share of each value, right side and matrix of the normal equations


def _sums(cells: Cells, weights: Mapping[str, float], method: Method, count: int) -> list[float]:
    terms = [_terms(row, weights[group], method) for group, row in cells.items() if group in weights]
    return [fsum(column) for column in zip(*terms, strict=True)] if terms else [0.0] * (count + 1)


def _terms(row: Sequence[tuple[int, float]], weight: float, method: Method) -> list[float]:
    """Return what a group adds to the sums."""
    size = sum(n for n, _ in row)
    if method == "direct":
        complete = all(n for n, _ in row)
        return [weight, *(weight * total / n for n, total in row)] if complete else [0.0] * (1 + len(row))
    if not size:
        return [0.0] * (2 + 2 * len(row) + len(row) ** 2)
    rate = fsum(total for _, total in row) / size
    matrix = [
        (n if at == other else 0.0) - n * m / size for at, (n, _) in enumerate(row) for other, (m, _) in enumerate(row)
    ]
    return [
        weight,
        weight * rate,
        *(weight * n / size for n, _ in row),
        *(total - n * rate for n, total in row),
        *matrix,
    ]


def _solve_direct(sums: Sequence[float]) -> list[float] | None:
    return [total / sums[0] for total in sums[1:]] if sums[0] > _ROUNDING else None


def _solve_within(sums: Sequence[float], count: int) -> list[float] | None:
    """Return the rate at each value; None if groups do not connect all values."""
    weight, level, *rest = sums
    shares, right = rest[:count], rest[count : 2 * count]
    matrix = [rest[start : start + count] for start in range(2 * count, len(rest), count)]
    if weight < _ROUNDING or len(_component([[-m > _ROUNDING for m in row] for row in matrix], 0)) < count:
        return None
    effects = _solve(matrix, right)
    middle = (level - fsum(share * effect for share, effect in zip(shares, effects, strict=True))) / weight
    return [middle + effect for effect in effects]


def _solve(matrix: Sequence[Sequence[float]], right: Sequence[float]) -> list[float]:
    """Return the solution of the normal equations whose first unknown is 0.

    Rows and columns of the matrix sum to 0. Without the first of each it is positive definite.
    """
    import numpy as np

    solution = np.linalg.solve(np.asarray(matrix, dtype=float)[1:, 1:], np.asarray(right, dtype=float)[1:])
    return [0.0, *solution.tolist()]


class _Standardisation:
    """The rates of connected values, and their jackknife."""

    def __init__(
        self, used: Sequence[Observation], count: int, weights: Mapping[str, float], method: Method, confidence: float
    ) -> None:
        self._used, self._count, self._weights, self._method = used, count, weights, method
        self._confidence = confidence
        self._cells = cells_of(used, count)
        self._sums = _sums(self._cells, weights, method, count)

    def rates(self) -> list[StandardisedRate | None]:
        clusters = [len({each.cluster for each in self._used if each.at == at}) for at in range(self._count)]
        enough = [number >= ENOUGH_CLUSTERS for number in clusters]
        by_cluster = self._variances([each.cluster for each in self._used]) if any(enough) else []
        by_unit = self._variances([each.unit for each in self._used]) if not all(enough) else []
        solved, effective = self._solve(self._sums), self._effective()
        rates = list[StandardisedRate | None]()
        for at, estimate in enumerate(solved or ()):
            rate = clip(estimate)
            variance = (by_cluster if enough[at] else by_unit)[at]
            units = clusters[at] if enough[at] else len({each.unit for each in self._used if each.at == at})
            rates.append(StandardisedRate(rate, self._interval(rate, variance, units, effective[at]), effective[at]))
        return rates or [None] * self._count

    def _interval(
        self, rate: float, variance: float | None, units: int, effective: float
    ) -> tuple[float, float] | None:
        """Return the hull of rate +- t standard errors and of Wilson's interval for the effective number of questions.

        If no unit changes the rate, the second is that for the number of units, as in `clustered_interval`.
        """
        if variance is None or units < 2:
            return None
        half = student_quantile((1 + self._confidence) / 2, units - 1) * sqrt(variance)
        size = effective if half > _ROUNDING else min(effective, units)
        low, high = wilson(rate * size, size, self._confidence)
        return max(0.0, min(low, rate - half)), min(1.0, max(high, rate + half))

    def _variances(self, keys: Sequence[str]) -> list[float | None]:
        """Return the jackknife variance of each rate; None if a rate is not determined without one of the units."""
        members: dict[str, list[Observation]] = {}
        for key, each in zip(keys, self._used, strict=True):
            members.setdefault(key, []).append(each)
        # Units with the same groups, values and outcomes have the same replicate.
        alike = Counter(tuple(sorted((o.group, o.at, o.outcome) for o in some)) for some in members.values())
        whole = self._solve(self._sums) or []
        squares: list[list[float] | None] = [[] for _ in whole]
        for unit, number in sorted(alike.items()):
            for at, rate in enumerate(self._replicate(unit)):
                column = squares[at]
                if rate is None or column is None:
                    squares[at] = None
                else:
                    column.append(number * (rate - whole[at]) ** 2)
        factor = (len(members) - 1) / len(members)
        return [None if column is None else factor * fsum(column) for column in squares]

    def _replicate(self, unit: Sequence[tuple[str, int, float]]) -> Sequence[float | None]:
        """Return the rates without a unit."""
        changed: dict[str, list[tuple[int, float]]] = {}
        for group, at, outcome in unit:
            row = changed.setdefault(group, list(self._cells[group]))
            row[at] = row[at][0] - 1, row[at][1] - outcome
        sums = list(self._sums)
        for group, row in changed.items():
            old = _terms(self._cells[group], self._weights[group], self._method)
            new = _terms(row, self._weights[group], self._method)
            sums = [total - before + after for total, before, after in zip(sums, old, new, strict=True)]
        solved = self._solve(sums)
        if solved is not None:
            return solved
        left = {group: row for group, row in {**self._cells, **changed}.items() if any(n for n, _ in row)}
        return estimate_rates(left, self._weights, self._method) if left else [None] * self._count

    def _solve(self, sums: Sequence[float]) -> list[float] | None:
        return _solve_direct(sums) if self._method == "direct" else _solve_within(sums, self._count)

    def _effective(self) -> list[float]:
        """Return 1 over the summed squares of the weights of the outcomes in each rate (L. Kish, 1965)."""
        return [1 / fsum(self._squares(at)) for at in range(self._count)]

    def _squares(self, at: int) -> Iterable[float]:
        weight, shares = self._sums[0], self._sums[2 : 2 + self._count]
        if self._method == "direct":
            for group, row in self._cells.items():
                if all(n for n, _ in row):
                    yield (self._weights[group] / weight) ** 2 / row[at][0]
            return
        rest = self._sums[2 + 2 * self._count :]
        matrix = [rest[start : start + self._count] for start in range(0, len(rest), self._count)]
        effects = _solve(matrix, [(other == at) - share / weight for other, share in enumerate(shares)])
        for group, row in self._cells.items():
            size = sum(n for n, _ in row)
            middle = fsum(effect * n for effect, (n, _) in zip(effects, row, strict=True)) / size
            for effect, (n, _) in zip(effects, row, strict=True):
                yield n * (self._weights[group] / weight / size + effect - middle) ** 2
