"""Chance levels against brute force over all guesses and against the baselines."""

from __future__ import annotations

from collections import Counter
from itertools import combinations
from statistics import fmean, mean, stdev

import pytest
from hypothesis import given
from hypothesis import strategies as st
from steps import count_calls

from pytest_taskgraph.benchmarks.understanding.baselines import guess_at_random
from pytest_taskgraph.benchmarks.understanding.family_options import UnderstandingSettings
from pytest_taskgraph.benchmarks.understanding.patterns.behaviour.loop_ends import MOST_COUNTED
from pytest_taskgraph.benchmarks.understanding.questions import chance as chances
from pytest_taskgraph.benchmarks.understanding.questions.assembly import question, references
from pytest_taskgraph.benchmarks.understanding.questions.chance import chance, chance_at
from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.scoring.metrics.agreement import jaccard, matching
from pytest_taskgraph.scoring.metrics.texts import rouge1
from pytest_taskgraph.trial import Json
from pytest_taskgraph.workflow.model import Data, Link, Task, Workflow

NAMES = ("A", "B", "C", "D", "E")
SUBSETS = [list(chosen) for n in range(6) for chosen in combinations(NAMES, n)]
LEVEL = Workflow(
    "W",
    tasks=(*map(Task, NAMES[:4]), Task("E", subworkflow=Workflow("E", tasks=(Task("Inner"), Task("Other"))))),
    data=(Data("raw"), Data("clean")),
    links=(
        Link("A", "B", "n > 1"), Link("A", "C", "otherwise"), Link("C", "D", "1 < n"), Link("D", "E", "m = 2"),
        Link("D", "C", " Otherwise"),
    ),
)  # fmt: skip


@pytest.mark.parametrize("reference", SUBSETS, ids="".join)
def test_chance_of_set_is_mean_over_all_sets(reference: list[Json]) -> None:
    brute = mean(jaccard([*guess], reference) or 0.0 for guess in SUBSETS)
    assert chance("task-set", reference, NAMES) == pytest.approx(brute)
    assert chance("task-reasons", {"tasks": reference, "reasons": {}}, NAMES) == pytest.approx(brute)


@pytest.mark.parametrize("reference", SUBSETS, ids="".join)
def test_chance_of_pair_is_mean_over_all_pairs(reference: list[Json]) -> None:
    brute = mean(jaccard([*guess], reference) or 0.0 for guess in combinations(NAMES, 2))
    assert chance("pair-reason", {"tasks": reference, "reasons": {}}, NAMES) == pytest.approx(brute)


def test_chance_of_verdict_and_name_is_uniform() -> None:
    assert chance("yes-no", "no", NAMES) == 0.5
    assert chance("yes-no-reason", {"answer": "yes", "reason": "why"}, NAMES) == 0.5
    assert chance("task", "B", NAMES) == pytest.approx(0.2)


def test_chance_of_number_is_uniform_over_range() -> None:
    assert [chance("number", n, NAMES) for n in (-1, 0, 12, 13)] == pytest.approx([0.0, 1 / 13, 1 / 13, 0.0])
    assert max(chances.NUMBERS) == MOST_COUNTED


def test_chance_of_condition_counts_equivalent_guards() -> None:
    domains: Json = {"n": {"kind": "integer"}, "m": {"kind": "integer"}}
    stated: Json = {"condition": "n > 1", "domains": domains}
    assert chance_at("condition", "equivalence", stated, LEVEL) == pytest.approx(2 / 3)


def test_chance_of_groups_near_mean_over_divisions() -> None:
    reference: Json = [["A", "B"], ["C"]]
    rest = [[n for n in NAMES if n not in some] for some in SUBSETS]
    brute = mean(matching([[*a], [*b]], reference) or 0.0 for a, b in zip(SUBSETS, rest, strict=True))
    value = chance("groups", reference, NAMES)
    assert value == pytest.approx(brute, abs=0.08)
    assert value == chance("groups", reference, NAMES)


def test_chance_of_order_is_score_of_declaration_order() -> None:
    reference: Json = {"tasks": ["B", "A", "C"], "before": [[0, 1], [1, 2]]}
    assert chance("task-order", reference, ("A", "B", "C")) == pytest.approx(1 - 1 / 3)


