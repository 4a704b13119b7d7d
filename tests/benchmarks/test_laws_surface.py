"""No rule on the surface of the text answers more than 0.70 of the yes/no questions.

These tests use few questions in one notation; `perf/surface_rules.py` prints the shares for many.
"""

from __future__ import annotations

from random import Random

import pytest
import surface_rules
from surface_rules import measure, measure_order, patterns

from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Pattern
from pytest_taskgraph.benchmarks.understanding.question_soundness.surface_rules import (
    EXCEPTIONS,
    MOST,
    SurfaceSample,
    fit_rule,
    rule_by_wording,
    rule_over,
)

QUESTIONS = 140  # of a yes/no pattern
ORDERS = 60  # questions whose answer is an order
CONSTANT = 0.15  # largest share of the most frequent number among the answers


def _pattern_params(selected: tuple[Pattern, ...]) -> list[object]:
    return [pytest.param(pattern, id=pattern.name) for pattern in selected]


@pytest.mark.parametrize("pattern", _pattern_params(patterns("yes-no")))
def test_surface_rule_on_unseen_questions_stays_below_bound(pattern: Pattern) -> None:
    result = measure(pattern, QUESTIONS, difficulty="hard" if pattern.name in EXCEPTIONS else "")
    shares = {"best": result.best, **result.by_rule}
    assert {rule: value for rule, value in shares.items() if value > MOST} == {}, result.rules


@pytest.mark.parametrize("part", ["text", "control"])
@pytest.mark.parametrize("pattern", _pattern_params(patterns("task-order")))
def test_order_of_mention_scores_as_random_orders_do(pattern: Pattern, part: str) -> None:
    result = measure_order(pattern, ORDERS, part)
    assert result.at_chance, result


@pytest.mark.parametrize("pattern", _pattern_params(patterns("number")))
def test_constant_number_on_unseen_questions_is_seldom_right(pattern: Pattern) -> None:
    assert surface_rules.best_constant(pattern, QUESTIONS)[1] <= CONSTANT


def test_exceptions_are_patterns_with_a_reason() -> None:
    assert {pattern.name for pattern in patterns("yes-no")} >= EXCEPTIONS.keys()
    assert all(EXCEPTIONS.values())


def _samples(count: int, reliability: float) -> list[SurfaceSample]:
    """Return questions with a feature that is right in a share of the cases, and a random feature."""
    rng = Random(1)
    answers = [i % 2 == 0 for i in range(count)]
    return [
        SurfaceSample({"told": float(yes == (rng.random() < reliability)), "noise": rng.random()}, "words", "", yes)
        for yes in answers
    ]


def test_fit_telling_feature_is_found() -> None:
    rule = fit_rule(_samples(200, 0.9), rule_over)
    assert str(rule) == "told"
    assert rule.accuracy(_samples(400, 0.9)) > 0.8


def test_fit_feature_that_tells_by_wording_is_found() -> None:
    samples = [
        SurfaceSample({"told": float(yes == turned)}, str(turned), "", yes)
        for yes in (True, False)
        for turned in (0, 1)
    ]
    rule = fit_rule(samples * 10, rule_by_wording)
    assert str(rule) == "told (by wording)"
    assert rule.accuracy(samples) == 1.0


def test_fit_without_telling_feature_is_a_coin_on_unseen_questions() -> None:
    train, held = _samples(200, 0.5), _samples(400, 0.5)[200:]
    assert fit_rule(train, rule_over).accuracy(held) < 0.6
