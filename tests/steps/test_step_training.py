"""The training and tuning of the n-gram baseline of STEPS."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pytest_taskgraph.families.steps.construction import PAPER_RULE, ConstructionRule, build_classification
from pytest_taskgraph.families.steps.next_step_samples import StepRecipe
from pytest_taskgraph.families.steps.recipe_sets import RecipeSet
from pytest_taskgraph.families.steps.recipe_sets.recipe_set import read_embedded_recipes
from pytest_taskgraph.families.steps.step_baselines import ngram_baseline
from pytest_taskgraph.families.steps.step_baselines.ngram_baseline import (
    NgramBaseline,
    NgramModel,
    train_model,
    tuned_threshold,
    word_tokens,
)
from pytest_taskgraph.families.steps.step_baselines.step_baseline import AskedCandidate, AskedChoice, AskedStep
from pytest_taskgraph.families.steps.steps_settings import StepsSettings
from pytest_taskgraph.trial import Request

EMBEDDED = read_embedded_recipes()
PASTA = ("Boil the water", "Add the pasta", "Drain the pasta", "Serve the pasta", "Wash the pot")
RICE = ("Rinse the rice", "Boil the rice", "Drain the rice", "Serve the rice", "Wash the pan")
TRAIN = (StepRecipe("pasta", "Pasta", PASTA), StepRecipe("rice", "Rice", RICE))
DEV = (StepRecipe("soup", "Soup", ("Boil the water", "Add the rice", "Serve the rice", "Wash the pot")),)


def recipes(**splits: tuple[StepRecipe, ...]) -> RecipeSet:
    return RecipeSet.of("food.com", splits)  # type: ignore[arg-type]


def trained(recipe_set: RecipeSet, rule: ConstructionRule = PAPER_RULE) -> tuple[NgramModel, float]:
    return train_model(recipe_set, rule, EMBEDDED)


def fingerprint(trained_model: tuple[NgramModel, float]) -> tuple[float, list[float]]:
    model, threshold = trained_model
    return threshold, model.logprobs(word_tokens(" . ".join((*PASTA, *RICE, *EMBEDDED.train[0].steps))))


def threshold_on(model: NgramModel, dev: tuple[StepRecipe, ...], rule: ConstructionRule) -> float:
    samples = [*build_classification(dev, rule)]
    perplexities = [
        model.perplexity(word_tokens(sample.candidate), word_tokens(" . ".join(sample.prefix) + " ."))
        for sample in samples
    ]
    return tuned_threshold(perplexities, [sample.label for sample in samples])


def test_train_model_learns_steps_joined_as_the_paper_joins_them() -> None:
    model, _ = trained(recipes(train=TRAIN, dev=DEV))
    expected = NgramModel([word_tokens(" . ".join(recipe.steps) + " .") for recipe in TRAIN])
    tokens = word_tokens("Boil the water . Drain the rice .")
    assert model.logprobs(tokens) == expected.logprobs(tokens)


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
    model, threshold = trained(EMBEDDED, rule)
    assert threshold == threshold_on(model, EMBEDDED.dev, rule)


def test_threshold_of_a_rule_without_questions_is_tuned_by_the_paper_s() -> None:
    model, threshold = trained(recipes(train=TRAIN, dev=DEV), ConstructionRule(first=9))
    assert threshold == threshold_on(model, DEV, PAPER_RULE)
    short = (StepRecipe("tea", "Tea", ("Boil the water", "Pour it")),)
    model, threshold = trained(recipes(train=TRAIN, dev=short))
    assert threshold == threshold_on(model, EMBEDDED.dev, PAPER_RULE)


def test_train_model_without_recipes_of_a_split_takes_the_stand_in() -> None:
    assert fingerprint(trained(recipes())) == fingerprint(trained(EMBEDDED))
    assert fingerprint(trained(recipes(dev=DEV))) == fingerprint(trained(recipes(train=EMBEDDED.train, dev=DEV)))
    assert fingerprint(trained(recipes(train=TRAIN))) == fingerprint(trained(recipes(train=TRAIN, dev=EMBEDDED.dev)))


def test_train_model_of_many_recipes_learns_from_a_draw_of_their_ids(monkeypatch: pytest.MonkeyPatch) -> None:
    many = tuple(replace(recipe, id=f"{recipe.id}-{number}") for recipe in EMBEDDED.train for number in range(3))
    everything = fingerprint(trained(recipes(train=many, dev=EMBEDDED.dev)))
    monkeypatch.setattr(ngram_baseline, "MOST_TRAINING", 20)
    few = fingerprint(trained(recipes(train=many, dev=EMBEDDED.dev)))
    assert few != everything
    assert few == fingerprint(trained(recipes(train=many[::-1], dev=EMBEDDED.dev)))


def test_train_model_of_long_recipes_learns_from_no_more_tokens(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ngram_baseline, "MOST_TOKENS", 25)
    # The tokens of the first recipe are 20, those of both 40.
    assert fingerprint(trained(recipes(train=TRAIN, dev=DEV))) == fingerprint(
        trained(recipes(train=TRAIN[:1], dev=DEV))
    )


def choose(model: NgramModel, threshold: float, step: AskedStep, monkeypatch: pytest.MonkeyPatch) -> str:
    """Return what the baseline answers with a model and a threshold."""
    monkeypatch.setattr(ngram_baseline, "train_model", lambda *_: (model, threshold))
    return NgramBaseline("n-gram", StepsSettings()).choose(step, Request())


def test_candidate_is_yes_up_to_the_threshold(monkeypatch: pytest.MonkeyPatch) -> None:
    model = NgramModel([word_tokens(" . ".join(PASTA) + " .")])
    step = AskedCandidate("Boil the water", "Add the pasta")
    limit = model.perplexity(["add", "the", "pasta"], ["boil", "the", "water", "."])
    assert choose(model, limit, step, monkeypatch) == "Yes"
    assert choose(model, limit * 0.999, step, monkeypatch) == "No"
    start = AskedCandidate("", "Boil the water")  # no full stop stands before the first step
    limit = model.perplexity(["boil", "the", "water"])
    assert choose(model, limit, start, monkeypatch) == "Yes"
    assert choose(model, limit * 0.999, start, monkeypatch) == "No"


def test_candidate_without_tokens_is_no(monkeypatch: pytest.MonkeyPatch) -> None:
    model = NgramModel([word_tokens(" . ".join(PASTA) + " .")])
    assert choose(model, 1e300, AskedCandidate("Boil the water", " "), monkeypatch) == "No"


@pytest.mark.parametrize(
    ("previous", "options", "answer"),
    [
        ("Boil the water", {"C": "Xyzzy", "D": "Add the pasta"}, "D"),
        ("Boil the water", {"A": "Xyzzy", "B": "Plugh"}, "tie"),
        ("Boil the water", {"A": "Add the pasta", "B": "add  the PASTA"}, "tie"),
        ("Boil the water", {"A": "Add the pasta", "B": "Zest lemon curd", "C": "Add the pasta"}, "tie"),
        ("Boil the water", {"A": "Zest lemon", "B": "Add the pasta", "C": "Zest lemon"}, "B"),
        ("", {"A": "", "B": "Saffron"}, "B"),
        ("", {"A": "", "B": ""}, "tie"),
    ],
)
def test_choice_is_the_letter_of_the_lowest_perplexity_alone(
    previous: str, options: dict[str, str], answer: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    model = NgramModel([word_tokens(" . ".join(PASTA) + " .")])
    assert choose(model, 1.0, AskedChoice(previous, options), monkeypatch) == answer


def test_choice_compares_means_over_the_whole_query(monkeypatch: pytest.MonkeyPatch) -> None:
    model = NgramModel([word_tokens(" . ".join(PASTA) + " .")])
    long, short = "Add the pasta . Drain the pasta", "Drain"
    longer, shorter = (word_tokens(f"Boil the water . {option}") for option in (long, short))
    assert sum(model.logprobs(longer)) < sum(model.logprobs(shorter))  # the sum of the longer one is lower
    assert choose(model, 1.0, AskedChoice("Boil the water", {"A": short, "B": long}), monkeypatch) == "B"
