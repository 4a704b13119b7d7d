"""Beta-binomial posterior of a pass rate whose answers share clusters.

The passes of a cluster follow a beta-binomial distribution with mean m and intra-class correlation r: the share of the
variance that lies between clusters. With r = 0 all answers are independent, with r = 1 a cluster passes or fails as a
whole (J. G. Skellam, Journal of the Royal Statistical Society B 10 (1948) 257-261). Both m and r have a uniform prior
from 0 to 1. The posterior is summed over a grid instead of fixing r at an estimate: with few clusters, r is poorly
known, and the interval of m is as wide as that demands. scipy.stats.betabinom has the probability of a count,
but no posterior; and the terms that the cells share are summed once here for all samples.

`perf/verdicts.py` shows how often the interval misses the rate; docs/explanation/statistics.md holds its tables.
"""

from __future__ import annotations

from functools import lru_cache
from math import ceil, pi, sqrt
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]
    Whole = NDArray[np.int64]

CORRELATIONS = 32  # cells of the grid of r; narrower towards 0, where r changes the width most
MEANS = 128  # cells of the grid of m, at least
CELLS_PER_DEVIATION = 4  # cells of m in one standard deviation of independent answers
BATCH = 4_000_000  # elements of the largest array


@lru_cache(maxsize=1024)
def interval(counts: tuple[tuple[int, int], ...], confidence: float = 0.95) -> tuple[float, float]:
    """Return the equal-tailed posterior interval (low, high) of the mean.

    Args:
        counts: Passes and answers of each cluster, in any order; at least one answer in each.
        confidence: Probability that the interval holds, 0 to 1, both excluded.

    Returns:
        Both ends, 0 to 1. `high` is 1 where every answer passes, and `low` is 0 where none does, as for Wilson's.
    """
    import numpy as np

    passed, answers = np.array(counts, dtype=np.int64).T
    low, high = intervals(passed[np.newaxis, :], answers, confidence)
    return float(low[0]), float(high[0])


def intervals(passed: Whole, answers: Whole, confidence: float = 0.95) -> tuple[Floats, Floats]:
    """Return the ends of `interval` for many samples of clusters of the same sizes.

    Args:
        passed: Number of passes, one row a sample, one column a cluster.
        answers: Number of answers of each cluster.
        confidence: Probability that an interval holds, 0 to 1, both excluded.
    """
    import numpy as np

    edges, means = _means(int(answers.sum()))
    _, correlations = _correlations()
    failed = answers - passed
    values = np.unique(np.concatenate([passed.ravel(), failed.ravel()]))
    counts, sample = np.unique(
        np.concatenate([_histogram(passed, values), _histogram(failed, values)], axis=1), axis=0, return_inverse=True
    )
    terms = np.concatenate([_terms(means, correlations, values), _terms(1 - means, correlations, values)])
    constant = _constant(edges, answers)
    ends = np.empty((len(counts), 2))
    step = max(1, BATCH // constant.size)
    for start in range(0, len(counts), step):
        mass = _mass(counts[start : start + step] @ terms + constant.ravel())
        at_mean = mass.reshape(len(mass), *constant.shape).sum(axis=2)
        ends[start : start + step] = _quantiles(at_mean, edges, ((1 - confidence) / 2, (1 + confidence) / 2))
    low, high = ends[sample.reshape(-1)].T
    return np.where(passed.any(axis=1), low, 0.0), np.where(failed.any(axis=1), high, 1.0)


def correlation(counts: Sequence[tuple[int, int]]) -> float:
    """Return the posterior mean of the intra-class correlation, 0 to 1.

    Args:
        counts: Passes and answers of each cluster, as for `interval`.
    """
    import numpy as np

    passed, answers = np.array(counts, dtype=np.int64).T
    edges, means = _means(int(answers.sum()))
    _, correlations = _correlations()
    logs = _constant(edges, answers).ravel()
    for side, each in ((means, passed), (1 - means, answers - passed)):
        values, clusters = np.unique(each, return_counts=True)
        logs = logs + clusters @ _terms(side, correlations, values)
    mass = _mass(logs[np.newaxis, :]).reshape(len(means), -1)
    return float(mass.sum(axis=0) @ correlations / mass.sum())


def _constant(edges: Floats, answers: Whole) -> Floats:
    """Return the part of the log posterior of each cell, m by r, that does not depend on the passes."""
    import numpy as np

    weights, correlations = _correlations()
    sizes, clusters = np.unique(answers, return_counts=True)
    return np.log(np.diff(edges))[:, np.newaxis] + np.log(weights) - clusters @ _terms(np.ones(1), correlations, sizes)


def _mass(logs: Floats) -> Floats:
    """Return the mass of each cell, scaled so that the greatest in a row is 1."""
    import numpy as np

    return np.asarray(np.exp(logs - logs.max(axis=1, keepdims=True)))


def _means(answers: int) -> tuple[Floats, Floats]:
    """Return the edges and the middles of the cells of m, equally spaced in arc sine, which stabilises the variance."""
    import numpy as np

    cells = max(MEANS, ceil(pi * CELLS_PER_DEVIATION * sqrt(answers)))
    angles = np.linspace(0, pi, 2 * cells + 1)
    points = (1 - np.cos(angles)) / 2
    return points[::2], points[1::2]


def _correlations() -> tuple[Floats, Floats]:
    """Return the prior probability and the middle of each cell of r."""
    import numpy as np

    edges = np.linspace(0, 1, CORRELATIONS + 1) ** 2
    return np.diff(edges), (edges[1:] + edges[:-1]) / 2


def _histogram(counts: Whole, values: Whole) -> Floats:
    """Return how many clusters of each sample have each of the values."""
    import numpy as np

    places = np.searchsorted(values, counts) + np.arange(len(counts))[:, np.newaxis] * len(values)
    return np.bincount(places.ravel(), minlength=len(counts) * len(values)).reshape(len(counts), -1).astype(np.float64)


def _terms(means: Floats, correlations: Floats, values: Whole) -> Floats:
    """Return the sum of log(m (1 - r) + j r) for j below each value, one row each, over the cells of the grid.

    The likelihood of k passes has these factors of m, k and of 1 - m, n - k, over those of 1, n.
    """
    import numpy as np
    from scipy.special import gammaln

    first = (means[:, np.newaxis] * (1 - correlations) / correlations).ravel()
    each = values[:, np.newaxis]
    logs = np.tile(np.log(correlations), len(means))
    return np.asarray(gammaln(first + each) - gammaln(first) + each * logs)


def _quantiles(mass: Floats, edges: Floats, at: tuple[float, ...]) -> Floats:
    """Return the quantiles of each row of masses of cells, evenly spread within a cell."""
    import numpy as np

    below = np.concatenate([np.zeros((len(mass), 1)), np.cumsum(mass, axis=1)], axis=1)
    rows = np.arange(len(mass))
    ends = []
    for share in at:
        mass_below = share * below[:, -1]
        cell = np.minimum((below <= mass_below[:, np.newaxis]).sum(axis=1) - 1, mass.shape[1] - 1)
        part = (mass_below - below[rows, cell]) / mass[rows, cell]
        ends.append(edges[cell] + part * (edges[cell + 1] - edges[cell]))
    return np.stack(ends, axis=1)
