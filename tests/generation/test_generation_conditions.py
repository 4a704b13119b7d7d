"""Guards as they are drawn: which of them hold together, in which shapes, and within which range."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from random import Random

import pytest
from drawn_workflows import generate

from pytest_taskgraph.errors import NoCaseError
from pytest_taskgraph.generation.flaws import MUTATIONS
from pytest_taskgraph.generation.flaws.guard_flaws import MOST_GUARDS, draw_guards
from pytest_taskgraph.generation.guards import Conditions, GuardChoice, GuardNames
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.vocabularies import vocabulary
from pytest_taskgraph.workflow.check import problems
from pytest_taskgraph.workflow.guards.solver import comparisons, covers, exclusive, read_guard
from pytest_taskgraph.workflow.model import OTHERWISE, Parameter

SEEDS = range(40)
SIGNS = ("<", "<=", ">", ">=", "!=", "and", "or", OTHERWISE)


def conditions(seed: int, words: str = "neutral") -> Conditions:
    return Conditions(vocabulary(words), GuardNames(), Random(seed))


def parameters(choice: GuardChoice, shown: bool) -> list[Parameter]:
    return [Parameter(name, domain=domain if shown else None) for name, domain in choice.domains]


def count_signs(choices: Iterator[GuardChoice]) -> Counter[str]:
    """In how many choices each sign occurs."""
    return Counter(sign for choice in choices for sign in SIGNS if sign in " ".join(choice.guards).split())


@pytest.mark.parametrize("shown", [True, False])
@pytest.mark.parametrize("count", [2, 9, *(pytest.param(count, marks=pytest.mark.exhaustive) for count in (3, 4))])
@pytest.mark.parametrize("words", ["neutral", "kitchen"])
def test_choice_guards_cover_all_and_overlap_where_inclusive(count: int, words: str, shown: bool) -> None:
    for seed in SEEDS:
        for kind in ("exclusive", "inclusive"):
            choice = getattr(conditions(seed, words), kind)(count)
            domains = parameters(choice, shown)
            assert len(choice.guards) == count
            assert exclusive(choice.guards, domains) is (kind == "exclusive"), choice
            assert covers(choice.guards, domains) is True, choice


def test_choice_signs_of_exclusive_and_inclusive_are_as_frequent() -> None:
    apart = count_signs(conditions(seed).exclusive(3) for seed in range(600))
    over = count_signs(conditions(seed).inclusive(3) for seed in range(600))
    for sign in ("<", "<=", ">", ">="):
        assert abs(apart[sign] - over[sign]) < 90, (apart, over)


def test_loop_guards_exclude_each_other_and_move_by_step() -> None:
    for seed in SEEDS:
        loop = conditions(seed).loop()
        assert exclusive(loop.guards, parameters(loop, True)) is True
        assert covers(loop.guards, parameters(loop, True)) is True
        assert 1 <= abs(loop.step) <= 3


@pytest.mark.parametrize("shown", [True, False])
@pytest.mark.parametrize("apart", [True, False])
@pytest.mark.parametrize("count", [2, MOST_GUARDS, pytest.param(3, marks=pytest.mark.exhaustive)])
def test_draw_guards_drawn_answer_is_the_decided_one(count: int, apart: bool, shown: bool) -> None:
    choices = [draw_guards(conditions(seed), count, apart, shown) for seed in SEEDS]
    drawn_choices = [choice for choice in choices if choice is not None]
    assert len(drawn_choices) > 0.9 * len(choices)
    for choice in drawn_choices:
        assert exclusive(choice.guards, parameters(choice, shown)) is apart, choice


def test_draw_guards_signs_do_not_tell_the_answer() -> None:
    apart, over = (
        count_signs(
            choice for seed in range(500) if (choice := draw_guards(conditions(seed), 3, answer, False)) is not None
        )
        for answer in (True, False)
    )
    for sign in SIGNS:
        assert min(apart[sign], over[sign]) > 20, (sign, apart, over)
        assert abs(apart[sign] - over[sign]) < 80, (sign, apart, over)


def test_draw_guards_constants_are_inside_the_range() -> None:
    for seed in SEEDS:
        choice = draw_guards(conditions(seed), 2, True, False)
        domains = dict(choice.domains) if choice else {}
        for comparison in (
            comparison for guard in (choice.guards if choice else []) for comparison in comparisons(read_guard(guard))
        ):
            domain = domains[comparison.parameter]
            if isinstance(comparison.value, str):
                assert comparison.value in domain.words
            else:
                assert domain.low is not None
                assert domain.high is not None
                assert domain.low < comparison.value < domain.high


def test_draw_guards_more_than_can_be_fitted_is_none() -> None:
    assert draw_guards(conditions(1), MOST_GUARDS + 2, True, False) is None


@pytest.mark.parametrize(("flaw", "apart"), [("exclude-guards", True), ("overlap-guards", False)])
def test_guard_flaw_gives_its_task_the_answer_and_keeps_all_else(flaw: str, apart: bool) -> None:
    kinds = set()
    for seed in range(30):
        features = frozenset({"exclusive", "inclusive", "loop", "domains"} if seed % 2 else {"exclusive", "inclusive"})
        workflow = generate(Recipe(tasks=14, features=features), seed)
        flawed = MUTATIONS[flaw](workflow, Random(seed))
        assert not problems(flawed)
        assert flawed.flaw is not None
        ends = [(link.source, link.target) for link in workflow.links]
        assert [(link.source, link.target) for link in flawed.links] == ends
        choices = {
            task: [link.guard for link in flawed.links if link.source == task and link.guard]
            for task in flawed.task_names
        }
        answers = {task: exclusive(guards, flawed.parameters) for task, guards in choices.items() if len(guards) > 1}
        assert answers[flawed.flaw.details[0]] is apart
        kinds |= {*answers.values()}
        parsed = [read_guard(guard) for guards in choices.values() for guard in guards]
        read = {comparison.parameter for guard in parsed for comparison in comparisons(guard)}
        assert {parameter.name for parameter in flawed.parameters} == (read if seed % 2 else set())
    assert kinds == {True, False}


def test_guard_flaw_without_choice_is_no_case() -> None:
    with pytest.raises(NoCaseError, match="no task of workflow 'Process' has two guarded links"):
        MUTATIONS["exclude-guards"](generate(Recipe(tasks=4), 1), Random(1))
