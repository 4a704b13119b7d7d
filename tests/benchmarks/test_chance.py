"""Chance: what guessing is expected to score, against brute force over all guesses and against the baselines."""

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
def test_chance_of_a_set_is_the_mean_over_all_sets_there_are(reference: list[Json]) -> None:
    brute = mean(jaccard([*guess], reference) or 0.0 for guess in SUBSETS)
    assert chance("task-set", reference, NAMES) == pytest.approx(brute)
    assert chance("task-reasons", {"tasks": reference, "reasons": {}}, NAMES) == pytest.approx(brute)


@pytest.mark.parametrize("reference", SUBSETS, ids="".join)
def test_chance_of_a_pair_is_the_mean_over_all_pairs_there_are(reference: list[Json]) -> None:
    brute = mean(jaccard([*guess], reference) or 0.0 for guess in combinations(NAMES, 2))
    assert chance("pair-reason", {"tasks": reference, "reasons": {}}, NAMES) == pytest.approx(brute)


def test_a_coin_decides_yes_or_no_and_one_name_is_drawn_out_of_all() -> None:
    assert chance("yes-no", "no", NAMES) == 0.5
    assert chance("yes-no-reason", {"answer": "yes", "reason": "why"}, NAMES) == 0.5
    assert chance("task", "B", NAMES) == pytest.approx(0.2)


def test_chance_of_number_is_one_of_the_numbers_that_are_asked() -> None:
    assert [chance("number", n, NAMES) for n in (-1, 0, 12, 13)] == pytest.approx([0.0, 1 / 13, 1 / 13, 0.0])
    assert max(chances.NUMBERS) == MOST_COUNTED


def test_a_condition_is_drawn_from_those_of_the_level_and_counts_where_it_means_the_same() -> None:
    domains: Json = {"n": {"kind": "integer"}, "m": {"kind": "integer"}}
    stated: Json = {"condition": "n > 1", "domains": domains}
    assert chance_at("condition", "equivalence", stated, LEVEL) == pytest.approx(2 / 3)


def test_chance_of_groups_is_near_the_mean_over_all_divisions_in_two_and_always_the_same() -> None:
    reference: Json = [["A", "B"], ["C"]]
    rest = [[n for n in NAMES if n not in some] for some in SUBSETS]
    brute = mean(matching([[*a], [*b]], reference) or 0.0 for a, b in zip(SUBSETS, rest, strict=True))
    found = chance("groups", reference, NAMES)
    assert found == pytest.approx(brute, abs=0.08)
    assert found == chance("groups", reference, NAMES)


def test_chance_of_an_order_is_the_mark_of_the_order_of_declaration() -> None:
    reference: Json = {"tasks": ["B", "A", "C"], "before": [[0, 1], [1, 2]]}
    assert chance("task-order", reference, ("A", "B", "C")) == pytest.approx(1 - 1 / 3)


def test_a_metric_that_is_not_the_usual_one_of_the_form_has_no_chance() -> None:
    assert chance_at("task-set", "recall", ["A"], LEVEL) is None


def test_chance_of_a_text_is_the_mean_over_the_descriptions_that_are_shown() -> None:
    shown = ("Bakes the bread.", "", "Bakes a cake.")
    level = Workflow("W", tasks=tuple(Task(name, one) for name, one in zip("ABC", shown, strict=True)))
    # Words in common with the reference: all three of three, one of three.
    assert chance_at("text", "rouge1", "bakes the bread", level) == pytest.approx((1 + 1 / 3) / 2)
    assert chance_at("text", "rouge2", "bakes the bread", level) == pytest.approx(1 / 2)


@pytest.mark.parametrize("measure", ["judge", "cosine", "bertscore"])
def test_a_text_has_no_chance_where_a_model_measures_or_nothing_is_described(measure: str) -> None:
    described = Workflow("W", tasks=(Task("A", "Bakes the bread."),))
    assert chance_at("text", measure, "Bakes.", described) is None
    assert chance_at("text", "rouge1", "Bakes.", LEVEL) is None
    assert chance("text", "Bakes.", NAMES) is None


def test_descriptions_drawn_at_random_earn_the_chance_of_texts() -> None:
    settings = UnderstandingSettings(instances=120)
    made = [question(one, settings) for one in references(settings, {"patterns": "describe_*"})]
    made = [one for one in made if one.chance is not None]  # none where no other task of the level is described
    guesses = [rouge1(guess_at_random(one.prompt)[1], one.reference) for one in made]
    known = [one.chance for one in made if one.chance is not None]
    assert len(known) > 200
    spread = stdev(guess - one for guess, one in zip(guesses, known, strict=True)) / len(made) ** 0.5
    assert fmean(guesses) == pytest.approx(fmean(known), abs=3 * spread)


@pytest.mark.parametrize(
    ("answer", "count"),
    [(["A"], 5), (["raw"], 2), (["Inner"], 2), (["E.Inner"], 2), (["A", "raw"], 9), (["A", "nowhere"], 10), ([], 5)],
    ids=str,
)
def test_guessers_choose_from_the_kind_of_names_that_the_answer_holds(answer: list[Json], count: int) -> None:
    names = chances.candidates(answer, LEVEL)
    assert len(names) == len(set(names)) == count
    assert set(answer) <= set(names) | {"E.Inner"}


def test_every_question_of_the_catalogue_but_open_ones_has_a_chance_below_one_found_at_little_cost() -> None:
    settings = UnderstandingSettings(instances=2)
    made = [question(one, settings) for one in references(settings, {"patterns": ["structure", "behaviour"]})]
    unknown = Counter(one.form for one in made if one.chance is None)
    assert not unknown
    assert all(one.chance is not None and 0 <= one.chance < 1 for one in made)
    assert len({one.form for one in made}) == 7


def test_every_form_but_free_text_has_a_chance() -> None:
    assert FORMS.keys() - chances.GUESSES.keys() == {"text", "task-graph", "procedural-graph"}
    assert chances.GUESSES.keys() <= FORMS.keys()


@given(st.lists(st.sets(st.sampled_from(NAMES)), max_size=5), st.sets(st.sampled_from(NAMES)))
def test_two_groups_match_as_the_metric_of_groups_has_it(right: list[set[str]], some: set[str]) -> None:
    rest = set(NAMES) - some
    reference: list[Json] = [[*sorted(group)] for group in right]
    assert chances.matching_of_two(some, rest, right) == matching([[*some], [*rest]], reference)


def test_chance_of_a_set_costs_few_calls() -> None:
    reference: Json = [f"T{i}" for i in range(10)]
    names = [f"T{i}" for i in range(48)]
    assert count_calls(lambda: chance("task-set", reference, names)) < 2000
