"""Error rates of gates and comparisons, and whether their numbers of needed questions suffice, by simulation.

    python perf/verdicts.py            about 5 minutes on an idle core; exit code 1 if a demand is missed
    python perf/verdicts.py --quick    about 1 minute: fewer cells and samples

Gates: a gate at 95 % whose threshold is the true rate may pass in at most 5 % of the runs, whatever the number of
workflows (6 to 100), their questions (1 to 20), the correlation within them (0 to 0.5) and the rate (0.5 to 0.98).
Comparisons: the verdict is "worse" in at most 6 % of the runs without a difference, and never about fewer than six
workflows, which have a verdict of their own. A difference of 0.10 over 400 questions is found in at least 90 %. The
verdict is "not worse" in at most 6 % of the runs that lose as much as the margin.
Numbers: of runs with as many questions as an inconclusive verdict names, 75 to 85 % decide.

The output is Markdown.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import exp, log, sqrt
from random import Random

import numpy as np
from numpy.typing import NDArray
from scipy.special import bdtrc, stdtrit

from pytest_taskgraph.results.comparison.pairing import QuestionPair
from pytest_taskgraph.results.comparison.verdict import LEVEL, MARGIN, decide
from pytest_taskgraph.results.statistics.beta_binomial import correlation
from pytest_taskgraph.results.statistics.intervals import wilson
from pytest_taskgraph.results.statistics.paired import LossEstimate, estimate_loss, needed_clusters, sign_flip
from pytest_taskgraph.results.statistics.power import clusters_needed, draw_passes, independent_needed, rate_intervals
from pytest_taskgraph.trial import Question, Score, Trial

Passes = NDArray[np.int64]

CONFIDENCE = 0.95
MOST_GREEN = 0.05
MOST_FALSE = 0.06
LEAST_FOUND = 0.90
POWER = (0.75, 0.85)  # a cell may be outside by less than its own error
PATTERNS = 20


@dataclass(frozen=True)
class Effort:
    """The amount of simulation."""

    samples: int  # runs of a cell of the gates
    workflows: tuple[int, ...]
    sizes: tuple[int, ...]
    alike: tuple[float, ...]
    rates: tuple[float, ...]
    comparisons: int  # of a kind of runs
    promises: int  # runs of a cell of the numbers


FULL = Effort(
    4000, (6, 8, 10, 20, 50, 100), (1, 2, 5, 10, 20), (0, 0.1, 0.2, 0.3, 0.5), (0.5, 0.6, 0.7, 0.8, 0.9, 0.95, 0.98),
    400, 3000,
)  # fmt: skip
QUICK = Effort(1000, (6, 20, 100), (1, 5, 20), (0, 0.3, 0.5), (0.5, 0.8, 0.95), 60, 300)


def table(heads: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table and an empty line."""
    for row in (heads, ["---", *["--:"] * (len(heads) - 1)], *rows):
        print(f"| {' | '.join(row)} |")
    print(flush=True)


def percent(share: float) -> str:
    return f"{100 * share:.1f} %"


# Gates ---------------------------------------------------------------------------------------------------------------


def lower_ends(passed: Passes, answers: Passes) -> NDArray[np.float64]:
    """Return the lower end of the interval of each sample, as a gate computes it."""
    if answers.max() == 1:
        ends = np.array([wilson(right, len(answers), CONFIDENCE)[0] for right in range(len(answers) + 1)])
        return ends[passed.sum(axis=1)]
    return rate_intervals(passed, answers, CONFIDENCE)[0]


def false_green(workflows: int, size: int, alike: float, rate: float, samples: int) -> float:
    """Return the share of runs that pass a gate whose threshold is the true rate; a lower rate passes less often."""
    if size == 1:  # exactly
        least = next((right for right in range(workflows + 1) if wilson(right, workflows)[0] >= rate), None)
        return 0.0 if least is None else float(bdtrc(least - 1, workflows, rate))
    answers = np.full(workflows, size)
    passed = draw_passes(
        answers, rate, alike, samples, seed=round(1000 * (alike + rate)) + 10_000 * workflows + 10_000_000 * size
    )
    return float(np.mean(lower_ends(passed, answers) >= rate))


