from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace

import pytest

from pytest_taskgraph.errors import NoCaseError, RecipeTooSmallError
from pytest_taskgraph.families.understanding.patterns import select
from pytest_taskgraph.families.understanding.patterns.pattern import PATTERNS, Case, Cases, Pattern, case
from pytest_taskgraph.families.understanding.patterns.scope import cases
from pytest_taskgraph.families.understanding.questions.sample import ATTEMPTS, draw, recipe_for
from pytest_taskgraph.workflow.features import features
from pytest_taskgraph.workflow.model import Workflow


def pattern_of(cases: Callable[[Workflow], Cases], form: str = "task", **more: object) -> Pattern:
    pattern = Pattern("soup", "Why?", ("One {{ place }}?", "Two {{ place }}?"), form, cases)
    return replace(pattern, **more)  # type: ignore[arg-type]


def any_task(workflow: Workflow) -> Cases:
    for name in workflow.task_names:
        yield case(name)


def test_recipe_for_adds_usual_features_if_they_fit() -> None:
    wide = recipe_for(pattern_of(any_task, needs=frozenset({"loop"})), 12)
    assert wide.features == {"loop", "parallel", "exclusive", "data"}
    assert recipe_for(pattern_of(any_task, needs=frozenset({"loop"})), 4).features == {"loop"}
    bare = recipe_for(pattern_of(any_task, avoids=frozenset({"guards"})), 12)
    assert bare.features == {"parallel", "data"}
    assert bare.avoid == {"guards"}


def test_draw_varied_features_in_some_workflows() -> None:
    varied = pattern_of(any_task, varies=frozenset({"loop", "parallel"}))
    drawn_features = [features(draw(varied, 12, 0, ordinal).project) for ordinal in range(20)]
    for name in ("loop", "parallel"):
        assert 4 <= sum(name in each for each in drawn_features) <= 16
    assert all("data" in each for each in drawn_features)


def test_recipe_for_small_size_refused_with_least() -> None:
    needy = pattern_of(any_task, needs=frozenset({"parallel", "loop", "hierarchy"}))
    with pytest.raises(RecipeTooSmallError) as caught:
        recipe_for(needy, 4)
    assert caught.value.least == 6
    assert recipe_for(needy, 6).features == needy.needs
    with pytest.raises(RecipeTooSmallError, match="at least 9"):
        draw(replace(needy, least=9), 8, 0, 0)


def test_draw_takes_cases_of_lowest_rank() -> None:
    def ranked(workflow: Workflow) -> Cases:
        for i, name in enumerate(workflow.task_names):
            yield Case(name, rank=i % 3, labels={"rank": i % 3})

    drawn_cases = [draw(pattern_of(ranked), 12, 0, ordinal).case for ordinal in range(60)]
    assert {each.rank for each in drawn_cases} == {0}
    assert len({repr(each.answer) for each in drawn_cases}) >= 4


def test_draw_ordinal_parity_is_answer() -> None:
    def odd_or_even(workflow: Workflow) -> Cases:
        yield case(len(workflow.links) % 2 == 0)

    pattern = pattern_of(odd_or_even, form="yes-no")
    assert [draw(pattern, 12, 0, ordinal).case.answer for ordinal in range(10)] == ["yes", "no"] * 5


def test_draw_plants_flaw_of_answer() -> None:
    def flawed(workflow: Workflow) -> Cases:
        yield case(workflow.flaw is not None)

    pattern = pattern_of(flawed, form="yes-no", flaws={"yes": ("drop-link",)})
    flaws = [draw(pattern, 12, 0, ordinal).project.flaw for ordinal in range(4)]
    assert [flaw and flaw.kind for flaw in flaws] == ["drop-link", None, "drop-link", None]


def test_draw_without_case_names_missing_feature() -> None:
    def effects(workflow: Workflow) -> Cases:
        for task in workflow.tasks:
            if task.effects:
                yield case(task.name)

    message = f"in {ATTEMPTS} workflows of 12 tasks with data, exclusive, parallel; it finds one with effects"
    with pytest.raises(NoCaseError, match=message):
        draw(pattern_of(effects), 12, 0, 0)


