"""Error rates of the intervals of aggregates, and of comparisons of aggregates, by simulation.

    python perf/aggregates.py            about 10 minutes on an idle core; exit code 1 if a demand is missed
    python perf/aggregates.py --quick    about 1 minute: fewer cells and samples

Questions of a cluster are right with a probability of the cluster's own, drawn from a beta distribution around the rate
of their class, with an intra-class correlation. An interval at 95 % whose lower end is above the true value makes a
gate pass falsely. Demands: that happens in at most 5 % of the runs of every cell, and *worse* is the verdict in at most
4 % of the comparisons without a difference.

For some cells, the jackknife is compared to the percentile bootstrap over clusters. The output is Markdown.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from pytest_taskgraph.family_description import Aggregate, FamilyDescription
from pytest_taskgraph.results.aggregates import AggregateSums, ObservedQuestion, estimate_aggregate
from pytest_taskgraph.results.comparison.aggregate_changes import aggregate_changes
from pytest_taskgraph.results.comparison.pairing import pair_questions
from pytest_taskgraph.results.comparison.verdict import LEVEL
from pytest_taskgraph.results.tally import Tally
from pytest_taskgraph.trial import Question, Score, Trial

AGGREGATES = (
    Aggregate("sensitivity", "ratio", ("yes",)),
    Aggregate("specificity", "ratio", ("no",)),
    Aggregate("g_mean", "geometric-mean", ("sensitivity", "specificity")),
    Aggregate("g_seeds", "seed-mean", ("g_mean",)),
    Aggregate("accuracy", "ratio", ("pairs",)),
)
BY_NAME = {aggregate.name: aggregate for aggregate in AGGREGATES}
STEPS = FamilyDescription("steps", aggregates=AGGREGATES[:3])
COLUMNS = ("sensitivity", "g_mean", "g_seeds", "accuracy")
MOST_GREEN = 0.05
MOST_FALSE = 0.04
SEEDS = 3
BOOTSTRAPS = 400


@dataclass(frozen=True)
class Cell:
    """One simulated cell: clusters, questions of each class in a cluster, correlation, rates of the classes."""

    clusters: int
    size: int
    correlation: float
    yes: float
    no: float

    @property
    def title(self) -> str:
        """Return the cell as a line."""
        shape = f"{self.clusters} × {2 * self.size}, correlation {self.correlation:g}"
        return f"{shape}, rates {self.yes:g} and {self.no:g}"


CELLS = tuple(
    Cell(clusters, size, correlation, *rates)
    for clusters in (6, 10, 20, 50)
    for size, correlation in ((1, 0.0), (5, 0.3))
    for rates in ((0.7, 0.5), (0.9, 0.8), (0.97, 0.9))
)
QUICK = tuple(cell for cell in CELLS if cell.clusters in (10, 20) and cell.size == 5)


def rates_of(rate: float, correlation: float, count: int, rng: np.random.Generator) -> Sequence[float]:
    """Return a probability for each cluster."""
    if not correlation:
        return [rate] * count
    weight = (1 - correlation) / correlation
    return [float(rate_of_cluster) for rate_of_cluster in rng.beta(rate * weight, (1 - rate) * weight, count)]


def trial(name: str, of: str, hit: bool, cluster: int, seed: int, pairs: int) -> Trial:
    """Return a trial of the class, with a part of so many pairs that are right or wrong together."""
    question = Question(name, "steps", "g", "", "", "", "", "", "correctness", cluster=f"{cluster}")
    question.labels["seed"] = seed
    parts = {of: [float(hit), 1.0], "pairs": [float(hit * pairs), float(pairs)]}
    return Trial(question, "m", "right" if hit else "wrong", score=Score(float(hit), parts=parts))


def draw_runs(cell: Cell, rng: np.random.Generator, runs: int = 1) -> list[list[Trial]]:
    """Return the trials of runs about the same questions.

    Each cluster is equally easy in all runs; answers are drawn anew.
    """
    drawn_runs: list[list[Trial]] = [[] for _ in range(runs)]
    for of, rate in (("yes", cell.yes), ("no", cell.no)):
        for cluster, own in enumerate(rates_of(rate, cell.correlation, cell.clusters, rng)):
            for at in range(cell.size):
                seed, pairs = int(rng.integers(SEEDS)), int(rng.integers(1, 12))
                for run in drawn_runs:
                    name = f"{of}-{cluster}-{at}"
                    run.append(trial(name, of, bool(rng.random() < own), cluster, seed, pairs))
    return drawn_runs


def truth(name: str, cell: Cell) -> float:
    """Return the true value of the aggregate; the mean over seeds, whose G-means are biased, is simulated."""
    if name == "g_seeds":
        rng = np.random.default_rng(99)
        values = [estimate_aggregate(BY_NAME[name], BY_NAME, draw_runs(cell, rng)[0]).value for _ in range(300)]
        return float(np.mean([value for value in values if value is not None]))
    by_name = {"sensitivity": cell.yes, "g_mean": sqrt(cell.yes * cell.no), "accuracy": (cell.yes + cell.no) / 2}
    return by_name[name]


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table and an empty line."""
    for row in (heads, ["---", *["--:"] * (len(heads) - 1)], *rows):
        print(f"| {' | '.join(row)} |")
    print(flush=True)


