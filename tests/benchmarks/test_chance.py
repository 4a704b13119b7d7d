"""Chance levels against guesses that see only the prompt, and worked by hand."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import product
from statistics import fmean

import pytest
from guesses import drawn_questions, earned_by_guesses, misstated

from pytest_taskgraph.families.understanding.baselines.prompt_view import names_of
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns.behaviour.loop_ends import MOST_COUNTED
from pytest_taskgraph.families.understanding.patterns.pattern import Pattern, case
from pytest_taskgraph.families.understanding.patterns.scope import Scope
from pytest_taskgraph.families.understanding.questions.assembly import question, references
from pytest_taskgraph.families.understanding.questions.chance import (
    GUESSES,
    MOST_FREQUENT_NUMBER,
    chance_level,
    offered_names,
)
from pytest_taskgraph.families.understanding.questions.ingredients import PatternQuestion
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.trial import Json
from pytest_taskgraph.workflow.model import Data, Link, Task, Workflow

INSIDE = Workflow("E", tasks=(Task("Inner"), Task("Other")))
LEVEL = Workflow(
    "W",
    tasks=(*map(Task, "ABCD"), Task("E", subworkflow=INSIDE)),
    data=(Data("raw"), Data("clean")),
    links=(
        Link("A", "B", "n > 1"), Link("A", "C", "otherwise"), Link("C", "D", "1 < n"), Link("D", "E", "m = 2"),
        Link("D", "C", " Otherwise"),
    ),
)  # fmt: skip
BUILT_IN = [pattern for pattern in catalogue().values() if pattern.category != "custom"]


def level_of(form: str, answer: Json, *, guess: str = "all", level: Workflow = LEVEL, metric: str = "") -> float | None:
    """Return the chance level of a question of this form about a whole workflow."""
    pattern = Pattern("own", "Check.", ("?",), form, lambda workflow: [], metric=metric, guess=guess)  # type: ignore[arg-type]
    scope = Scope(level, "workflow 'W'", True)
    asked = PatternQuestion(pattern, pattern, level, scope, case(answer), 0, "wadl", "")
    return chance_level(asked, metric or FORMS[form].metric)


def _patterns_and_sizes() -> Iterator[object]:
    """Yield every pattern at two sizes and with two numbers of questions.

    In the default tier with the smaller number: one pattern of each sort of guess, the others but yes/no ones at one
    size.

    Half of the answers of each yes/no pattern are yes (test_laws_drawing), so that no guess can earn more or less.
    """
    seen = set()
    for pattern in BUILT_IN:
        sort = (pattern.form, pattern.guess, pattern.options, pattern.metric)
        for tasks, count in product((4, 12), (24, 40)):
            in_default_tier = count == 24 and (sort not in seen or (tasks == 12 and pattern.form != "yes-no"))
            marks = () if in_default_tier else pytest.mark.exhaustive
            if in_default_tier or count == 40:
                drawn = 12 if in_default_tier and pattern.timed else count  # questions about times take long to draw
                yield pytest.param(pattern, tasks, drawn, id=f"{pattern.name}-{tasks}-{count}", marks=marks)
        seen.add(sort)


@pytest.mark.parametrize(("pattern", "tasks", "count"), [*_patterns_and_sizes()])
def test_no_guess_earns_more_than_stated_and_one_earns_as_much(pattern: Pattern, tasks: int, count: int) -> None:
    assert misstated(earned_by_guesses(drawn_questions(pattern, count, tasks, seed=0))) == ""


@pytest.mark.parametrize(
    ("answer", "guess", "stated"),
    [
        (["A", "B"], "all", 2 / 7),  # seven tasks on both levels
        (["Inner"], "all", 1 / 7),
        (["E.Inner"], "all", 0.0),  # nobody writes this path who lists names
        (["raw"], "all", 1 / 2),  # two data
        ([], "all", 0.0),
        ([], "none", 1.0),
        (["A"], "none", 0.0),
    ],
    ids=str,
)
def test_level_of_list_is_that_of_all_names_or_of_none(answer: Json, guess: str, stated: float) -> None:
    assert level_of("task-set", answer, guess=guess) == pytest.approx(stated)
    assert level_of("task-reasons", {"tasks": answer, "reasons": {}}, guess=guess) == pytest.approx(stated)


def test_level_of_verdict_name_and_pair_is_share() -> None:
    assert level_of("yes-no", "no") == 0.5
    assert level_of("yes-no-reason", {"answer": "yes", "reason": "why"}) == 0.5
    assert level_of("task", "B") == pytest.approx(1 / 7)
    assert level_of("pair-reason", {"tasks": ["A", "B"], "reasons": {"": "why"}}) == pytest.approx(2 / 7)


def test_level_of_name_among_options_is_share() -> None:
    choice = Pattern("own", "Check.", ("?",), "task", lambda workflow: [], options=4)
    asked = PatternQuestion(choice, choice, LEVEL, Scope(LEVEL, "workflow 'W'", True), case("B"), 0, "wadl", "")
    assert chance_level(asked, "correctness") == pytest.approx(1 / 4)


def test_level_of_groups_is_that_of_one_group() -> None:
    assert level_of("groups", [["A", "B"]]) == pytest.approx(2 / 7)
    assert level_of("groups", [["A", "B", "C"], ["D"]]) == pytest.approx(3 / 7 / 2)  # one of two groups is missing


def test_level_of_number_is_share_of_most_frequent() -> None:
    assert level_of("number", 3) == level_of("number", 12) == MOST_FREQUENT_NUMBER > 1 / (MOST_COUNTED + 1)


def test_level_of_condition_counts_opposites() -> None:
    domains: Json = {"n": {"kind": "integer"}, "m": {"kind": "integer"}}
    assert level_of("condition", {"condition": "n <= 1", "domains": domains}) == pytest.approx(2 / 3)
    assert level_of("condition", {"condition": "n > 1", "domains": domains}) == 0.0


def test_level_of_order_is_score_of_declaration_order() -> None:
    tasks = tuple(map(Task, "ABC"))
    reference: Json = {"tasks": ["B", "A", "C"], "before": [[0, 1], [1, 2]]}
    assert level_of("task-order", reference, level=Workflow("W", tasks=tasks)) == pytest.approx(1 - 1 / 3)


def test_level_of_other_metric_is_none() -> None:
    assert level_of("task-set", ["A"], metric="recall") is None


def test_level_of_text_is_mean_over_descriptions() -> None:
    descriptions = ("Bakes the bread.", "", "Bakes a cake.")
    level = Workflow(
        "W", tasks=tuple(Task(name, description) for name, description in zip("ABC", descriptions, strict=True))
    )
    # Words in common with the reference: all three of three, one of three.
    assert level_of("text", "bakes the bread", level=level, metric="rouge1") == pytest.approx((1 + 1 / 3) / 2)
    assert level_of("text", "bakes the bread", level=level, metric="rouge2") == pytest.approx(1 / 2)


@pytest.mark.parametrize("measure", ["judge", "cosine", "bertscore"])
def test_level_of_text_model_metric_or_undescribed_is_none(measure: str) -> None:
    described = Workflow("W", tasks=(Task("A", "Bakes the bread."),))
    assert level_of("text", "Bakes.", level=described, metric=measure) is None
    assert level_of("text", "Bakes.", metric="rouge1") is None


def test_offered_names_are_those_of_all_levels() -> None:
    assert offered_names(LEVEL) == ["A", "B", "C", "D", "E", "Inner", "Other"]
    assert offered_names(LEVEL, data=True) == ["raw", "clean"]


@pytest.mark.parametrize(
    ("pattern", "flow"), [("nested_tasks", ""), ("dependency_list", "data"), ("next_tasks", "data")]
)
def test_baseline_sees_the_names_that_the_level_counts(pattern: str, flow: str) -> None:
    settings = UnderstandingSettings(instances=12)
    asked = [question(reference, settings) for reference in references(settings, {"patterns": pattern})]
    of_flow = [each for each in asked if each.labels.get("flow", "") == flow]
    assert of_flow
    for each in of_flow:
        names: Sequence[str] = names_of(each.prompt)
        right = each.reference if isinstance(each.reference, list) else []
        assert {str(name) for name in right if "." not in str(name)} <= set(names)


def test_level_of_every_closed_question_is_known() -> None:
    settings = UnderstandingSettings(instances=2)
    questions = [
        question(reference, settings) for reference in references(settings, {"patterns": ["structure", "behaviour"]})
    ]
    levels = [each.chance for each in questions if each.chance is not None]
    assert len(levels) == len(questions)
    assert min(levels) >= 0
    assert fmean(levels) < 0.5
    assert len({each.form for each in questions}) == 7


def test_guesses_cover_all_forms_except_texts() -> None:
    of_families = {"letter", "task-graph", "composed-task-graph", "procedural-graph"}
    assert FORMS.keys() - GUESSES.keys() == {"text", *of_families}
    assert GUESSES.keys() <= FORMS.keys()
