"""How many questions would decide, against the least number of the same kind that does."""

from __future__ import annotations

import re
from itertools import product

import pytest

from pytest_taskgraph.results.certainty import Answered, Sample
from pytest_taskgraph.results.statistics import ENOUGH_CLUSTERS

PATTERNS = ((1.0,), (0.0,), (1.0, 1.0, 0.0, 1.0, 1.0), (0.5, 1.0, 1.0), (0.2, 0.9, 0.6, 0.8))
THRESHOLDS = (0.05, 0.1, 0.2, 0.3, 0.6, 0.8, 0.9, 0.95)


def made(workflows: int, each: int, pattern: tuple[float, ...], repeats: int = 1, rates: bool = True) -> Sample:
    """Questions whose values follow the pattern, `each` about a workflow."""
    questions = [
        Answered(f"q{at}", f"w{at % workflows}", [pattern[at % len(pattern)]] * repeats)
        for at in range(workflows * each)
    ]
    return Sample(questions, 0.95, rates)


def times(sample: Sample, times: int) -> Sample:
    """As many questions again and again: about other workflows where these stand for others."""
    few = len({one.workflow for one in sample.questions}) < ENOUGH_CLUSTERS
    return Sample(
        [
            Answered(f"{k} {one.question}", one.workflow if few else f"{k} {one.workflow}", one.values)
            for k in range(times)
            for one in sample.questions
        ],
        sample.confidence,
        rates=True,
    )


def decides(sample: Sample, threshold: float) -> bool:
    """Whether the interval leaves the threshold out."""
    assert sample.ends is not None
    return sample.ends[0] >= threshold or sample.ends[1] < threshold


def told(sample: Sample, threshold: float) -> int:
    """The number of questions that is told."""
    found = re.match(r"about ([\d,]+) questions", sample.enough(threshold))
    assert found
    return int(found[1].replace(",", ""))


@pytest.mark.parametrize("pattern", PATTERNS)
@pytest.mark.parametrize("repeats", [1, 3])
def test_the_number_told_is_the_least_that_decides(pattern: tuple[float, ...], repeats: int) -> None:
    tried = 0
    for workflows, each, threshold in product((5, 6, 10, 20), (1, 4), THRESHOLDS):
        sample = made(workflows, each, pattern, repeats)
        if decides(sample, threshold) or abs(sample.mean - threshold) < 0.04:
            continue
        tried += 1
        least = next(k for k in range(2, 1000) if decides(times(sample, k), threshold))
        base = len(sample.questions)
        assert 0.8 * (least - 1) * base <= told(sample, threshold) <= 1.2 * least * base, (workflows, each, threshold)
    assert tried > 5


@pytest.mark.parametrize(("n", "threshold", "least"), [(24, 0.95, 73), (10, 0.9, 35)])
@pytest.mark.parametrize("repeats", [1, 3])
def test_where_all_are_right_one_fewer_would_not_decide(n: int, threshold: float, least: int, repeats: int) -> None:
    assert told(made(n, 1, (1.0,), repeats), threshold) == least
    assert decides(made(least, 1, (1.0,), repeats), threshold)
    assert not decides(made(least - 1, 1, (1.0,), repeats), threshold)


def test_of_questions_that_share_workflows_more_workflows_are_asked_for() -> None:
    sample = made(7, 8, (1.0,), repeats=3)
    assert sample.enough(0.9) == "about 280 questions on 35 workflows would decide"
    assert decides(made(35, 8, (1.0,), repeats=3), 0.9)


def test_no_number_is_told_where_none_decides() -> None:
    sample = made(10, 1, (1.0, 0.0))
    assert sample.enough(0.5) == "while it stays at the threshold, no number of questions decides"
    assert sample.enough(0.50001) == "more questions than can be asked would decide"
    assert made(10, 1, (1.0, 0.5)).enough(0.75001) == "more questions than can be asked would decide"
