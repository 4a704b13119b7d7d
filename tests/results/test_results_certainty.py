"""Sample sizes: with the number of questions needed for a decision, 4 of 5 runs decide."""

from __future__ import annotations

import re
from math import ceil
from random import Random

import numpy as np
import pytest

from pytest_taskgraph.results.statistics.beta_binomial import correlation
from pytest_taskgraph.results.statistics.certainty import AnsweredQuestion, Sample
from pytest_taskgraph.results.statistics.intervals import wilson
from pytest_taskgraph.results.statistics.power import clusters_needed, draw_passes, independent_needed, rate_intervals


def sample_of(workflows: int, each: int, pattern: tuple[float, ...], repeats: int = 1, rates: bool = True) -> Sample:
    """Return questions whose values follow the pattern, `each` about a workflow."""
    questions = [
        AnsweredQuestion(f"q{at}", f"w{at % workflows}", [pattern[at % len(pattern)]] * repeats)
        for at in range(workflows * each)
    ]
    return Sample(questions, 0.95, rates, "workflow")


def needed_questions(sample: Sample, threshold: float) -> int:
    """Return the number of questions in the description."""
    match = re.match(r"about ([\d,]+) questions", sample.describe_needed(threshold))
    assert match
    return int(match[1].replace(",", ""))


def exact_power(rate: float, threshold: float, answers: int) -> float:
    """Return the share of runs with independent answers that decide on the side of the rate, by Wilson's interval."""
    from scipy import stats

    right = [
        passes
        for passes in range(answers + 1)
        if (wilson(passes, answers)[0] >= threshold if rate > threshold else wilson(passes, answers)[1] < threshold)
    ]
    return sum(float(stats.binom.pmf(passes, answers, rate)) for passes in right)


@pytest.mark.parametrize(
    ("right", "answers", "threshold"),
    [(34, 40, 0.8), (34, 40, 0.7), (9, 10, 0.6), (19, 20, 0.85), (3, 10, 0.5), (57, 60, 0.99), (21, 40, 0.6)],
)
def test_needed_independent_questions_reach_power(right: int, answers: int, threshold: float) -> None:
    number = needed_questions(sample_of(answers, 1, (1.0,) * right + (0.0,) * (answers - right)), threshold)
    assert 0.8 <= exact_power(right / answers, threshold, number) <= 0.85
    assert exact_power(right / answers, threshold, number // 2) < 0.65


@pytest.mark.parametrize(("n", "threshold", "least"), [(24, 0.95, 73), (10, 0.9, 35)])
def test_needed_all_passing_is_least_that_decides(n: int, threshold: float, least: int) -> None:
    assert needed_questions(sample_of(n, 1, (1.0,)), threshold) == least
    assert wilson(least, least)[0] >= threshold > wilson(least - 1, least - 1)[0]


def test_needed_all_passing_clusters_names_more_clusters() -> None:
    sample = sample_of(7, 8, (1.0,), repeats=3)
    match = re.fullmatch(
        r"about ([\d,]+) questions on (\d+) workflows needed for a decision if the rate stays the same",
        sample.describe_needed(0.9),
    )
    assert match
    workflows = int(match[2])
    assert int(match[1]) == 8 * workflows
    ends = sample_of(workflows, 8, (1.0,), repeats=3).ends
    fewer = sample_of(int(workflows * 0.9), 8, (1.0,), repeats=3).ends
    assert ends is not None
    assert fewer is not None
    assert ends[0] >= 0.9 > fewer[0]


@pytest.mark.parametrize(
    ("counts", "threshold"),
    [
        ([(5, 5), (4, 5), (5, 5), (5, 5), (3, 5)] * 2, 0.8),
        pytest.param([(18, 20), (20, 20), (15, 20)] * 3, 0.8, marks=pytest.mark.exhaustive),
        pytest.param([(9, 10), (10, 10), (10, 10), (2, 10), (10, 10)] * 4, 0.7, marks=pytest.mark.exhaustive),
        pytest.param([(1, 3), (2, 3), (3, 3), (2, 3)] * 5, 0.8, marks=pytest.mark.exhaustive),
        pytest.param([(20, 20), (20, 20), (19, 20)] * 3, 0.9, marks=pytest.mark.exhaustive),
    ],
)
def test_needed_clusters_reach_power(counts: list[tuple[int, int]], threshold: float) -> None:
    """The runs have another seed than the simulation that computes the number, and its correlation."""
    passes, answers = map(sum, zip(*counts, strict=True))
    rate = passes / answers
    number = clusters_needed(counts, rate, threshold, 0.95, 10**6)
    assert number is not None
    for workflows, least, most in ((number, 0.75, 0.86), (ceil(number / 3), 0.0, 0.55)):
        sizes = np.full(workflows, counts[0][1])
        low, high = rate_intervals(draw_passes(sizes, rate, correlation(counts), 1000, seed=2), sizes, 0.95)
        assert least <= np.mean((low >= threshold) | (high < threshold)) <= most, workflows


def test_needed_clusters_for_mean_reach_power() -> None:
    rng = Random(5)
    scores = [0.2, 0.9, 0.6, 0.8, 1.0, 0.7, 0.4, 0.9]
    number = needed_questions(sample_of(8, 1, tuple(scores), rates=False), 0.6)

    def decides(count: int) -> bool:
        ends = sample_of(count, 1, tuple(rng.choices(scores, k=count)), rates=False).ends
        return ends is not None and (ends[0] >= 0.6 or ends[1] < 0.6)

    assert 0.73 <= sum(decides(number) for _ in range(600)) / 600 <= 0.87
    assert sum(decides(number // 3) for _ in range(200)) / 200 < 0.5


def test_needed_without_deciding_number_states_that() -> None:
    sample = sample_of(10, 1, (1.0, 0.0))
    assert sample.describe_needed(0.5) == "while it stays at the threshold, no number of questions decides"
    assert sample.describe_needed(0.50001) == "a decision needs more questions than can be asked"
    assert (
        sample_of(10, 1, (1.0, 0.5), rates=False).describe_needed(0.75001)
        == "a decision needs more questions than can be asked"
    )
    assert independent_needed(0.9, 0.8, 0.95, 10, most=50) is None


@pytest.mark.parametrize("rates", [True, False])
def test_needed_is_deterministic(rates: bool) -> None:
    first, again = (sample_of(8, 5, (1.0, 0.0, 1.0, 1.0), rates=rates) for _ in range(2))
    assert first.describe_needed(0.6) == again.describe_needed(0.6)


@pytest.mark.parametrize("rates", [True, False])
@pytest.mark.parametrize("workflows", [3, 10])
def test_sample_equal_draws_do_not_narrow_interval(workflows: int, rates: bool) -> None:
    rng = Random(4)
    values = [float(rng.random() < 0.7) for _ in range(40)]

    def sample_with_draws(count: int) -> Sample:
        questions = [
            AnsweredQuestion(f"q{at}-{draw}", f"w{at % workflows}", [value], f"q{at}")
            for at, value in enumerate(values)
            for draw in range(count)
        ]
        return Sample(questions, 0.95, rates, "workflow")

    once, six = sample_with_draws(1).ends, sample_with_draws(6).ends
    assert once
    assert six
    assert six[1] - six[0] >= (once[1] - once[0]) * 0.99
