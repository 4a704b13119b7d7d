"""Demonstrations: balanced, of different recipes, the same everywhere, and never of the recipe that is asked about."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path

import pytest
from bounded_process import run
from food_com_file import write_recipes, write_soups

from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.steps.construction import PAPER_RULE, build_classification
from pytest_taskgraph.families.steps.demonstrations import demonstration_notices, draw_demonstrations
from pytest_taskgraph.families.steps.next_step_samples import NextStepSample
from pytest_taskgraph.families.steps.recipe_sets import load
from pytest_taskgraph.families.steps.recipe_sets.recipe_resemblance import resemble
from pytest_taskgraph.families.steps.recipe_sets.recipe_set import read_embedded_recipes
from pytest_taskgraph.families.steps.steps_family import Steps
from pytest_taskgraph.families.steps.steps_settings import StepsSettings

SETTINGS = StepsSettings()
ASKED_RECIPE = read_embedded_recipes().test[0].id


def labels(demonstrations: Iterable[NextStepSample]) -> list[bool]:
    return [sample.label for sample in demonstrations]


def recipes_of(demonstrations: Iterable[NextStepSample]) -> list[str]:
    return [sample.recipe for sample in demonstrations]


# Balance, order, draws.


@pytest.mark.parametrize("k", range(9))
def test_demonstrations_are_balanced_and_of_different_recipes(k: int) -> None:
    for seed_number in range(1, 7):
        demonstrations = draw_demonstrations(SETTINGS, k, seed_number, ASKED_RECIPE)

        assert labels(demonstrations).count(True) in {k // 2, k - k // 2}
        assert len(set(recipes_of(demonstrations))) == len(demonstrations) == k


def test_demonstrations_of_an_odd_number_have_either_label_more_often() -> None:
    more = {
        labels(draw_demonstrations(SETTINGS, 3, seed_number, ASKED_RECIPE)).count(True) for seed_number in range(20)
    }
    single = {labels(draw_demonstrations(SETTINGS, 1, seed_number, ASKED_RECIPE))[0] for seed_number in range(20)}

    assert (more, single) == ({1, 2}, {True, False})


def test_demonstrations_have_their_labels_in_every_order() -> None:
    orders = {tuple(labels(draw_demonstrations(SETTINGS, 4, seed_number, ASKED_RECIPE))) for seed_number in range(200)}

    assert len(orders) == 6


def test_demonstrations_of_six_draws_differ() -> None:
    draws = [set(draw_demonstrations(SETTINGS, 4, seed_number, ASKED_RECIPE)) for seed_number in range(1, 7)]

    assert all(first != second for at, first in enumerate(draws) for second in draws[:at])
    assert len(set().union(*draws)) > 20


def test_demonstrations_of_another_run_seed_differ() -> None:
    first, second = (draw_demonstrations(StepsSettings(seed=seed), 4, 1, ASKED_RECIPE) for seed in (0, 1))

    assert set(recipes_of(first)) != set(recipes_of(second))


def test_demonstrations_are_the_same_in_a_process_of_another_hash_seed() -> None:
    program = (
        "from pytest_taskgraph.families.steps.demonstrations import draw_demonstrations as draw\n"
        "from pytest_taskgraph.families.steps.steps_settings import StepsSettings\n"
        f"print(*(draw(StepsSettings(seed=5), 4, at, {ASKED_RECIPE!r}) for at in range(1, 7)), sep='\\n')"
    )
    here = [str(draw_demonstrations(StepsSettings(seed=5), 4, at, ASKED_RECIPE)) for at in range(1, 7)]

    for seed in ("1", "2"):
        process = run([sys.executable, "-c", program], env={"PYTHONHASHSEED": seed, "PYTHONPATH": ":".join(sys.path)})
        assert process.stdout.splitlines() == here


# What they are.


def test_demonstrations_are_samples_of_training_recipes_by_the_rule() -> None:
    settings = StepsSettings(seed=2)
    samples = {*build_classification(read_embedded_recipes().train, PAPER_RULE, 2)}

    for seed_number in range(1, 7):
        assert samples.issuperset(draw_demonstrations(settings, 8, seed_number, ASKED_RECIPE))


def test_demonstrations_with_published_questions_are_of_the_stated_recipes(tmp_path: Path) -> None:
    (tmp_path / "next_step.txt").write_text("Cut it . Fry it\tEat it\tYes", encoding="utf-8")
    data = {"steps": str(tmp_path / "next_step.txt")}
    embedded = StepsSettings.of(Settings(data=data))
    food_com = StepsSettings.of(Settings(data=data | {"steps-recipes": write_soups(tmp_path / "x.csv", 60)}))

    for settings in (embedded, food_com):
        train = {recipe.id for recipe in load(settings).train}
        assert train.issuperset(recipes_of(draw_demonstrations(settings, 4, 1, "next-step-1")))
    assert [line.partition(": ")[2] for line in demonstration_notices(embedded)] == [
        "demonstrations are built from the embedded recipes, train split; --taskgraph-data=steps-recipes=PATH takes "
        "Food.com's"
    ]
    assert [line.partition(": ")[2] for line in demonstration_notices(food_com)] == [
        "demonstrations are built from Food.com's recipes, train split"
    ]
    assert not [*demonstration_notices(SETTINGS)]


# The recipe that is asked about.


def test_demonstrations_of_unlike_recipes_are_the_same() -> None:
    recipes = read_embedded_recipes()
    unlike = [recipe for recipe in recipes.test if not any(resemble(recipe, other) for other in recipes.train)]

    assert len(unlike) > 40
    assert len({draw_demonstrations(SETTINGS, 4, 1, recipe.id) for recipe in unlike}) == 1


def test_demonstration_of_the_asked_recipe_is_replaced_in_its_place() -> None:
    settings = replace(SETTINGS, split="train")
    ids = [recipe.id for recipe in read_embedded_recipes().train]
    common = max(draws := [draw_demonstrations(settings, 4, 1, recipe_id) for recipe_id in ids], key=draws.count)

    assert len(common) == 4
    assert draws.count(common) >= len(ids) - 8
    for at, sample in enumerate(common):
        demonstrations = draw_demonstrations(settings, 4, 1, sample.recipe)
        assert sample.recipe not in recipes_of(demonstrations)
        assert labels(demonstrations) == labels(common)
        assert demonstrations[:at] + demonstrations[at + 1 :] == common[:at] + common[at + 1 :]


def test_demonstrations_of_published_questions_are_of_other_recipes(tmp_path: Path) -> None:
    # The same recipe, as the published file and Food.com's file spell it.
    steps = ["cut the leeks, finely", "boil them", "add salt & pepper", "serve"]
    recipes = [
        (f"soup {at}", at, steps if at % 2 else [f"do part {step} of {at}" for step in range(5)]) for at in range(60)
    ]
    (tmp_path / "next_step.txt").write_text("Cut the leeks , finely . Boil them\tAdd salt & pepper\tYes", "utf-8")
    path = write_recipes(tmp_path / "x.csv", recipes)
    settings = StepsSettings.of(Settings(data={"steps": str(tmp_path / "next_step.txt"), "steps-recipes": path}))

    for seed_number in range(1, 7):
        demonstrations = recipes_of(draw_demonstrations(settings, 8, seed_number, "next-step-1"))
        assert all(int(recipe_id) % 2 == 0 for recipe_id in demonstrations)
    assert "left out, as they resemble those of the published questions: " in [*demonstration_notices(settings)][1]


# What cannot be drawn.


def test_demonstrations_of_too_few_recipes_are_refused(tmp_path: Path) -> None:
    settings = StepsSettings(source="food.com", data={"steps-recipes": write_soups(tmp_path / "x.csv", 60)})
    recipes = load(settings)
    most = len(recipes.train)

    assert len(draw_demonstrations(settings, most, 1, recipes.test[0].id)) == most
    with pytest.raises(UsageError, match=rf"--taskgraph-shots: found {most + 1}; .* the train split has {most} that"):
        draw_demonstrations(settings, most + 1, 1, recipes.test[0].id)


def test_demonstrations_for_a_recipe_that_is_not_asked_about_are_refused() -> None:
    with pytest.raises(UsageError, match=r"the recipe 'no-such': not in the test split of the data \(source embedded"):
        draw_demonstrations(SETTINGS, 4, 1, "no-such")


def test_few_shot_without_demonstrations_is_refused_before_it_is_asked() -> None:
    settings = StepsSettings(methods=("few_shot",), shots=0)
    with pytest.raises(UsageError, match="--taskgraph-shots: found 0; few_shot needs at least 1, and zero_shot asks"):
        Steps().references(settings, {})


def test_few_shot_of_too_many_is_refused_before_it_is_asked() -> None:
    settings = StepsSettings(methods=("few_shot",), shots=1000)
    with pytest.raises(UsageError, match=r"--taskgraph-shots: found 1000; .* state fewer"):
        Steps().references(settings, {})


@pytest.mark.parametrize("shots", [0, 1000])
def test_one_shot_is_asked_whatever_the_number_of_shots(shots: int) -> None:
    assert Steps().references(StepsSettings(methods=("one_shot",), shots=shots), {})
