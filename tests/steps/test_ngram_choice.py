"""The next step, chosen by perplexity."""

from __future__ import annotations

from math import exp, inf, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.benchmarks.steps.ngram.language_model import KneserNeyModel
from pytest_taskgraph.benchmarks.steps.ngram.perplexity_choice import (
    lowest_perplexity,
    step_perplexity,
    tuned_threshold,
)
from pytest_taskgraph.benchmarks.steps.ngram.word_tokens import word_tokens
from pytest_taskgraph.errors import UsageError

RECIPES = ["Boil water . Add pasta . Drain it", "Boil water . Add rice . Wait", "Heat oil . Add garlic . Stir it"]


@pytest.fixture(scope="module")
def model() -> KneserNeyModel:
    return KneserNeyModel().fit(word_tokens(recipe) for recipe in RECIPES)


def g_mean(threshold: float, perplexities: list[float], labels: list[bool]) -> float:
    """Return the G-mean of saying Yes up to a threshold."""
    verdicts = [value <= threshold for value in perplexities]
    sensitivity = sum(yes and label for yes, label in zip(verdicts, labels, strict=True)) / sum(labels)
    right_no = sum(not yes and not label for yes, label in zip(verdicts, labels, strict=True))
    return sqrt(sensitivity * right_no / (len(labels) - sum(labels)))


def test_lowest_perplexity_likely_and_unlikely_step_gives_the_likely(model: KneserNeyModel) -> None:
    assert lowest_perplexity(model, "Boil water .", ["Add pasta", "Drain garlic"]) == 0
    assert lowest_perplexity(model, "Boil water .", ["Drain garlic", "Wait", "Add pasta"]) == 2


def test_lowest_perplexity_compares_means_over_the_whole_query(model: KneserNeyModel) -> None:
    prefix, long, short = "Boil water .", "Add pasta . Drain it", "Drain"
    longer, shorter = (word_tokens(f"{prefix} {option}") for option in (long, short))
    assert sum(model.logprobs(longer)) < sum(model.logprobs(shorter))  # the sum of the longer one is lower
    assert lowest_perplexity(model, prefix, [short, long]) == 1


@pytest.mark.parametrize("options", [["Add salt", "add  SALT"], ["saffron", "turmeric"], []])
def test_lowest_perplexity_a_tie_or_no_option_gives_none(model: KneserNeyModel, options: list[str]) -> None:
    assert lowest_perplexity(model, "Boil water .", options) is None


def test_lowest_perplexity_tie_below_another_option_gives_none(model: KneserNeyModel) -> None:
    assert lowest_perplexity(model, "Boil water .", ["Add pasta", "zest lemon curd", "Add pasta"]) is None
    assert lowest_perplexity(model, "Boil water .", ["zest lemon", "Add pasta", "zest lemon"]) == 1


def test_lowest_perplexity_query_without_tokens_is_never_chosen(model: KneserNeyModel) -> None:
    assert lowest_perplexity(model, "", ["", "saffron"]) == 1
    assert lowest_perplexity(model, "", [""]) is None


def test_step_perplexity_counts_the_tokens_of_the_candidate_alone(model: KneserNeyModel) -> None:
    logprobs = model.logprobs(["add", "rice"], ["boil", "water", "."])
    assert step_perplexity(model, "Boil water .", "Add rice") == pytest.approx(exp(-sum(logprobs) / 2))
    assert step_perplexity(model, "Boil water .", "Add rice") < step_perplexity(model, "Add", "Add rice")


def test_step_perplexity_candidate_without_tokens_is_infinite(model: KneserNeyModel) -> None:
    assert step_perplexity(model, "Boil water .", " ") == inf


def test_tuned_threshold_separable_labels_lies_at_the_last_yes() -> None:
    assert tuned_threshold([9.0, 2.0, 3.0, 5.0], [False, True, True, False]) == 3.0


def test_tuned_threshold_equal_perplexities_are_taken_together() -> None:
    assert tuned_threshold([2.0, 2.0, 4.0], [True, False, False]) == 2.0


@given(st.lists(st.tuples(st.sampled_from([1.0, 2.0, 2.5, 7.0, inf]), st.booleans()), min_size=2))
def test_tuned_threshold_no_other_perplexity_has_a_larger_g_mean(rows: list[tuple[float, bool]]) -> None:
    perplexities, labels = [1.5, 4.0, *(value for value, _ in rows)], [True, False, *(label for _, label in rows)]
    threshold = tuned_threshold(perplexities, labels)
    best = max(g_mean(value, perplexities, labels) for value in perplexities)
    assert g_mean(threshold, perplexities, labels) == pytest.approx(best)
    assert all(g_mean(value, perplexities, labels) < best - 1e-12 for value in perplexities if value < threshold)


@pytest.mark.parametrize("label", [True, False])
def test_tuned_threshold_one_label_alone_is_an_error(label: bool) -> None:
    with pytest.raises(UsageError, match="give at least one of each"):
        tuned_threshold([1.0, 2.0], [label, label])
