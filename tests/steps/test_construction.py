"""The questions built from recipes: their numbers by the formulas, repeated and short steps, and the draws."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.steps.construction import (
    PAPER_RULE,
    ConstructionCounts,
    ConstructionRule,
    Negatives,
    build_choices,
    build_classification,
)
from pytest_taskgraph.families.steps.next_step_samples import ChoiceSample, NextStepSample, StepRecipe


def recipe(*steps: str, recipe_id: str = "soup") -> StepRecipe:
    return StepRecipe(recipe_id, "Soup", steps)


def numbered(count: int, recipe_id: str = "soup") -> StepRecipe:
    """Return a recipe of steps that are all different."""
    return recipe(*(f"do part {number}" for number in range(1, count + 1)), recipe_id=recipe_id)


def classification_samples(
    asked: StepRecipe, *, first: int = 2, last: int | None = None, negatives: Negatives = "all", seed: int | str = 0
) -> list[NextStepSample]:
    return [*build_classification([asked], ConstructionRule(first, last, negatives), seed)]


def choice_samples(
    asked: StepRecipe, *, first: int = 2, last: int | None = None, seed: int | str = 0
) -> list[ChoiceSample]:
    return [*build_choices([asked], ConstructionRule(first, last), seed)]


places = st.integers(-14, 14).filter(lambda place: place not in (0, 1))


# The formulas of section 3.1.


@given(count=st.integers(4, 10), seed=st.integers())
def test_paper_rule_gives_the_numbers_of_its_formulas(count: int, seed: int) -> None:
    samples = classification_samples(numbered(count), seed=seed)
    choices = choice_samples(numbered(count), seed=seed)

    assert sum(sample.label for sample in samples) == len(choices) == count - 2
    assert sum(not sample.label for sample in samples) == (count - 2) * (count - 1) // 2


def test_paper_rule_of_five_steps_gives_these_samples() -> None:
    samples = classification_samples(recipe("a b", "c d", "e f", "g h", "i j"))

    assert [(len(sample.prefix), sample.candidate, sample.label, sample.position) for sample in samples] == [
        (1, "c d", True, 2),
        (1, "e f", False, 2),
        (1, "g h", False, 2),
        (1, "i j", False, 2),
        (2, "e f", True, 3),
        (2, "g h", False, 3),
        (2, "i j", False, 3),
        (3, "g h", True, 4),
        (3, "i j", False, 4),
    ]
    assert samples[-1].prefix == ("a b", "c d", "e f")
    assert {sample.recipe for sample in samples} == {"soup"}


@given(
    count=st.integers(1, 14),
    first=places,
    last=st.none() | places,
    negatives=st.sampled_from(["all", "one"]),
    shortest=st.integers(1, 6),
    longest=st.none() | st.integers(6, 14),
    seed=st.integers(),
)
def test_rule_with_any_parameters_gives_the_numbers_of_its_formulas(
    count: int, first: int, last: int | None, negatives: Negatives, shortest: int, longest: int | None, seed: int
) -> None:
    rule = ConstructionRule(first, last, negatives, shortest, longest)
    begin = max(2, first if first > 0 else count + first)
    end = min(count - 1, count - 1 if last is None else last if last > 0 else count + last)
    used = shortest <= count <= (longest or count)
    yes = max(0, end - begin + 1) if used else 0
    later = (count - begin + count - end) * yes // 2  # the sum of N-j for j from begin to end
    counts = ConstructionCounts()

    samples = list(build_classification([numbered(count)], rule, seed, counts))
    choices = list(build_choices([numbered(count)], rule, seed, counts))

    assert sum(sample.label for sample in samples) == counts.yes == yes
    assert sum(not sample.label for sample in samples) == counts.no == (later if negatives == "all" else yes)
    assert len(choices) == counts.choices == yes


@given(
    steps=st.lists(st.sampled_from(["mix", "Mix.", "stir well", "add the salt", "bake it", "", ".", "serve"])),
    negatives=st.sampled_from(["all", "one"]),
    seed=st.integers(0, 9),
)
def test_samples_of_any_steps_are_of_different_questions(steps: list[str], negatives: Negatives, seed: int) -> None:
    samples = classification_samples(recipe(*steps), negatives=negatives, seed=seed)

    assert len({(sample.position, sample.candidate) for sample in samples}) == len(samples)
    for sample in samples:
        assert sample.label or sample.candidate not in sample.prefix
    for choice in choice_samples(recipe(*steps), seed=seed):
        assert choice.wrong not in (*choice.prefix, choice.right)


def test_counts_over_recipes_are_the_sums_of_them() -> None:
    counts = ConstructionCounts()

    samples = list(build_classification((numbered(count, f"r{count}") for count in range(2, 13)), counts=counts))

    assert counts.lines() == [
        "recipes: 7 of 11 used; 2 too short, 2 too long",
        "samples: 35 Yes, 119 No",
    ]
    assert Counter(sample.label for sample in samples) == {True: 35, False: 119}


# The published files' settings.


def test_published_classification_rule_asks_from_third_to_last_but_two() -> None:
    rule = ConstructionRule(first=3, last=-2, negatives="one", longest=None)
    samples = list(build_classification([numbered(22)], rule))

    assert [(sample.position, sample.label) for sample in samples] == [
        (place, label) for place in range(3, 21) for label in (True, False)
    ]


@pytest.mark.parametrize(("count", "places"), [(3, []), (4, [2]), (8, [2, 3, 4, 5, 6]), (9, [])])
def test_published_choice_rule_asks_from_second_to_last_but_two(count: int, places: list[int]) -> None:
    rule = ConstructionRule(last=-2, negatives="one", longest=8)
    assert [sample.position for sample in build_choices([numbered(count)], rule)] == places


# Rules that cannot be.


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"first": 1}, "first: found 1, expected at least 2"),
        ({"first": 0}, "first: found 0, expected at least 2"),
        ({"last": 1}, "last: found 1, expected at least 2"),
        ({"negatives": "some"}, "negatives: found 'some', expected all or one"),
        ({"one_word": "shun"}, "one_word: found 'shun', expected keep or drop"),
        ({"shortest": 0}, "shortest, longest: found 0 and 10"),
        ({"shortest": 5, "longest": 4}, "shortest, longest: found 5 and 4"),
    ],
)
def test_rule_with_impossible_parameter_is_refused(parameters: dict[str, object], message: str) -> None:
    with pytest.raises(UsageError, match=message):
        ConstructionRule(**parameters)  # type: ignore[arg-type]


# Draws.


def test_draws_of_a_seed_are_the_same_on_every_machine() -> None:
    choices = choice_samples(numbered(10), seed=7)
    negatives = classification_samples(numbered(10), negatives="one", seed=7)

    assert [int(sample.wrong.split()[-1]) for sample in choices] == [10, 5, 7, 9, 9, 10, 9, 10]
    assert [int(sample.candidate.split()[-1]) for sample in negatives if not sample.label] == [
        6,
        5,
        9,
        10,
        8,
        10,
        10,
        10,
    ]


def test_draws_of_a_place_do_not_depend_on_the_other_places() -> None:
    every = {sample.position: sample for sample in choice_samples(numbered(10), seed="a")}

    assert [every[sample.position] for sample in choice_samples(numbered(10), first=5, last=7, seed="a")] == [
        every[place] for place in (5, 6, 7)
    ]


def test_draws_over_seeds_are_even_over_the_later_steps() -> None:
    wrong = Counter(choice_samples(numbered(6), last=2, seed=seed)[0].wrong for seed in range(2_000))

    assert wrong.keys() == {"do part 3", "do part 4", "do part 5", "do part 6"}
    assert all(abs(number - 500) < 100 for number in wrong.values())  # five standard deviations


def test_shuffled_options_are_even_over_seeds_and_know_the_right_one() -> None:
    choice = choice_samples(numbered(4))[0]
    places = []
    for seed in range(1_000):
        options, right = choice.shuffled(seed)
        assert options[right] == choice.right
        assert options[1 - right] == choice.wrong
        places.append(right)

    assert choice.shuffled(3) == choice.shuffled(3)
    assert abs(sum(places) - 500) < 80


# Repeated, short and empty steps.


def test_later_step_that_is_the_right_one_again_is_no_negative() -> None:
    counts = ConstructionCounts()
    steps = recipe("wash rice", "stir well", "add salt", "Stir  well.", "serve it")

    samples = list(build_classification([steps], PAPER_RULE, counts=counts))

    assert [sample.candidate for sample in samples if sample.position == 2] == ["stir well", "add salt", "serve it"]
    assert counts.left_out == 2  # also after the third step, where it has been done already
    assert [sample.candidate for sample in samples if sample.position == 3] == ["add salt", "serve it"]


def test_right_step_that_was_done_before_is_still_asked_for() -> None:
    samples = classification_samples(recipe("stir well", "add salt", "stir well", "serve it"))

    assert [sample.candidate for sample in samples if sample.label] == ["add salt", "stir well"]


def test_later_step_that_comes_twice_is_one_negative() -> None:
    samples = classification_samples(recipe("wash rice", "add salt", "stir well", "stir well", "serve it"))

    assert [sample.candidate for sample in samples if sample.position == 2] == ["add salt", "stir well", "serve it"]


def test_question_without_another_later_step_has_no_negative() -> None:
    counts = ConstructionCounts()
    steps = recipe("wash rice", "add salt", "stir well", "stir well")

    samples = list(build_classification([steps], PAPER_RULE, counts=counts))
    choices = list(build_choices([steps], PAPER_RULE))

    assert [(sample.position, sample.label) for sample in samples] == [(2, True), (2, False), (3, True)]
    assert [sample.position for sample in choices] == [2]
    assert counts.lines()[-1] == "steps: 1 repeated, 2 left out as negatives, 1 asked for without a negative"


@pytest.mark.parametrize(("one_word", "used"), [("keep", 5), ("drop", 4)])
def test_steps_of_one_word_are_kept_or_dropped_and_counted(one_word: str, used: int) -> None:
    counts = ConstructionCounts()
    rule = ConstructionRule(one_word="keep" if one_word == "keep" else "drop")

    samples = list(build_classification([recipe("wash it", "Stir .", "add it", "bake it", "eat it")], rule, 0, counts))

    assert sum(sample.label for sample in samples) == used - 2
    assert counts.lines()[-1] == "steps: 1 of one word"
    assert any("Stir ." in (*sample.prefix, sample.candidate) for sample in samples) == (one_word == "keep")


def test_steps_without_a_letter_are_removed_before_counting() -> None:
    counts = ConstructionCounts()

    samples = list(build_classification([recipe("wash it", "", " . ", "add it", "bake it")], counts=counts))

    assert samples == []
    assert counts.lines() == [
        "recipes: 0 of 1 used; 1 too short, 0 too long",
        "samples: none",
        "steps: 2 empty",
    ]