def test_draw_without_case_refused() -> None:
    with pytest.raises(NoCaseError, match=r"finds no case with answer no in .* no single feature helps"):
        draw(pattern_of(lambda workflow: iter([case(True)]), form="yes-no"), 12, 0, 1)


def test_draw_other_key_draws_other_workflow() -> None:
    base = pattern_of(any_task)
    other = replace(base, name="broth")
    projects = [
        draw(*key).project
        for key in ((base, 12, 0, 0), (other, 12, 0, 0), (base, 13, 0, 0), (base, 12, 1, 0), (base, 12, 0, 1))
    ]
    assert len(set(projects)) == 5


SELECTIVE = [pattern for pattern in select("*") if pattern.selective]


@pytest.mark.parametrize("pattern", SELECTIVE, ids=lambda pattern: pattern.name)
def test_cases_of_selective_pattern_if_hardest_are_those_of_rank_0(pattern: Pattern) -> None:
    for ordinal in range(8):
        scope = draw(pattern, 12, 5, ordinal).scope
        all_cases = list(cases(pattern, scope))
        assert list(cases(pattern, scope, hardest=True)) == [case for case in all_cases if case.rank == 0]
        assert {case.rank for case in all_cases} > {0}


def test_draw_of_selective_pattern_without_hard_case_takes_next_rank() -> None:
    def ranked(_: Workflow, *, hardest: bool = False) -> Cases:
        yield from (case(number, rank=number) for number in (2, 1, 3) if not hardest)

    ranked_pattern = Pattern("ranked", "Check.", ("Which?",), "number", ranked)
    assert ranked_pattern.selective
    assert draw(ranked_pattern, 6, 0, 0).case.answer == 1


def _last_number(name: str) -> int:
    return int(name.removeprefix("Task")) % 10


def _tasks_with_profile(workflow: Workflow) -> Cases:
    """Ask whether a number is even: profiles of 0 to 2 have both answers, 3 to 6 yes alone, 7 to 9 no alone."""
    for name in workflow.task_names:
        digit = _last_number(name)
        answer = digit % 2 == 0 if digit < 3 else digit < 7
        yield case(answer, profile=str(min(digit // 3, 2)), task=name)


def test_draw_matched_takes_profiles_with_both_answers() -> None:
    pattern = pattern_of(_tasks_with_profile, "yes-no", matched=1.0)
    drawn = [draw(pattern, 12, 1, ordinal, "neutral").case for ordinal in range(30)]
    assert {case.profile for case in drawn} == {"0", "2"}
    assert [case.answer for case in drawn] == ["yes", "no"] * 15
    free = {draw(replace(pattern, matched=0.0), 12, 1, ordinal, "neutral").case.profile for ordinal in range(30)}
    assert free == {"0", "1", "2"}


def test_draw_matched_without_common_profile_draws_any_case() -> None:
    def cases(workflow: Workflow) -> Cases:
        for name in workflow.task_names:
            even = _last_number(name) % 2 == 0
            yield case(even, profile=str(even))

    drawn = [draw(pattern_of(cases, "yes-no", matched=1.0), 4, 1, ordinal, "neutral").case for ordinal in range(4)]
    assert [case.answer for case in drawn] == ["yes", "no"] * 2


def test_draw_matched_workflow_is_drawn_alike_for_both_answers() -> None:
    """What the profile states is as likely with yes as with no, also where flaws lead to the answers."""
    pattern = replace(PATTERNS["flow_connected"], matched=1.0)
    drawn = [draw(pattern, 12, 5, ordinal).case for ordinal in range(80)]
    profiles = {answer: Counter(c.profile for c in drawn if c.answer == answer) for answer in ("yes", "no")}
    assert (profiles["yes"] & profiles["no"]).total() > 25
