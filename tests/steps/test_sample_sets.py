"""Questions about recipes: the chosen recipes, the formats, and the notices to the user."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest
from food_com_file import write_recipes, write_soups

from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.steps.construction import (
    PAPER_RULE,
    ConstructionRule,
    build_choices,
    build_classification,
)
from pytest_taskgraph.families.steps.next_step_samples import StepRecipe
from pytest_taskgraph.families.steps.recipe_sets import RecipeSet
from pytest_taskgraph.families.steps.recipe_sets.recipe_set import read_embedded_recipes
from pytest_taskgraph.families.steps.sample_sets import AskedSamples, asked_samples, usable_recipes
from pytest_taskgraph.families.steps.steps_settings import StepsSettings

CHOICES = [
    *("Boil water . \tWarm the pot\tPour it", "Boil water . Warm the pot . \tAdd tea\tPour it"),
    *("Wash rice . \tSoak it\tDrain it", "Cut beans . \tFry them\tServe them"),
]
CANDIDATES = [
    *("Heat the pan . Add butter\tBreak eggs\tYes", "Heat the pan . Add butter\tServe\tNo"),
    *("Knead dough . Let it rise\tRoll it\tYes", "Knead dough . Let it rise\tBake it\tNo"),
]


def recipe(recipe_id: str, count: int, text: str = "do part {at} of {id}") -> StepRecipe:
    return StepRecipe(
        recipe_id, f"dish {recipe_id}", tuple(text.format(at=at, id=recipe_id) for at in range(1, count + 1)), "test"
    )


def asked_ids(samples: AskedSamples) -> list[str]:
    ids = [*dict.fromkeys(sample.recipe for sample in samples.classification)]
    assert ids == [*dict.fromkeys(choice.recipe for choice in samples.choices)]
    return ids


@pytest.fixture
def published(tmp_path: Path) -> StepsSettings:
    """Return settings that state both files of published questions."""
    for name, lines in {"multi-choice": CHOICES, "next_step": CANDIDATES}.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "test.txt").write_text("\n".join(lines), encoding="utf-8")
    return StepsSettings.of(Settings(data={"steps": str(tmp_path)}))


# Built from recipes.


def test_asked_samples_of_embedded_recipes_are_those_of_the_rule() -> None:
    samples = asked_samples(StepsSettings(seed=3), 5)
    ids = asked_ids(samples)
    chosen = [recipe for recipe in read_embedded_recipes().test if recipe.id in ids]

    assert len(ids) == len(chosen) == 5
    assert samples.classification == tuple(build_classification(chosen, PAPER_RULE, 3))
    assert samples.choices == tuple(build_choices(chosen, PAPER_RULE, 3))


@pytest.mark.parametrize("split", ["train", "dev", "test"])
def test_asked_samples_are_of_the_split(split: str) -> None:
    ids = asked_ids(asked_samples(StepsSettings(split=split), 1000))  # type: ignore[arg-type]

    assert ids == [recipe.id for recipe in read_embedded_recipes().split(split)]  # type: ignore[arg-type]


def test_asked_samples_of_more_recipes_hold_those_of_fewer() -> None:
    few, many = (asked_samples(StepsSettings(), count) for count in (3, 9))

    assert set(asked_ids(few)) < set(asked_ids(many))
    assert set(few.classification) < set(many.classification)
    assert set(few.choices) < set(many.choices)


def test_asked_samples_of_another_seed_are_of_other_recipes() -> None:
    first, second = (asked_ids(asked_samples(StepsSettings(seed=seed), 5)) for seed in (1, 2))

    assert first != second


def test_asked_samples_draw_no_recipe_that_the_rule_does_not_use(tmp_path: Path) -> None:
    steps = {at: recipe(str(at), 5 if at % 3 == 0 else 3 if at % 2 else 11).steps for at in range(900)}
    path = write_recipes(tmp_path / "x.csv", ((f"dish {at}", at, steps[at]) for at in steps))
    samples = asked_samples(StepsSettings(source="food.com", data={"steps-recipes": path}), 4)

    assert len(asked_ids(samples)) == 4
    assert all(int(recipe_id) % 3 == 0 for recipe_id in asked_ids(samples))


def test_usable_recipes_leave_out_those_without_an_asked_place() -> None:
    recipes = RecipeSet.of("embedded", {"test": [recipe("a", 4), recipe("b", 7), recipe("c", 12)]})

    usable = usable_recipes(recipes, "test", ConstructionRule(first=5))

    assert [recipe.id for recipe in usable.recipes] == ["b"]
    assert usable.line == "recipes: 2 of 3 used; 0 too short, 1 too long"


def test_asked_samples_again_are_kept() -> None:
    assert asked_samples(StepsSettings(), 3) is asked_samples(StepsSettings(answer="text"), 3)


def test_asked_samples_of_a_changed_file_are_built_again(tmp_path: Path) -> None:
    settings = StepsSettings(source="food.com", data={"steps-recipes": write_soups(tmp_path / "x.csv", 400)})
    before = asked_samples(settings, 1000)
    write_soups(tmp_path / "x.csv", 800)

    assert len(asked_samples(settings, 1000).choices) > len(before.choices)


def test_asked_samples_of_a_split_without_recipes_say_what_there_is(tmp_path: Path) -> None:
    path = write_recipes(tmp_path / "x.csv", ((f"dish {at}", at, ["cut it", "eat it"]) for at in range(200)))
    message = r"^--taskgraph-split: none of the Food.com recipes of the split dev .*; recipes that do: "
    with pytest.raises(UsageError, match=message + r"train: 0 of 1\d\d, dev: 0 of \d+, test: 0 of \d+; state another"):
        asked_samples(StepsSettings(source="food.com", split="dev", data={"steps-recipes": path}), 4)


def test_notices_of_recipes_count_what_is_asked_and_name_problems(tmp_path: Path) -> None:
    steps = ["cut the leeks", "stir", "boil them", "stir", "!", "eat them"]
    path = write_recipes(tmp_path / "x.csv", [*((f"dish {at}", at, steps) for at in range(200)), ("none", 900, [])])
    samples = asked_samples(StepsSettings(source="food.com", data={"steps-recipes": path}), 2)
    number = samples.notices[0].split()[6]

    assert samples.notices[:3] == (
        f"STEPS, Food.com recipes, test split: recipes: {number} of {number} used; 0 too short, 0 too long",
        f"STEPS, Food.com recipes, test split: recipes asked about: 2 of {number}; samples: 6 Yes, 8 No; 6 choices",
        "STEPS, Food.com recipes, test split: their steps: 2 empty, 4 of one word, 2 repeated, 4 left out as negatives",
    )
    assert samples.notices[3].startswith("x.csv, line 202: ")


# Published.


def test_asked_samples_of_published_questions_are_those_of_drawn_recipes(published: StepsSettings) -> None:
    samples = asked_samples(published, 1)

    assert len({sample.recipe for sample in samples.classification}) == 1
    assert [sample.label for sample in samples.classification] == [True, False]
    assert len({choice.recipe for choice in samples.choices}) == 1


def test_asked_samples_of_all_published_questions_are_in_order(published: StepsSettings) -> None:
    samples = asked_samples(published, 1000)

    assert [sample.candidate for sample in samples.classification] == ["Break eggs", "Serve", "Roll it", "Bake it"]
    assert [choice.right for choice in samples.choices] == ["Warm the pot", "Add tea", "Soak it", "Fry them"]


def test_notices_of_published_questions_count_files_and_what_is_asked(published: StepsSettings) -> None:
    notices = asked_samples(published, 2).notices

    assert [line.removeprefix("STEPS, published questions: ") for line in notices] == [
        "multi-choice/test.txt: 4 lines, 0 broken; 4 choices; 3 recipes; at most 2 previous steps; 0 recipes begin "
        "with more than 1; 4 lines with an end mark; 0 with glued steps",
        "next_step/test.txt: 4 lines, 0 broken; 2 Yes, 2 No; 2 recipes; at most 2 previous steps; 0 recipes begin "
        "with more than 2; 0 lines with an end mark; 0 with glued steps",
        "classification: recipes asked about: 2 of 2; samples: 2 Yes, 2 No",
        f"multiple choice: recipes asked about: 2 of 3; samples: {len(asked_samples(published, 2).choices)} choices",
    ]


def test_asked_samples_of_one_published_file_note_the_missing_one(tmp_path: Path) -> None:
    (tmp_path / "next_step.txt").write_text("\n".join([*CANDIDATES, "broken"]), encoding="utf-8")
    samples = asked_samples(StepsSettings.of(Settings(data={"steps": str(tmp_path / "next_step.txt")})), 9)

    assert (len(samples.classification), samples.choices) == (4, ())
    assert "STEPS, published questions: multiple choice: no file of it; its methods have no questions" in (
        samples.notices
    )
    assert samples.notices[-1].startswith("next_step.txt, line 5: found 1 columns")


@pytest.mark.parametrize("split", ["train", "dev"])
def test_asked_samples_of_published_questions_of_another_split_are_refused(
    published: StepsSettings, split: str
) -> None:
    with pytest.raises(UsageError, match=rf"^--taskgraph-split: the published .* split test, not {split}"):
        asked_samples(replace(published, split=split), 4)  # type: ignore[arg-type]


def test_asked_samples_of_missing_published_questions_are_an_error() -> None:
    with pytest.raises(UsageError, match="the data set 'steps' is missing; add steps=PATH"):
        asked_samples(StepsSettings(source="published"), 4)