def print_coverage(cells: Sequence[Cell], samples: int) -> float:
    """Print the shares of runs whose interval is above, or misses, the true value; return the greatest share above."""
    rows, greatest = [], 0.0
    for at, cell in enumerate(cells):
        true, row = {name: truth(name, cell) for name in COLUMNS}, [cell.title]
        rng = np.random.default_rng(at)
        runs = [draw_runs(cell, rng)[0] for _ in range(samples)]
        for name in COLUMNS:
            ends = [estimate.ends for run in runs if (estimate := estimate_aggregate(BY_NAME[name], BY_NAME, run)).ends]
            above = sum(interval[0] > true[name] + 1e-9 for interval in ends if interval) / samples
            missed = sum(
                not interval[0] - 1e-9 <= true[name] <= interval[1] + 1e-9 for interval in ends if interval
            ) / max(1, len(ends))
            row.append(f"{percent(above)}, {percent(missed)}")
            greatest = max(greatest, above)
        rows.append(row)
    print("## Intervals: share above the true value (a false pass), share that misses it\n")
    table(["clusters × questions", *COLUMNS], rows)
    return greatest


def print_bootstrap(cells: Sequence[Cell], samples: int) -> None:
    """Print the widths of the jackknife's intervals of the G-mean and of those of the bootstrap over clusters."""
    rows = []
    for at, cell in enumerate(cells):
        rng = np.random.default_rng(1000 + at)
        true, widths, missed = truth("g_mean", cell), [], [0, 0]
        for _ in range(samples):
            run = draw_runs(cell, rng)[0]
            ends, others = estimate_aggregate(BY_NAME["g_mean"], BY_NAME, run).ends, bootstrap("g_mean", run, rng)
            assert ends is not None
            widths.append((ends[1] - ends[0], others[1] - others[0]))
            missed = [
                count + (not interval[0] <= true <= interval[1])
                for count, interval in zip(missed, (ends, others), strict=True)
            ]
        jack, boot = np.mean(np.array(widths), axis=0)
        rows.append(
            [cell.title, f"{jack:.3f}, {percent(missed[0] / samples)}", f"{boot:.3f}, {percent(missed[1] / samples)}"]
        )
    print("## G-mean: mean width of the interval, share that misses the true value\n")
    table(["clusters × questions", "jackknife", "percentile bootstrap"], rows)


def bootstrap(name: str, run: Sequence[Trial], rng: np.random.Generator) -> tuple[float, float]:
    """Return the percentile interval of an aggregate over clusters that are drawn with replacement."""
    by_cluster: dict[str, list[Trial]] = {}
    for observed in run:
        by_cluster.setdefault(observed.question.cluster, []).append(observed)
    names, values = sorted(by_cluster), list[float]()
    for _ in range(BOOTSTRAPS):
        chosen = rng.choice(names, len(names))
        sums = AggregateSums(
            BY_NAME[name],
            BY_NAME,
            (ObservedQuestion(f"{at}", [observed]) for at, key in enumerate(chosen) for observed in by_cluster[key]),
        )
        value = sums.value()
        values += [] if value is None else [value]
    low, high = np.quantile(values, [0.025, 0.975])
    return float(low), float(high)


def print_comparisons(cells: Sequence[Cell], samples: int) -> float:
    """Print how often the verdict is *worse* without a difference; return the share over all cells."""
    rows, worse_total, total = [], 0, 0
    for at, cell in enumerate(cells):
        rng = np.random.default_rng(2000 + at)
        worse = 0
        for _ in range(samples):
            tallies = (Tally(), Tally())
            for tally, run in zip(tallies, draw_runs(cell, rng, 2), strict=True):
                for observed in run:
                    tally.add(observed)
            changes = aggregate_changes(pair_questions(*tallies).pairs, [STEPS], LEVEL)
            worse += any(change.verdict == "worse" for change in changes)
        rows.append([cell.title, percent(worse / samples)])
        worse_total, total = worse_total + worse, total + samples
    print("## Comparisons without a difference: *worse* in any of sensitivity, specificity, G-mean\n")
    table(["clusters × questions", "worse"], [*rows, ["all", percent(worse_total / total)]])
    return worse_total / total


def main(arguments: Sequence[str] | None = None) -> int:
    """Print all tables, then whether the demands hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer cells and samples")
    quick = parser.parse_args(arguments).quick
    cells, samples = (QUICK, 120) if quick else (CELLS, 400)
    green = print_coverage(cells, samples)
    print_bootstrap(QUICK[:1] if quick else QUICK[::3], 40 if quick else 150)
    false = print_comparisons(cells, samples // 2)
    slack = 2 * sqrt(MOST_GREEN * (1 - MOST_GREEN) / samples)
    demands = {
        f"above the true value in at most {MOST_GREEN:.0%} of the runs of each cell: {percent(green)}": green
        <= MOST_GREEN + slack,
        f"*worse* without a difference in at most {MOST_FALSE:.0%}: {percent(false)}": false <= MOST_FALSE,
    }
    for text, holds in demands.items():
        print(f"- {'holds' if holds else 'MISSED'}: {text}")
    return 0 if all(demands.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