def test_chance_of_other_metric_is_none() -> None:
    assert chance_at("task-set", "recall", ["A"], LEVEL) is None


def test_chance_of_text_is_mean_over_descriptions() -> None:
    descriptions = ("Bakes the bread.", "", "Bakes a cake.")
    level = Workflow(
        "W", tasks=tuple(Task(name, description) for name, description in zip("ABC", descriptions, strict=True))
    )
    # Words in common with the reference: all three of three, one of three.
    assert chance_at("text", "rouge1", "bakes the bread", level) == pytest.approx((1 + 1 / 3) / 2)
    assert chance_at("text", "rouge2", "bakes the bread", level) == pytest.approx(1 / 2)


@pytest.mark.parametrize("measure", ["judge", "cosine", "bertscore"])
def test_chance_of_text_model_metric_or_undescribed_is_none(measure: str) -> None:
    described = Workflow("W", tasks=(Task("A", "Bakes the bread."),))
    assert chance_at("text", measure, "Bakes.", described) is None
    assert chance_at("text", "rouge1", "Bakes.", LEVEL) is None
    assert chance("text", "Bakes.", NAMES) is None


def test_random_descriptions_score_chance_of_text() -> None:
    settings = UnderstandingSettings(instances=120)
    questions = [question(reference, settings) for reference in references(settings, {"patterns": "describe_*"})]
    questions = [each for each in questions if each.chance is not None]  # None if no other task has a description
    guesses = [rouge1(guess_at_random(each.prompt)[1], each.reference) for each in questions]
    expected = [each.chance for each in questions if each.chance is not None]
    assert len(expected) > 200
    error = (
        stdev(guess - mean_score for guess, mean_score in zip(guesses, expected, strict=True)) / len(questions) ** 0.5
    )
    assert fmean(guesses) == pytest.approx(fmean(expected), abs=3 * error)


@pytest.mark.parametrize(
    ("answer", "count"),
    [(["A"], 5), (["raw"], 2), (["Inner"], 2), (["E.Inner"], 2), (["A", "raw"], 9), (["A", "nowhere"], 10), ([], 5)],
    ids=str,
)
def test_candidates_match_kind_of_names_in_answer(answer: list[Json], count: int) -> None:
    names = chances.candidates(answer, LEVEL)
    assert len(names) == len(set(names)) == count
    assert set(answer) <= set(names) | {"E.Inner"}


def test_question_of_closed_form_has_chance_below_one() -> None:
    settings = UnderstandingSettings(instances=2)
    questions = [
        question(reference, settings) for reference in references(settings, {"patterns": ["structure", "behaviour"]})
    ]
    unknown = Counter(each.form for each in questions if each.chance is None)
    assert not unknown
    assert all(each.chance is not None and 0 <= each.chance < 1 for each in questions)
    assert len({each.form for each in questions}) == 7


def test_guesses_cover_all_forms_except_texts() -> None:
    assert FORMS.keys() - chances.GUESSES.keys() == {"text", "task-graph", "procedural-graph"}
    assert chances.GUESSES.keys() <= FORMS.keys()


@given(st.lists(st.sets(st.sampled_from(NAMES)), max_size=5), st.sets(st.sampled_from(NAMES)))
def test_matching_of_two_equals_metric(right: list[set[str]], some: set[str]) -> None:
    rest = set(NAMES) - some
    reference: list[Json] = [[*sorted(group)] for group in right]
    assert chances.matching_of_two(some, rest, right) == matching([[*some], [*rest]], reference)


def test_chance_of_one_name_of_thousands_is_finite() -> None:
    names = [f"T{i}" for i in range(5000)]
    assert chance("task-set", ["T0"], names[:1100]) == pytest.approx(1 / 1100)
    assert chance("task-set", ["T0"], names) == pytest.approx(1 / 5000)
    assert chance("task-set", [], names) == 0.0


def test_chance_of_large_set_takes_few_calls() -> None:
    reference: Json = [f"T{i}" for i in range(10)]
    names = [f"T{i}" for i in range(48)]
    assert count_calls(lambda: chance("task-set", reference, names)) < 2000
