"""How often a comparison is wrong, by simulation with known accuracy, at the level of results.

    python benchmarks/verdicts.py        about a minute; seeded; exit code 1 where a demand is missed

Without a difference: 2,000 comparisons in all, over several kinds of runs; "worse" may be said in at most 6 % of them,
at the upper bound of its interval. So too of 2,000 more about 1 to 5 workflows, which are tested question by question.
From 0.90 to 0.80 with 400 paired questions: "worse" in at least 90 %, also about 3 workflows. With a loss as great as
the margin, "not worse" may be said in at most 6 % likewise.
"""

from __future__ import annotations

import sys
import time
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from math import exp, log
from random import Random

from pytest_taskgraph.results.pairing import Pair
from pytest_taskgraph.results.statistics import wilson
from pytest_taskgraph.results.verdict import MARGIN, judge
from pytest_taskgraph.trial import Question, Score, Trial

PATTERNS = 20
MOST_FALSE = 0.06
LEAST_FOUND = 0.90


@dataclass(frozen=True)
class Runs:
    """Two runs that are simulated: the accuracy of each, and what their questions are like."""

    title: str
    questions: int = 400
    a_workflow: int = 1  # questions
    before: float = 0.9
    after: float = 0.9
    shared: float = 0.0  # spread, in logits, of a workflow's ease in both runs
    own: float = 0.0  # spread, in logits, of its ease in one run: what makes its questions depend on each other
    graded: int = 0  # every so many patterns one that is graded; 0: none
    repetitions: int = 1
    comparisons: int = 400


SAME = (
    Runs("one question a workflow"),
    Runs("5 a workflow, depending", a_workflow=5, shared=1.0, own=1.0),
    Runs("graded among them", a_workflow=2, shared=1.0, own=0.5, graded=4),
    Runs("few: 48 questions", questions=48, before=0.7, after=0.7),
    Runs("asked 3 times", questions=200, before=0.6, after=0.6, shared=2.0, repetitions=3),
)
FEW = (
    Runs("1 workflow", questions=100, a_workflow=100, before=0.7, after=0.7),
    Runs("1, easy or hard in both", questions=100, a_workflow=100, before=0.6, after=0.6, shared=3.0),
    Runs("3, easy or hard in both", questions=120, a_workflow=40, before=0.6, after=0.6, shared=3.0),
    Runs("4, graded, asked twice", questions=80, a_workflow=20, shared=1.0, graded=4, repetitions=2),
    Runs("5, easy or hard in both", questions=120, a_workflow=24, before=0.6, after=0.6, shared=2.0),
)
WORSE = (
    Runs("0.90 -> 0.80", after=0.8),
    Runs("0.90 -> 0.80, 3 workflows", questions=399, a_workflow=133, after=0.8),
    Runs("0.90 -> 0.80, 2 a workflow", after=0.8, a_workflow=2, shared=1.0),
)
AT_MARGIN = (
    Runs("one question a workflow", after=0.9 - MARGIN),
    Runs("none won: 0.05 lost", questions=150, before=1.0, after=1.0 - MARGIN),
    Runs("5 a workflow, depending", a_workflow=5, before=0.7, after=0.7 - MARGIN, own=0.3),
    Runs("2 workflows", a_workflow=200, after=0.9 - MARGIN),
)

RIGHT = Trial(Question("q", "f", "p", "c", "", "", "", None, ""), "m", "right", score=Score(1.0))
WRONG = Trial(RIGHT.question, "m", "wrong", score=Score(0.0))


def pairs(runs: Runs, rng: Random) -> Iterator[Pair]:
    """The paired questions of one comparison."""
    for workflow in range(runs.questions // runs.a_workflow):
        ease = rng.gauss(0, runs.shared)
        chances = [_moved(accuracy, ease + rng.gauss(0, runs.own)) for accuracy in (runs.before, runs.after)]
        for number in range(runs.a_workflow):
            pattern = (workflow * runs.a_workflow + number) % PATTERNS
            graded = bool(runs.graded) and pattern % runs.graded == 0
            answers = [_trials(runs, chance, graded, rng) for chance in chances]
            yield Pair(f"{workflow}-{number}", "", f"p{pattern:02d}", "c", str(workflow), graded, *answers)


def _moved(accuracy: float, logits: float) -> float:
    return accuracy if not logits or accuracy in (0, 1) else 1 / (1 + exp(-log(accuracy / (1 - accuracy)) - logits))


def _trials(runs: Runs, chance: float, graded: bool, rng: Random) -> tuple[Trial, ...]:
    if graded:
        score = Score(rng.betavariate(5 * chance, 5 * (1 - chance)))
        return (Trial(RIGHT.question, "m", "right", score=score),) * runs.repetitions
    return tuple(RIGHT if rng.random() < chance else WRONG for _ in range(runs.repetitions))


def verdicts(runs: Runs) -> Counter[str]:
    """How often each verdict is given; the same in every process."""
    rng = Random(f"verdicts|{runs}")
    return Counter(judge(list(pairs(runs, rng))).verdict for _ in range(runs.comparisons))


def told(title: str, of: str, counts: Counter[str]) -> tuple[float, float]:
    """The interval of the share of a verdict; the line is printed."""
    n = sum(counts.values())
    low, high = wilson(counts[of], n)
    others = ", ".join(f"{name} {counts[name]}" for name in sorted(counts) if name != of)
    print(f"  {title:28} {of} {counts[of]:5d} of {n:5d} = {counts[of] / n:.4f} [{low:.4f}, {high:.4f}]  {others}")
    return low, high


def shelf(title: str, of: str, kinds: tuple[Runs, ...]) -> list[tuple[float, float]]:
    """The intervals of each kind of runs, and last that of all of them."""
    print(title)
    total: Counter[str] = Counter()
    found = []
    for runs in kinds:
        counts = verdicts(runs)
        total += counts
        found.append(told(runs.title, of, counts))
    return [*found, told("all", of, total)]


def main() -> int:
    began = time.perf_counter()
    false = shelf("no difference", "worse", SAME)[-1][1]
    alone = shelf("no difference, fewer than 6 workflows", "worse", FEW)[-1][1]
    found = [low for low, _ in shelf("a difference", "worse", WORSE)]
    unseen = shelf(f"a loss of {MARGIN:g}, the margin", "not worse", AT_MARGIN)[-1][1]
    demands = {
        f"false alarms at most {MOST_FALSE:.0%}, upper bound": false <= MOST_FALSE,
        f"false alarms about 1 to 5 workflows at most {MOST_FALSE:.0%}, upper bound": alone <= MOST_FALSE,
        f"0.90 -> 0.80 found in at least {LEAST_FOUND:.0%}, lower bound": min(found) >= LEAST_FOUND,
        f"a loss of the margin called not worse in at most {MOST_FALSE:.0%}, upper bound": unseen <= MOST_FALSE,
    }
    for demand, held in demands.items():
        print(f"{'held  ' if held else 'MISSED'} {demand}")
    print(f"{time.perf_counter() - began:.0f} s")
    return 0 if all(demands.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
