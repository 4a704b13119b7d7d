from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Case, Cases, Pattern, case
from pytest_taskgraph.benchmarks.understanding.questions.sample import ATTEMPTS, draw, recipe_for
from pytest_taskgraph.errors import NoCaseError, RecipeTooSmallError
from pytest_taskgraph.workflow.features import features
from pytest_taskgraph.workflow.model import Workflow


def a_pattern(cases: Callable[[Workflow], Cases], form: str = "task", **more: object) -> Pattern:
    made = Pattern("soup", "Why?", ("One {{ place }}?", "Two {{ place }}?"), form, cases)
    return replace(made, **more)  # type: ignore[arg-type]


def any_task(workflow: Workflow) -> Cases:
    for name in workflow.task_names:
        yield case(name)


def test_a_recipe_has_what_the_pattern_needs_and_the_usual_where_it_fits() -> None:
    wide = recipe_for(a_pattern(any_task, needs=frozenset({"loop"})), 12)
    assert wide.features == {"loop", "parallel", "exclusive", "data"}
    assert recipe_for(a_pattern(any_task, needs=frozenset({"loop"})), 4).features == {"loop"}
    bare = recipe_for(a_pattern(any_task, avoids=frozenset({"guards"})), 12)
    assert bare.features == {"parallel", "data"}
    assert bare.avoid == {"guards"}


def test_what_varies_is_there_in_some_workflows_and_not_in_others() -> None:
    varied = a_pattern(any_task, varies=frozenset({"loop", "parallel"}))
    found = [features(draw(varied, 12, 0, ordinal).project) for ordinal in range(20)]
    for name in ("loop", "parallel"):
        assert 4 <= sum(name in one for one in found) <= 16
    assert all("data" in one for one in found)


def test_a_size_that_is_too_small_is_refused_with_the_least_that_will_do() -> None:
    needy = a_pattern(any_task, needs=frozenset({"parallel", "loop", "hierarchy"}))
    with pytest.raises(RecipeTooSmallError) as caught:
        recipe_for(needy, 4)
    assert caught.value.least == 6
    assert recipe_for(needy, 6).features == needy.needs
    with pytest.raises(RecipeTooSmallError, match="at least 9"):
        draw(replace(needy, least=9), 8, 0, 0)


def test_cases_of_the_lowest_rank_are_drawn_and_each_of_them_can_be() -> None:
    def ranked(workflow: Workflow) -> Cases:
        for i, name in enumerate(workflow.task_names):
            yield Case(name, rank=i % 3, labels={"rank": i % 3})

    found = [draw(a_pattern(ranked), 12, 0, ordinal).case for ordinal in range(60)]
    assert {one.rank for one in found} == {0}
    assert len({repr(one.answer) for one in found}) >= 4


def test_the_parity_of_the_ordinal_is_the_answer_wanted() -> None:
    def odd_or_even(workflow: Workflow) -> Cases:
        yield case(len(workflow.links) % 2 == 0)

    pattern = a_pattern(odd_or_even, form="yes-no")
    assert [draw(pattern, 12, 0, ordinal).case.answer for ordinal in range(10)] == ["yes", "no"] * 5


def test_a_flaw_is_planted_for_the_answer_that_asks_for_it() -> None:
    def flawed(workflow: Workflow) -> Cases:
        yield case(workflow.flaw is not None)

    pattern = a_pattern(flawed, form="yes-no", flaws={"yes": ("drop-link",)})
    drawn = [draw(pattern, 12, 0, ordinal).project.flaw for ordinal in range(4)]
    assert [flaw and flaw.kind for flaw in drawn] == ["drop-link", None, "drop-link", None]


def test_a_pattern_without_a_case_is_told_the_feature_that_it_lacks() -> None:
    def effects(workflow: Workflow) -> Cases:
        for task in workflow.tasks:
            if task.effects:
                yield case(task.name)

    told = f"in {ATTEMPTS} workflows of 12 tasks with data, exclusive, parallel; it finds one with effects"
    with pytest.raises(NoCaseError, match=told):
        draw(a_pattern(effects), 12, 0, 0)


def test_a_pattern_that_never_has_a_case_is_told_so() -> None:
    with pytest.raises(NoCaseError, match=r"finds no case with answer no in .* no single feature helps"):
        draw(a_pattern(lambda workflow: iter([case(True)]), form="yes-no"), 12, 0, 1)


def test_another_pattern_size_seed_or_ordinal_draws_another_workflow() -> None:
    base = a_pattern(any_task)
    other = replace(base, name="broth")
    drawn = [
        draw(*key).project
        for key in ((base, 12, 0, 0), (other, 12, 0, 0), (base, 13, 0, 0), (base, 12, 1, 0), (base, 12, 0, 1))
    ]
    assert len(set(drawn)) == 5