def gates(effort: Effort) -> float:
    """Print the tables of the beta-binomial distribution; return the greatest share of a cell."""
    cells = {
        cell: false_green(*cell, effort.samples)
        for cell in product(effort.workflows, effort.sizes, effort.alike, effort.rates)
        if not (cell[1] == 1 and cell[2] > 0)  # a single question per workflow has no correlation
    }
    print(f"## False green at 95 %, by workflows and questions ({effort.samples:,} runs a cell)\n")
    print("Of one question a workflow the share is exact.")
    print(f"The greatest share over the rates {', '.join(f'{rate:g}' for rate in effort.rates)}.\n")
    rows = []
    for workflows, size in product(effort.workflows, effort.sizes):
        shares = [
            max((share for cell, share in cells.items() if cell[:3] == (workflows, size, alike)), default=None)
            for alike in effort.alike
        ]
        rows.append([f"{workflows} × {size}", *("-" if share is None else percent(share) for share in shares)])
    table(["workflows × questions", *(f"correlation {alike:g}" for alike in effort.alike)], rows)
    print("The same, by the rate: the greatest share over workflows and questions.\n")
    rows = [
        [f"{rate:g}", *(percent(max(s for c, s in cells.items() if c[2:] == (alike, rate))) for alike in effort.alike)]
        for rate in effort.rates
    ]
    table(["rate", *(f"correlation {alike:g}" for alike in effort.alike)], rows)
    return max(cells.values())


def logits(rate: float, spread: float, rng: np.random.Generator, shape: tuple[int, int]) -> NDArray[np.float64]:
    """Return rates of workflows whose logits are normal with that deviation and whose mean is the rate."""
    points, weights = np.polynomial.hermite_e.hermegauss(60)
    low, high = -30.0, 30.0
    for _ in range(60):
        middle = (low + high) / 2
        mean = float(weights @ (1 / (1 + np.exp(-middle - spread * points)))) / float(weights.sum())
        low, high = (middle, high) if mean < rate else (low, middle)
    return np.asarray(1 / (1 + np.exp(-low - spread * rng.standard_normal(shape))))


def other_gates(effort: Effort) -> float:
    """Print the table of other distributions than beta-binomial with equal sizes.

    Returns:
        The greatest share of a cell.
    """
    rows, worst = [], 0.0  # the last row is no demand
    rng = np.random.default_rng(20)
    rates = [rate for rate in effort.rates if rate <= 0.95]
    for title in (
        "logit-normal, deviation 1",
        "logit-normal, deviation 2",
        "sizes 1 to 20",
        "sizes 5 and 20, these harder",
    ):
        shares = []
        for workflows in effort.workflows:
            greatest = 0.0
            for rate, alike in product(rates, (0.0, 0.3)):
                if title.startswith("logit"):
                    answers = np.full(workflows, 20 if alike else 5)
                    own = logits(rate, float(title[-1]), rng, (effort.samples, workflows))
                    passed, mean = rng.binomial(answers, own), rate
                elif title == "sizes 1 to 20":
                    answers = np.resize([1, 20, 5, 2, 10, 3], workflows)
                    passed, mean = draw_passes(answers, rate, alike, effort.samples, workflows), rate
                else:
                    answers = np.resize([5, 20], workflows)
                    own = np.where(answers == 5, min(1, rate + 0.1), rate - 0.1)
                    each = [draw_passes(answers[[at]], own[at], alike, effort.samples, at) for at in range(workflows)]
                    passed, mean = np.concatenate(each, axis=1), float(answers @ own) / float(answers.sum())
                greatest = max(greatest, float(np.mean(lower_ends(passed, answers) >= mean)))
            shares.append(greatest)
        worst = worst if title.endswith("harder") else max(worst, *shares)
        rows.append([title, *map(percent, shares)])
    print("Other distributions: the greatest share over rates up to 0.95, and over two sizes or correlations.\n")
    table(["workflows differ", *(f"{workflows} workflows" for workflows in effort.workflows)], rows)
    return worst


def as_if_independent(effort: Effort) -> None:
    """Print the false passes of questions that share workflows, for Wilson's interval and for that of the gates."""
    rows = []
    cells = [(6, 20, 0.3), (10, 20, 0.3), (20, 10, 0.3), (20, 5, 0.2)]
    for workflows, size, alike in cells:
        answers, rate = np.full(workflows, size), 0.95 if size == 5 else 0.7
        passed = draw_passes(answers, rate, alike, effort.samples, seed=5)
        independent = np.array([wilson(right, workflows * size)[0] for right in range(workflows * size + 1)])
        shares = [np.mean(independent[passed.sum(axis=1)] >= rate), np.mean(robust(passed, size) >= rate)]
        shares.append(np.mean(lower_ends(passed, answers) >= rate))
        rows.append(
            [f"{workflows} × {size}, correlation {alike:g}, rate {rate:g}", *(percent(float(s)) for s in shares)]
        )
    print("Against intervals that take the questions for independent, or are cluster-robust alone.\n")
    table(["workflows × questions", "Wilson's", "cluster-robust", "gate"], rows)


