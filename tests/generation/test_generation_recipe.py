"""A recipe says what it needs, and refuses what cannot be."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pytest
from drawn_workflows import generate
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import RecipeTooSmallError, UnknownNameError, UsageError
from pytest_taskgraph.generation.recipe import Recipe, demanded_features, least_tasks
from pytest_taskgraph.generation.strategies import recipes
from pytest_taskgraph.workflow.features import FEATURES


def test_recipe_of_plain_sets_is_that_of_frozen_sets() -> None:
    plain = Recipe(features={"data"}, avoid={"loop"})  # type: ignore[arg-type]
    assert {plain: 1}[Recipe(features=frozenset({"data"}), avoid=frozenset({"loop"}))]


def of(*features: str, avoid: Iterable[str] = (), tasks: int = 12, cross_links: int = 0) -> Recipe:
    return Recipe(tasks, features=frozenset(features), avoid=frozenset(avoid), cross_links=cross_links)


@given(recipes(max_cross_links=6), st.integers(0, 50))
def test_least_tasks_can_be_built_and_one_less_cannot(recipe: Recipe, seed: int) -> None:
    least = least_tasks(recipe)
    generate(replace(recipe, tasks=least), seed)
    if least > 3:
        with pytest.raises(RecipeTooSmallError) as refused:
            generate(replace(recipe, tasks=least - 1), seed)
        assert (refused.value.tasks, refused.value.least) == (least - 1, least)


def test_least_tasks_does_not_depend_on_tasks() -> None:
    assert least_tasks(of("parallel", "exclusive", tasks=3)) == least_tasks(of("parallel", "exclusive", tasks=200)) == 6


@pytest.mark.parametrize(
    ("features", "least"),
    [((), 3), (("parallel",), 3), (("loop",), 3), (("loop", "exclusive"), 5), (("guards", "parallel"), 5),
     (("hierarchy",), 3), (("hierarchy", "exclusive"), 4), (("references", "parallel", "mixed"), 7)],
)  # fmt: skip
def test_least_numbers_are_small(features: tuple[str, ...], least: int) -> None:
    assert least_tasks(of(*features)) == least


def test_recipe_unknown_feature_lists_features() -> None:
    wrong = frozenset({"paralel"})
    for features, avoid in ((wrong, frozenset[str]()), (frozenset[str](), wrong)):
        with pytest.raises(UnknownNameError, match=r"unknown feature 'paralel'; known: .*parallel"):
            Recipe(features=features, avoid=avoid)


def test_recipe_unknown_vocabulary_lists_vocabularies() -> None:
    with pytest.raises(UnknownNameError, match=r"unknown vocabulary 'moon'; known: .*kitchen, .*neutral"):
        Recipe(vocabulary="moon")


@pytest.mark.parametrize(
    ("field", "value"),
    [("tasks", 2), ("tasks", 201), ("width", 1), ("width", 21), ("depth", 0), ("depth", 11), ("cross_links", -1)],
)
def test_recipe_number_out_of_range_raises_usage_error(field: str, value: int) -> None:
    with pytest.raises(UsageError, match=rf"{field} is {value}; expected a whole number from"):
        Recipe(**{field: value})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("features", "avoid", "named"),
    [
        (("exclusive",), ("exclusive",), "exclusive"),
        (("exclusive",), ("guards",), "guards"),
        (("loop",), ("exclusive",), "exclusive"),
        (("mixed",), ("inclusive",), "inclusive"),
        (("schemas",), ("data",), "data"),
        (("references",), ("hierarchy",), "hierarchy"),
        (("bindings",), ("data", "hierarchy"), "data, hierarchy"),
        (("guards",), ("exclusive", "inclusive"), "guards"),
    ],
)
def test_recipe_contradiction_raises_usage_error(features: tuple[str, ...], avoid: tuple[str, ...], named: str) -> None:
    with pytest.raises(UsageError, match=rf"recipe: {named} (is|are) demanded"):
        of(*features, avoid=avoid)


def test_cross_links_fork_and_so_contradict_avoiding_forks() -> None:
    with pytest.raises(UsageError, match="parallel"):
        of(avoid=["parallel"], cross_links=1)


@given(st.frozensets(st.sampled_from(sorted(FEATURES))))
def test_demanded_features_include_implied(features: frozenset[str]) -> None:
    demanded = demanded_features(Recipe(features=features))
    assert features <= demanded == demanded_features(Recipe(features=demanded))


def test_demanded_features_derivation_adds_implementations() -> None:
    assert "implementations" in demanded_features(of("derivation"))
    assert "implementations" not in demanded_features(of("derivation", "kinds"))
    assert "implementations" not in demanded_features(of("derivation", avoid=["implementations"]))
