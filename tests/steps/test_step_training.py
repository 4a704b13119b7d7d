"""The training and tuning of the n-gram baseline of STEPS."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_taskgraph.benchmarks.steps.construction import build_classification
from pytest_taskgraph.benchmarks.steps.construction_rule import PAPER_RULE, ConstructionRule
from pytest_taskgraph.benchmarks.steps.ngram.language_model import KneserNeyModel
from pytest_taskgraph.benchmarks.steps.ngram.order_tuning import tuned_order
from pytest_taskgraph.benchmarks.steps.ngram.perplexity_choice import step_perplexity, tuned_threshold
from pytest_taskgraph.benchmarks.steps.ngram.word_tokens import word_tokens
from pytest_taskgraph.benchmarks.steps.recipe_sets import RecipeSet
from pytest_taskgraph.benchmarks.steps.recipe_sets.embedded_recipes import read_embedded_recipes
from pytest_taskgraph.benchmarks.steps.step_baselines import step_training
from pytest_taskgraph.benchmarks.steps.step_baselines.step_prompts import AskedCandidate, AskedChoice
from pytest_taskgraph.benchmarks.steps.step_baselines.step_training import StepModel, train_step_model
from pytest_taskgraph.benchmarks.steps.step_recipe import StepRecipe

EMBEDDED = read_embedded_recipes()
PASTA = ("Boil the water", "Add the pasta", "Drain the pasta", "Serve the pasta", "Wash the pot")
RICE = ("Rinse the rice", "Boil the rice", "Drain the rice", "Serve the rice", "Wash the pan")
TRAIN = (StepRecipe("pasta", "Pasta", PASTA), StepRecipe("rice", "Rice", RICE))
DEV = (StepRecipe("soup", "Soup", ("Boil the water", "Add the rice", "Serve the rice", "Wash the pot")),)


def recipes(**splits: tuple[StepRecipe, ...]) -> RecipeSet:
    return RecipeSet.of("food.com", splits)  # type: ignore[arg-type]


def trained(recipe_set: RecipeSet, rule: ConstructionRule = PAPER_RULE) -> StepModel:
    return train_step_model(recipe_set, rule, EMBEDDED)


def fingerprint(model: StepModel) -> tuple[int, int, float, list[float]]:
    tokens = word_tokens(" . ".join((*PASTA, *RICE, *EMBEDDED.train[0].steps)))
    return model.model.order, len(model.model.vocabulary), model.threshold, model.model.logprobs(tokens)


def threshold_on(model: StepModel, dev: tuple[StepRecipe, ...], rule: ConstructionRule) -> float:
    samples = [*build_classification(dev, rule)]
    prefixes = [" . ".join(sample.prefix) + " ." for sample in samples]
    perplexities = [
        step_perplexity(model.model, *pair) for pair in zip(prefixes, (s.candidate for s in samples), strict=True)
    ]
    return tuned_threshold(perplexities, [sample.label for sample in samples])


def test_train_model_learns_steps_joined_as_the_paper_joins_them() -> None:
    model = trained(recipes(train=TRAIN, dev=DEV))
    texts = [word_tokens(" . ".join(recipe.steps) + " .") for recipe in TRAIN]
    dev = [word_tokens(" . ".join(recipe.steps) + " .") for recipe in DEV]
    expected = KneserNeyModel(tuned_order(texts, dev, range(1, 4))).fit(texts)
    tokens = word_tokens("Boil the water . Drain the rice .")
    assert model.model.order == expected.order
    assert model.model.logprobs(tokens) == expected.logprobs(tokens)


def test_train_model_never_looks_at_test_recipes() -> None:
    for recipe_set in (EMBEDDED, recipes(train=TRAIN, dev=DEV)):
        others = replace(recipe_set, test=TRAIN[::-1])
        assert (
            fingerprint(trained(recipe_set))
            == fingerprint(trained(others))
            == fingerprint(trained(replace(recipe_set, test=())))
        )


@pytest.mark.parametrize("rule", [PAPER_RULE, ConstructionRule(first=3, negatives="one"), ConstructionRule(last=-2)])
def test_threshold_is_tuned_on_development_questions_of_the_rule(rule: ConstructionRule) -> None:
    model = trained(EMBEDDED, rule)
    assert model.threshold == threshold_on(model, EMBEDDED.dev, rule)


def test_threshold_of_a_rule_without_questions_is_tuned_by_the_paper_s() -> None:
    model = trained(recipes(train=TRAIN, dev=DEV), ConstructionRule(first=9))
    assert model.threshold == threshold_on(model, DEV, PAPER_RULE)
    short = (StepRecipe("tea", "Tea", ("Boil the water", "Pour it")),)
    model = trained(recipes(train=TRAIN, dev=short))
    assert model.threshold == threshold_on(model, EMBEDDED.dev, PAPER_RULE)


def test_train_model_without_recipes_of_a_split_takes_the_stand_in() -> None:
    assert fingerprint(trained(recipes())) == fingerprint(trained(EMBEDDED))
    assert fingerprint(trained(recipes(dev=DEV))) == fingerprint(trained(recipes(train=EMBEDDED.train, dev=DEV)))
    assert fingerprint(trained(recipes(train=TRAIN))) == fingerprint(trained(recipes(train=TRAIN, dev=EMBEDDED.dev)))


def test_train_model_of_many_recipes_learns_from_a_draw_of_their_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    many = tuple(replace(recipe, id=f"{recipe.id}-{number}") for recipe in EMBEDDED.train for number in range(3))
    everything = fingerprint(trained(recipes(train=many, dev=EMBEDDED.dev)))
    monkeypatch.setattr(step_training, "MOST_TRAINING", 20)
    few = fingerprint(trained(recipes(train=many, dev=EMBEDDED.dev)))
    assert few[1] < everything[1]
    assert few == fingerprint(trained(recipes(train=many[::-1], dev=EMBEDDED.dev)))


def test_train_model_of_long_recipes_learns_from_no_more_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(step_training, "MOST_TOKENS", 25)
    # The tokens of the first recipe are 20, those of both 40.
    assert fingerprint(trained(recipes(train=TRAIN, dev=DEV))) == fingerprint(
        trained(recipes(train=TRAIN[:1], dev=DEV))
    )


def test_step_model_compares_the_perplexity_with_the_threshold() -> None:
    model = KneserNeyModel(2).fit([word_tokens(" . ".join(PASTA) + " .")])
    step = AskedCandidate("Boil the water", "Add the pasta")
    limit = step_perplexity(model, "Boil the water .", "Add the pasta")
    assert StepModel(model, limit).is_next(step)
    assert not StepModel(model, limit * 0.999).is_next(step)
    start = AskedCandidate("", "Boil the water")  # no full stop stands before the first step
    assert StepModel(model, step_perplexity(model, "", "Boil the water")).is_next(start)
    assert not StepModel(model, step_perplexity(model, "", "Boil the water") * 0.999).is_next(start)


def test_step_model_gives_the_letter_of_the_prompt() -> None:
    model = StepModel(KneserNeyModel(2).fit([word_tokens(" . ".join(PASTA) + " .")]), 1.0)
    assert model.next_letter(AskedChoice("Boil the water", {"C": "Xyzzy", "D": "Add the pasta"})) == "D"
    assert model.next_letter(AskedChoice("Boil the water", {"A": "Xyzzy", "B": "Plugh"})) is None