def robust(passed: Passes, size: int) -> NDArray[np.float64]:
    """Return the lower end of the mean ± t standard errors of workflows of one size."""
    share, workflows = passed / size, passed.shape[1]
    error = share.std(axis=1, ddof=1) / np.sqrt(workflows)
    return np.asarray(share.mean(axis=1) - stdtrit(workflows - 1, (1 + CONFIDENCE) / 2) * error)


# Numbers of questions ------------------------------------------------------------------------------------------------

OBSERVED = (  # rate, correlation, workflows, questions of each, threshold
    (0.85, 0.0, 40, 1, 0.8), (0.9, 0.0, 30, 1, 0.8), (0.7, 0.0, 20, 1, 0.85), (0.95, 0.0, 40, 1, 0.9),
    (0.9, 0.1, 10, 5, 0.8), (0.8, 0.3, 10, 5, 0.65), (0.9, 0.3, 20, 10, 0.8), (0.95, 0.1, 20, 20, 0.9),
    (0.7, 0.2, 40, 3, 0.8), (0.75, 0.5, 12, 20, 0.6),
)  # fmt: skip


def gate_numbers(effort: Effort) -> list[float]:
    """Print how many runs decide with as many questions as an inconclusive gate names; return the shares."""
    rows, shares = [], []
    for rate, alike, workflows, size, threshold in OBSERVED:
        counts = observed(rate, alike, workflows, size)
        mean = sum(passes for passes, _ in counts) / (workflows * size)
        if size == 1:
            number = independent_needed(mean, threshold, CONFIDENCE, workflows)
        else:
            alike = correlation(counts)
            number = clusters_needed(counts, mean, threshold, CONFIDENCE, 10**6)
        assert number is not None
        answers = np.full(number, size)
        passed = draw_passes(answers, mean, alike, effort.promises, seed=99)
        low, high = (lower_ends(passed, answers), 1 - lower_ends(answers - passed, answers))
        shares.append(float(np.mean((low >= threshold) | (high < threshold))))
        what = f"{mean:.3f}, {alike:.2f}"
        rows.append(
            [what, f"{workflows} × {size}", f"{threshold:g}", f"{number * size:,}", f"{number:,}", percent(shares[-1])]
        )
    print("## Runs that decide with as many questions as an inconclusive gate at 95 % names\n")
    print("The runs have the rate and the correlation that the gate saw.\n")
    table(
        ["rate, correlation seen", "workflows × questions", "threshold", "questions named", "workflows", "decide"], rows
    )
    return shares


def observed(rate: float, alike: float, workflows: int, size: int) -> list[tuple[int, int]]:
    """Return passes and answers of workflows: of 200 samples, that with the rate closest to the given rate below 1."""
    if size == 1:
        right = round(rate * workflows)
        return [(int(at < right), 1) for at in range(workflows)]
    passed = draw_passes(np.full(workflows, size), rate, alike, 200, seed=workflows)
    row = passed[np.argmin(np.abs(passed.sum(axis=1) - rate * workflows * size))]
    return [(int(passes), size) for passes in row]


CHANGING = (  # workflows, questions of each, share that changes, correlation of the directions
    (20, 1, 0.02, 0.0), (40, 1, 0.05, 0.0), (20, 1, 0.1, 0.0), (50, 1, 0.1, 0.0), (100, 1, 0.3, 0.0),
    (10, 10, 0.1, 0.0), (12, 4, 0.4, 0.0), (12, 4, 0.4, 0.3), (8, 20, 0.3, 0.0), (8, 20, 0.3, 0.3),
    (20, 5, 0.2, 0.2), (10, 20, 0.02, 0.0),
)  # fmt: skip


def losses(
    workflows: int, size: int, changing: float, alike: float, rng: np.random.Generator, lost: float = 0.0
) -> tuple[LossEstimate, list[float]]:
    """Return the loss, and its sums by workflow, of runs in which so many questions change, `lost` more to worse."""
    share = (changing / 2 + lost) / (changing + lost)
    own = np.full(workflows, share)
    if alike:
        own = rng.beta(share * (1 - alike) / alike, (1 - share) * (1 - alike) / alike, workflows)
    changed = rng.binomial(size, changing + lost, workflows)
    worse = rng.binomial(changed, own)
    by = {
        str(at): [1.0] * down + [-1.0] * (each - down) + [0.0] * (size - each)
        for at, (each, down) in enumerate(zip(changed.tolist(), worse.tolist(), strict=True))
    }
    return estimate_loss(by), [sum(values) for values in by.values()]


