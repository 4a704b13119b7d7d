"""Compare times of generated workflows with those that the solver OR-tools CP-SAT finds (`pip install ortools`).

    python perf/cp_sat.py --count=2000 --seed=1

For each workflow, the solver minimizes the end of the whole with the tasks as intervals: without a bound on what runs
at the same time, and with two and with three workers. It then finds for a task the latest start with which the whole
still takes no longer. The script prints what differs and how many comparisons there were; 1 is its exit status if
anything differs.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator
from random import Random

from ortools.sat.python import cp_model

from pytest_taskgraph.errors import NoCaseError
from pytest_taskgraph.families.understanding.patterns.scope import scopes
from pytest_taskgraph.families.understanding.patterns.timed_levels import timed_levels
from pytest_taskgraph.generation.builder import build
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.workflow.semantics.run_times import Timing, shortest_with_workers

SIZES = (5, 8, 12, 16, 20, 30, 40, 60, 80, 100)
FEATURES = ("exclusive", "loop", "hierarchy")
MOST_TIME = 0.5  # of the solver for one problem, in its deterministic unit of about a second
SEARCH_STEPS = 1_000  # as in questions; a search that takes more is not asked about, and not compared


class Schedule:
    """The model of one level: each execution is an interval after all that it waits for."""

    def __init__(self, timed: Timing, workers: int = 0) -> None:
        self.model = cp_model.CpModel()
        horizon = sum(timed.lengths)
        self.starts = [self.model.NewIntVar(0, horizon, f"start{i}") for i in range(len(timed.lengths))]
        self.end = self.model.NewIntVar(0, horizon, "end")
        for start, length in zip(self.starts, timed.lengths, strict=True):
            self.model.Add(self.end >= start + length)
        for first, second in timed.run.pairs:
            self.model.Add(self.starts[second] >= self.starts[first] + timed.lengths[first])
        if workers:
            intervals = [
                self.model.NewFixedSizeIntervalVar(start, length, "task")
                for start, length in zip(self.starts, timed.lengths, strict=True)
            ]
            self.model.AddCumulative(intervals, [1] * len(intervals), workers)
            self.model.Add(self.end * workers >= horizon)  # implied, and found by the solver only in much time

    def shortest(self) -> int | None:
        """Return the least end of the whole; None if the solver does not find it in time."""
        self.model.Minimize(self.end)
        return self._solve()

    def latest(self, place: int, end: int) -> int | None:
        """Return the latest start of an execution with which the whole ends no later; None as above."""
        self.model.Add(self.end <= end)
        self.model.Maximize(self.starts[place])
        return self._solve()

    def _solve(self) -> int | None:
        solver = cp_model.CpSolver()
        solver.parameters.num_workers = 1
        solver.parameters.random_seed = 0
        solver.parameters.max_deterministic_time = MOST_TIME
        return round(solver.ObjectiveValue()) if solver.Solve(self.model) == cp_model.OPTIMAL else None


def drawn(count: int, seed: int) -> Iterator[tuple[str, Timing]]:
    """Yield so many levels in a situation, of all sizes and features."""
    rng, number = Random(seed), 0
    while number < count:
        size = SIZES[number % len(SIZES)]
        features = {"durations", "parallel", *[name for name in FEATURES if size > 8 and rng.random() < 0.4]}
        try:
            project = build(Recipe(size, width=rng.choice((3, 5)), features=frozenset(features)), rng)
        except NoCaseError:
            continue
        found = [timed for scope in scopes(project) for timed in timed_levels(scope.workflow)]
        if found:
            number += 1
            yield f"{number}, {size} tasks, {' '.join(sorted(features))}", rng.choice(found).timing


def compare(name: str, timed: Timing, counts: Counter[str], rng: Random) -> None:
    """Compare one level, count the comparisons and print what differs."""
    place = rng.randrange(len(timed.lengths))
    expected: dict[str, tuple[int, int | None]] = {
        "makespan": (timed.makespan, Schedule(timed).shortest()),
        "latest start": (timed.latest_starts[place], Schedule(timed).latest(place, timed.makespan)),
    }
    for workers in (2, 3):
        shortest = shortest_with_workers(timed, workers, SEARCH_STEPS)
        if shortest is None:
            counts["not decided by the search"] += 1
        else:
            expected[f"{workers} workers"] = (shortest, Schedule(timed, workers).shortest())
    for what, (ours, theirs) in expected.items():
        if theirs is None:
            counts[f"{what}, not decided by CP-SAT"] += 1
            continue
        counts[what] += 1
        if ours != theirs:
            counts["different"] += 1
            print(f"{name}: {what}: {ours}, CP-SAT: {theirs}", flush=True)


def main() -> int:
    """Compare and print the counts."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    given = parser.parse_args()
    counts, began, rng = Counter[str](), time.perf_counter(), Random(given.seed + 1)
    counts["different"] = 0
    for name, timed in drawn(given.count, given.seed):
        compare(name, timed, counts, rng)
    print(f"{given.count} levels in {time.perf_counter() - began:.0f} s: {dict(counts)}")
    return int(counts["different"] > 0)


if __name__ == "__main__":
    sys.exit(main())
