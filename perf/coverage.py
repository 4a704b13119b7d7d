"""Coverage of the 95 % intervals: how often they hold the true rate or mean, for a grid of points and on average.

    python perf/coverage.py        about 20 seconds; exit code 1 if an average is outside of 93 to 97 %

Wilson's interval is not simulated: of n questions each number of right answers has a known probability, and the
coverage is the sum over those whose interval holds the rate. The clustered interval is simulated: in each of G
workflows `each` questions have a rate of their own, drawn from the beta distribution with that mean; `rho` is the
intra-class correlation of the questions of one workflow.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from itertools import product
from math import comb
from random import Random

from pytest_taskgraph.results.statistics.intervals import clustered_interval, wilson

LEAST, MOST = 0.93, 0.97
SIZES = (10, 20, 40, 80, 160, 400)
RATES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
WORKFLOWS = (10, 20, 40, 80)
ALIKE = (0.0, 0.2)
EACH = 5
ROUNDS = 1_000


def wilson_coverage(n: int, rate: float) -> float:
    """Return the share of samples of `n` questions whose interval holds the rate."""
    return sum(
        comb(n, right) * rate**right * (1 - rate) ** (n - right)
        for right in range(n + 1)
        if wilson(right, n)[0] <= rate <= wilson(right, n)[1]
    )


def clustered_coverage(workflows: int, rate: float, alike: float, rng: Random) -> float:
    """Return the share of simulated samples whose clustered interval holds the rate."""
    held = 0
    for _ in range(ROUNDS):
        ends = clustered_interval({str(at): _workflow(rate, alike, rng) for at in range(workflows)})
        held += ends is not None and ends[0] <= rate <= ends[1]
    return held / ROUNDS


def _workflow(rate: float, alike: float, rng: Random) -> list[float]:
    weight = (1 - alike) / alike if alike else 0.0
    own = rng.betavariate(rate * weight, (1 - rate) * weight) if alike else rate
    return [float(rng.random() < own) for _ in range(EACH)]


def wilson_points() -> Iterator[tuple[str, float]]:
    """Yield each point of the grid with its coverage."""
    for n, rate in product(SIZES, RATES):
        yield f"wilson     n={n:<4d} rate={rate:.2f}", wilson_coverage(n, rate)


def clustered_points() -> Iterator[tuple[str, float]]:
    """Yield each point of the grid with its coverage, the same in every run."""
    for workflows, rate, alike in product(WORKFLOWS, RATES, ALIKE):
        rng = Random(f"{workflows}|{rate}|{alike}")
        where = f"clustered  workflows={workflows:<3d} rate={rate:.2f} rho={alike:.1f}"
        yield where, clustered_coverage(workflows, rate, alike, rng)


def report(name: str, points: Iterator[tuple[str, float]]) -> bool:
    """Print the points, and return True if their average is within bounds."""
    coverages = []
    for where, coverage in points:
        print(f"{where}  {100 * coverage:6.2f} %", flush=True)
        coverages.append(coverage)
    average = sum(coverages) / len(coverages)
    print(f"{name}: {100 * average:.2f} % on average, {100 * min(coverages):.2f} % at least\n")
    return LEAST <= average <= MOST


def main() -> int:
    """Return the exit code: 0 if both averages are within bounds."""
    return int(not all([report("wilson", wilson_points()), report("clustered", clustered_points())]))


if __name__ == "__main__":
    sys.exit(main())