def verdict_of(loss: LossEstimate, sums: list[float]) -> str:
    """Return the verdict over all questions, without patterns."""
    if sign_flip(sums) <= LEVEL:
        return "worse"
    return (
        "better"
        if sign_flip([-difference for difference in sums]) <= LEVEL
        else "not worse"
        if loss.upper < MARGIN
        else ""
    )


def comparison_numbers(effort: Effort) -> list[float]:
    """Print how many runs decide with as many questions as an inconclusive comparison names; return the shares."""
    rows, shares = [], []
    for cell in CHANGING:
        rng = np.random.default_rng(int(1000 * sum(cell)))
        numbers, decided, detected = [], 0, 0
        for _ in range(effort.promises // 3):
            first, sums = losses(*cell, rng)
            if verdict_of(first, sums):
                continue
            number = needed_clusters(first, MARGIN)
            assert number is not None
            numbers.append(number)
            decided += bool(verdict_of(*losses(number, *cell[1:], rng)))
            detected += verdict_of(*losses(number, *cell[1:], rng, lost=MARGIN)) == "worse"
        shares.append(decided / len(numbers))
        what = f"{cell[0]} × {cell[1]}, {cell[2]:g} change, correlation {cell[3]:g}"
        numbers.sort()
        rows.append([what, f"{numbers[len(numbers) // 2]:,}", percent(shares[-1]), percent(detected / len(numbers))])
    print("## Runs that decide with as many questions as an inconclusive comparison names\n")
    print(f"The first run is drawn anew each time. Last: where as much as the margin, {MARGIN:g}, is lost.\n")
    table(["workflows × questions", "workflows named, median", "no loss: decide", "margin lost: worse"], rows)
    return shares


# Comparisons ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Runs:
    """Two simulated runs: the accuracy of each, and properties of their questions."""

    title: str
    questions: int = 400
    a_workflow: int = 1  # questions
    before: float = 0.9
    after: float = 0.9
    shared: float = 0.0  # spread, in logits, of a workflow's ease in both runs
    own: float = 0.0  # spread, in logits, of its ease in one run, which makes its questions dependent
    graded: int = 0  # one graded pattern in so many; 0: none
    repetitions: int = 1


SAME = (
    Runs("one question a workflow"),
    Runs("5 a workflow, ease changes from run to run", a_workflow=5, shared=1.0, own=1.0),
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
    Runs("3, ease changes from run to run", questions=120, a_workflow=40, before=0.6, after=0.6, own=1.0),
    Runs("5, ease changes from run to run", questions=200, a_workflow=40, before=0.6, after=0.6, own=1.0),
)
WORSE = (
    Runs("0.90 -> 0.80", after=0.8),
    Runs("0.90 -> 0.80, 2 a workflow", after=0.8, a_workflow=2, shared=1.0),
)
WORSE_FEW = (Runs("0.90 -> 0.80, 3 workflows", questions=399, a_workflow=133, after=0.8),)
AT_MARGIN = (
    Runs("one question a workflow", after=0.9 - MARGIN),
    Runs("none won: 0.05 lost", questions=150, before=1.0, after=1.0 - MARGIN),
    Runs("5 a workflow, depending", a_workflow=5, before=0.7, after=0.7 - MARGIN, own=0.3),
)

RIGHT = Trial(Question("q", "f", "p", "c", "", "", "", None, ""), "m", "right", score=Score(1.0))
WRONG = replace(RIGHT, outcome="wrong", score=Score(0.0))


def pairs(runs: Runs, rng: Random) -> Iterator[QuestionPair]:
    """Yield the paired questions of one comparison."""
    for workflow in range(runs.questions // runs.a_workflow):
        ease = rng.gauss(0, runs.shared)
        chances = [_moved(accuracy, ease + rng.gauss(0, runs.own)) for accuracy in (runs.before, runs.after)]
        for number in range(runs.a_workflow):
            pattern = (workflow * runs.a_workflow + number) % PATTERNS
            graded = bool(runs.graded) and pattern % runs.graded == 0
            answers = [_trials(runs, chance, graded, rng) for chance in chances]
            yield QuestionPair(f"{workflow}-{number}", "", f"p{pattern:02d}", "c", str(workflow), graded, *answers)


def _moved(accuracy: float, logits: float) -> float:
    return accuracy if not logits or accuracy in (0, 1) else 1 / (1 + exp(-log(accuracy / (1 - accuracy)) - logits))


def _trials(runs: Runs, chance: float, graded: bool, rng: Random) -> tuple[Trial, ...]:
    if graded:
        score = Score(rng.betavariate(5 * chance, 5 * (1 - chance)))
        return (replace(RIGHT, score=score),) * runs.repetitions
    return tuple(RIGHT if rng.random() < chance else WRONG for _ in range(runs.repetitions))


def print_shares(
    title: str, of: str, kinds: tuple[Runs, ...], comparisons: int
) -> tuple[list[tuple[float, float]], int]:
    """Print how often a verdict is given to each kind of runs.

    Returns:
        The interval of its share for each kind, and last for all of them; how often the verdict was *worse*.
    """
    rows, intervals = [], []
    total: Counter[str] = Counter()
    for runs in kinds:
        rng = Random(f"verdicts|{runs}")
        counts = Counter(decide(list(pairs(runs, rng))).verdict for _ in range(comparisons))
        total += Counter({str(name): count for name, count in counts.items()})
        rows.append(_row(runs.title, of, counts))
        intervals.append(_share(of, counts))
    print(f"## {title}\n")
    table(["runs", f"*{of}*", "95 % interval", "other verdicts"], [*rows, _row("all", of, total)])
    return [*intervals, _share(of, total)], total["worse"]


def _share(of: str, counts: Counter[str]) -> tuple[float, float]:
    """Return the interval of the share of a verdict."""
    return wilson(counts[of], sum(counts.values()))


def _row(title: str, of: str, counts: Counter[str]) -> list[str]:
    low, high = _share(of, counts)
    n = sum(counts.values())
    others = ", ".join(f"{name} {percent(counts[name] / n)}" for name in sorted(counts) if name != of)
    return [title, percent(counts[of] / n), f"{percent(low)} – {percent(high)}", others]


def main(arguments: Sequence[str] | None = None) -> int:
    """Print all tables, then whether the demands hold."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--quick", action="store_true", help="fewer cells and samples")
    effort = QUICK if parser.parse_args(arguments).quick else FULL
    began = time.perf_counter()
    green, other = gates(effort), other_gates(effort)
    as_if_independent(effort)
    numbers = [*gate_numbers(effort), *comparison_numbers(effort)]
    most = effort.comparisons
    false = print_shares("No difference", "worse", SAME, most)[0][-1]
    few, plainly = print_shares("No difference, fewer than 6 workflows", "worse on these workflows", FEW, most)
    detected = print_shares("A difference of 0.10", "worse", WORSE, most)[0]
    detected += print_shares("A difference of 0.10, 3 workflows", "worse on these workflows", WORSE_FEW, most)[0]
    unseen = print_shares(f"A loss of {MARGIN:g}, the margin", "not worse", AT_MARGIN, most)[0][-1]
    error = 2 * sqrt(0.8 * 0.2 / (effort.promises / 3))
    slack = 0.03 if effort is QUICK else 0.0  # fewer samples
    average = sum(numbers) / len(numbers)
    spread = f"{percent(min(numbers))} to {percent(max(numbers))}, {percent(average)} on average"
    demands = {
        f"false green at most {MOST_GREEN:.0%}: {percent(green)}; other distributions {percent(other)}": max(
            green, other
        )
        <= MOST_GREEN + slack / 2,
        f"runs with the number named decide in 75 to 85 %: {spread}": POWER[0] - error <= min(numbers)
        and max(numbers) <= POWER[1] + error,
        f"*worse* without a difference in at most {MOST_FALSE:.0%}, upper bound": false[1] <= MOST_FALSE + slack,
        "*worse on these workflows* without a difference in at most 6 %, where ease stays, upper bound": max(
            high for _, high in few[:-3]
        )
        <= MOST_FALSE + slack,
        "plain *worse* about fewer than six workflows: never": plainly == 0,
        f"0.90 -> 0.80 found in at least {LEAST_FOUND:.0%}": min(high for _, high in detected) >= LEAST_FOUND,
        f"*not worse* of a loss of the margin in at most {MOST_FALSE:.0%}, upper bound": unseen[1]
        <= MOST_FALSE + slack,
    }
    for text, held in demands.items():
        print(f"- {'held' if held else 'MISSED'}: {text}")
    print(f"\n{time.perf_counter() - began:.0f} s")
    return 0 if all(demands.values()) else 1


if __name__ == "__main__":
    sys.exit(main())
