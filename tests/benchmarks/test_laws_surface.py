"""No rule on the surface of the text answers more than 0.70 of the yes/no questions.

The rules are those over one feature and decision trees of depth 1 to 3. These tests use few questions in one notation,
so they allow for chance: with 64 questions, they find a rule that is right in 0.95 of the cases, with 200 one of 0.85.
`perf/surface_rules.py` prints the shares for many.
"""

from __future__ import annotations

from collections.abc import Callable
from math import sqrt
from random import Random

import pytest
import surface_rules
import timing_rules
from surface_rules import measure, measure_order, patterns
from surface_trees import DEPTHS, FITS, Table, Tree, fit_greedy, fit_pairs, table

from pytest_taskgraph.families.understanding.patterns.pattern import Pattern
from pytest_taskgraph.families.understanding.patterns.scope import Scope
from pytest_taskgraph.families.understanding.question_soundness.answer_giveaways import (
    EXCEPTIONS,
    MOST,
    SEED,
    SurfaceSample,
    fit_rule,
    rule_by_wording,
    rule_over,
)
from pytest_taskgraph.families.understanding.question_soundness.surface_features import surface_features
from pytest_taskgraph.families.understanding.questions.ingredients import write_workflow
from pytest_taskgraph.workflow.model import Task, Workflow

QUESTIONS = [64, pytest.param(200, marks=pytest.mark.exhaustive)]  # of a yes/no pattern
ORDERS = [30, pytest.param(60, marks=pytest.mark.exhaustive)]  # questions whose answer is an order
NUMBERS = 100  # questions whose answer is a number
TIMES = 30  # questions whose answer is a time, which take long to draw and have more answers
CONSTANT = 0.15  # largest share of the most frequent number among the answers
LARGE = 40  # tasks from which on no rule of `timing_rules.py` answers more questions about times; below, those here
TEMPTING = ("most", "most, other end", "sum", "longest task", "number of tasks", "its own duration", "zero", "whole")
MOST_BY_RULE = {"number": 0.35, "yes-no": 0.70}  # share of a pattern's questions that such a rule answers, by the form


def _pattern_params(selected: tuple[Pattern, ...]) -> list[object]:
    return [pytest.param(pattern, id=pattern.name) for pattern in selected]


def _bound(count: int) -> float:
    """Return the largest share that may be chance: MOST and 2.5 standard errors."""
    return MOST + 2.5 * sqrt(MOST * (1 - MOST) / count)


@pytest.mark.parametrize("count", QUESTIONS)
@pytest.mark.parametrize("pattern", _pattern_params(patterns("yes-no")))
def test_surface_rule_on_unseen_questions_stays_below_bound(pattern: Pattern, count: int) -> None:
    result = measure(pattern, count, difficulty="hard" if pattern.name in EXCEPTIONS else "")
    shares = {**result.by_sort, **result.by_rule}
    assert {rule: value for rule, value in shares.items() if value > _bound(count)} == {}, result.rules


@pytest.mark.parametrize("part", ["text", "control"])
@pytest.mark.parametrize("count", ORDERS)
@pytest.mark.parametrize("pattern", _pattern_params(patterns("task-order")))
def test_order_of_mention_scores_as_random_orders_do(pattern: Pattern, count: int, part: str) -> None:
    result = measure_order(pattern, count, part)
    assert result.at_chance, result


@pytest.mark.parametrize("pattern", _pattern_params(patterns("number")))
def test_constant_number_on_unseen_questions_is_seldom_right(pattern: Pattern) -> None:
    assert surface_rules.best_constant(pattern, TIMES if pattern.timed else NUMBERS)[1] <= CONSTANT


@pytest.mark.parametrize(
    ("tasks", "count"),
    [(12, 0), *(pytest.param(size, 60, marks=pytest.mark.exhaustive) for size in (5, 10, 20, LARGE))],
)
@pytest.mark.parametrize(
    "pattern", _pattern_params(tuple(each for form in MOST_BY_RULE for each in patterns(form) if each.timed))
)
def test_rules_without_waiting_seldom_answer(pattern: Pattern, tasks: int, count: int) -> None:
    count = count or (64 if pattern.yes_no else TIMES)  # those that are drawn for the laws above
    shares = timing_rules.shares(pattern, count, tasks, SEED)
    held = {rule: share for rule, share in shares.items() if rule in TEMPTING or tasks >= LARGE}
    most = MOST_BY_RULE[pattern.form]
    most += 2 * sqrt(most * (1 - most) / count)
    assert {rule: share for rule, share in held.items() if share > most} == {}


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


def _samples_of_two(count: int, answer: Callable[[int, int], bool]) -> list[SurfaceSample]:
    """Return questions with two random features that only together tell the answer, and a random feature."""
    rng = Random(2)
    pairs = [(rng.randrange(2), rng.randrange(2)) for _ in range(count)]
    return [
        SurfaceSample({"first": float(a), "second": float(b), "noise": rng.random()}, "words", "", answer(a, b))
        for a, b in pairs
    ]


def test_fit_greedy_two_features_are_found_at_depth_2() -> None:
    train = table(_samples_of_two(200, lambda a, b: a == 1 and b == 0))
    held = _samples_of_two(400, lambda a, b: a == 1 and b == 0)
    assert fit_greedy(train, 1).accuracy(held) < 1.0
    assert fit_greedy(train, 2).accuracy(held) == 1.0


@pytest.mark.parametrize("depth", DEPTHS[1:])
def test_fit_pairs_features_that_tell_only_together_are_found(depth: int) -> None:
    tree = fit_pairs(table(_samples_of_two(200, lambda a, b: a == b)), depth)
    assert tree.accuracy(_samples_of_two(400, lambda a, b: a == b)) == 1.0


@pytest.mark.parametrize(("depth", "fit"), FITS)
def test_fit_tree_without_telling_feature_is_a_coin(depth: int, fit: Callable[[Table, int], Tree]) -> None:
    train, held = _samples(200, 0.5), _samples(400, 0.5)[200:]
    assert fit(table(train), depth).accuracy(held) < 0.6


def test_occurrences_of_quoted_value_are_counted_whatever_it_names() -> None:
    workflow = Workflow("Soup", tasks=(Task("Stir", kind="manual"), Task("Bake", kind="manual")))
    question = "Is there a task of kind 'manual', or one of kind 'oven' like 'Bake'?"
    text = write_workflow(workflow, "wadl")
    features = surface_features(text, "wadl", question, workflow, Scope(workflow, "workflow 'Soup'", True))
    assert features["quoted value 1 occurrences"] == text.count('"manual"') == 2
    assert features["quoted value 2 occurrences"] == 0
    assert features["quoted value last occurrences"] == 1
    assert features["quoted values' difference of occurrences"] == 2
