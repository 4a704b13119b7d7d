"""How often the intervals of adjusted rates contain the rate: simulated runs of groups that differ in difficulty.

    python perf/adjusted_rates.py [draws]

Prints, for each kind of run, the share of the intervals that contain the rate of the same mix at that value, their
mean width and the mean error of the rates. Exit code 1 if fewer than 93 % of the intervals of a kind contain it.
"""

from __future__ import annotations

import sys
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from random import Random

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from pytest_taskgraph.results.statistics.standardisation import Method, Observation, standardise

LEAST = 0.93


@dataclass(frozen=True)
class Kind:
    """A kind of run."""

    groups: int
    values: int
    questions: int  # in a cell
    method: Method
    missing: float = 0.0  # share of the cells that are empty
    slope: float = 0.04  # by which the rate falls from value to value
    clusters: int = 0  # that share the questions of a value; 0: each question is a cluster
    spread: float = 0.0  # standard deviation of the rate between clusters
    levels: tuple[float, float] = (0.35, 0.85)  # lowest and highest rate of a group at the first value


KINDS = (
    Kind(10, 4, 4, "direct"),
    Kind(40, 4, 2, "direct"),
    Kind(4, 6, 20, "direct"),
    Kind(10, 4, 4, "within", missing=0.3),
    Kind(40, 6, 1, "within", missing=0.5),
    Kind(44, 3, 4, "within", missing=0.6),
    Kind(10, 3, 10, "direct", clusters=12, spread=0.15),
    Kind(20, 4, 3, "within", missing=0.4, clusters=20, spread=0.15),
    Kind(10, 3, 10, "direct", slope=0, clusters=8, spread=0.02, levels=(0.92, 0.96)),
    Kind(10, 4, 4, "direct", slope=0, levels=(0.9, 1)),
    Kind(20, 4, 2, "within", slope=0, missing=0.4, levels=(0.9, 1)),
)


def simulate(kind: Kind, seed: int) -> tuple[int, int, float, float]:
    """Return the intervals that contain the rate, all intervals, their summed width and the summed error."""
    draw = Random(seed)
    levels = {f"g{at:02}": draw.uniform(*kind.levels) for at in range(kind.groups)}
    shifts = [[draw.gauss(0, kind.spread) for _ in range(kind.clusters or 1)] for _ in range(kind.values)]
    observations = []
    for group, level in levels.items():
        for at in range(kind.values):
            for place in range(0 if draw.random() < kind.missing else kind.questions):
                own = f"{group}-{at}-{place}"
                shared = draw.randrange(kind.clusters or 1)
                rate = min(1.0, max(0.0, level - kind.slope * at + (shifts[at][shared] if kind.clusters else 0.0)))
                cluster = f"{at}-{shared}" if kind.clusters else own
                observations.append(Observation(group, at, float(draw.random() < rate), cluster, own))
    weights = {group: float(n) for group, n in Counter(each.group for each in observations).items()}
    level = sum(levels[group] * weight for group, weight in weights.items()) / sum(weights.values())
    hits = total = 0
    width = error = 0.0
    for at, found in enumerate(standardise(observations, kind.values, weights, kind.method)):
        if found is not None and found.interval is not None:
            low, high = found.interval
            truth = level - kind.slope * at
            total, hits = total + 1, hits + (low <= truth <= high)
            width, error = width + high - low, error + found.rate - truth
    return hits, total, width, error


def main(draws: int = 300) -> int:
    missed = False
    for kind in KINDS:
        hits, total, width, error = map(sum, zip(*(simulate(kind, seed) for seed in range(draws)), strict=True))
        print(f"{kind}: {hits / total:.1%} of {total}, width {width / total:.3f}, error {error / total:+.4f}")
        missed |= hits / total < LEAST
    return int(missed)


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:2])))
