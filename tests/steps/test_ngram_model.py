"""The n-gram model, against hand-worked numbers and against the formula, computed anew for every token."""

from __future__ import annotations

import random
from collections.abc import Sequence
from math import exp, fsum, inf, log, sqrt

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.families.steps.step_baselines.ngram_baseline import NgramModel, tuned_threshold, word_tokens

UNKNOWN = "<unknown>"
PAIR = [["a", "b"], ["a", "c"]]
RECIPES = [
    sentence.split()
    for sentence in (
        "boil the water . add the pasta . drain the pasta . serve",
        "heat the oil . add the garlic . add the pasta . serve hot",
        "heat the oven to 350 . mix the flour and the water . bake",
    )
]

words = st.lists(st.sampled_from("abcd"), max_size=6)
corpora = st.lists(words, min_size=1, max_size=8)
discounts = st.sampled_from([0.1, 0.5, 0.75, 1.0])


def formula(texts: Sequence[Sequence[str]], discount: float, token: str, context: Sequence[str]) -> float:
    """Return the probability as the formula has it: slow, by a search through all texts for each context.

    The start marks stand in the texts and the context already.
    """
    known = {word for text in texts for word in text if word != "<start>"}
    behind = [
        text[at]
        for text in texts
        for at in range(len(context), len(text))
        if [*text[at - len(context) : at]] == [*context] and text[at] != "<start>"
    ]
    shorter = formula(texts, discount, token, context[1:]) if context else 1 / (len(known) + 1)
    if not behind:
        return shorter
    kept = max(behind.count(token) - discount, 0)
    return kept / len(behind) + discount * len({*behind}) / len(behind) * shorter


# Unigrams of PAIR: a twice, b and c once each. With D = 0.5 the weight of 1/4 is 0.5 * 3 / 4.
A, B, Z = 1.5 / 4 + 0.375 / 4, 0.5 / 4 + 0.375 / 4, 0.375 / 4


@pytest.mark.parametrize(
    ("tokens", "context", "probability"),
    [
        ("b", "z", B),
        ("z", "z", Z),
        ("a", "", 1.5 / 2 + 0.25 * A),  # every text begins with a
        ("b", "", 0.25 * B),
        ("b", "a", 0.5 / 2 + 0.5 * B),  # b once and c once behind a
        ("z", "a", 0.5 * Z),
        ("a", "b", A),  # nothing stands behind b
    ],
)
def test_logprobs_bigrams_are_those_worked_out_by_hand(tokens: str, context: str, probability: float) -> None:
    model = NgramModel(PAIR, 2, 0.5)
    assert model.logprobs(tokens.split(), context.split()) == [pytest.approx(log(probability))]


def test_logprobs_unigrams_are_those_worked_out_by_hand() -> None:
    model = NgramModel([["a", "b", "a", "c", "b", "a"]], 1, 0.5)
    # The counts are 3, 2 and 1; the weight of 1/4 is 0.5 * 3 / 6.
    expected = [2.5 / 6 + 0.0625, 1.5 / 6 + 0.0625, 0.5 / 6 + 0.0625, 0.0625]
    assert [exp(value) for value in model.logprobs(["a", "b", "c", "z"])] == pytest.approx(expected)


def test_perplexity_text_of_two_words_is_the_one_worked_out_by_hand() -> None:
    model = NgramModel(PAIR, 2, 0.5)
    first, second = 1.5 / 2 + 0.25 * A, 0.5 / 2 + 0.5 * B
    assert model.perplexity(["a", "b"]) == pytest.approx((first * second) ** -0.5)
    assert model.perplexity(["b"], ["a"]) == pytest.approx(1 / second)


def test_perplexity_text_without_tokens_is_infinite() -> None:
    assert NgramModel(RECIPES).perplexity([], ["heat"]) == inf


@given(corpora, st.integers(1, 4), discounts, words, st.sampled_from("abcde"))
def test_logprobs_any_texts_are_those_of_the_formula(
    texts: list[list[str]], order: int, discount: float, context: list[str], token: str
) -> None:
    starts = ["<start>"] * (order - 1)
    near = [*starts, *context][len(context) :]
    expected = formula([[*starts, *text] for text in texts], discount, token, near)
    (logprob,) = NgramModel(texts, order, discount).logprobs([token], context)
    assert exp(logprob) == pytest.approx(expected)


@given(corpora, st.integers(1, 5), discounts, st.lists(st.sampled_from("abcde"), max_size=5))
def test_probabilities_behind_any_context_sum_to_one(
    texts: list[list[str]], order: int, discount: float, context: list[str]
) -> None:
    model, known = NgramModel(texts, order, discount), sorted({word for text in texts for word in text})
    probabilities = [exp(model.logprobs([word], context)[0]) for word in [*known, UNKNOWN]]
    assert fsum(probabilities) == pytest.approx(1.0, abs=1e-9)
    assert min(probabilities) > 0.0


@given(corpora, st.integers(1, 4), words, words)
def test_logprobs_of_a_whole_text_are_those_of_its_parts(
    texts: list[list[str]], order: int, first: list[str], second: list[str]
) -> None:
    model = NgramModel(texts, order)
    assert model.logprobs(first + second) == model.logprobs(first) + model.logprobs(second, first)


@given(corpora, st.integers(1, 4), words, st.randoms(use_true_random=False))
def test_model_texts_in_another_order_give_the_same_numbers(
    texts: list[list[str]], order: int, tokens: list[str], rng: random.Random
) -> None:
    shuffled = rng.sample(texts, len(texts))
    assert NgramModel(shuffled, order).logprobs(tokens) == NgramModel(texts, order).logprobs(tokens)


def test_logprobs_of_words_never_seen_are_all_equal_and_finite() -> None:
    model = NgramModel(RECIPES)
    first, second = (model.logprobs([word], ["add", "the"])[0] for word in ("saffron", "ω"))
    assert first == second
    assert -20 < first < model.logprobs(["pasta"], ["add", "the"])[0] < 0


@pytest.mark.parametrize("mark", ["<s>", "</s>", "<unk>", UNKNOWN])
def test_model_words_that_look_like_marks_are_ordinary_words(mark: str) -> None:
    model, plain = (NgramModel([["add", word, "now"], ["add", word]]) for word in (mark, "salt"))
    assert model.logprobs([mark, "now"], ["add"]) == plain.logprobs(["salt", "now"], ["add"])


def test_perplexity_of_training_texts_is_lower_than_of_shuffled_ones() -> None:
    model = NgramModel(RECIPES)
    assert all(model.perplexity(tokens) < model.perplexity(sorted(tokens)) / 2 for tokens in RECIPES)


# Tokens.


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Boil the Water .", ["boil", "the", "water", "."]),
        ("Heat,then stir!", ["heat", ",", "then", "stir", "!"]),
        ("don't over-mix", ["don", "'", "t", "over", "-", "mix"]),
        ("Bake at 350F, 1/2 cup", ["bake", "at", "350f", ",", "1", "/", "2", "cup"]),
        ("step_one 180°", ["step_one", "180", "°"]),
        ("crème BRÛLÉE", ["crème", "brûlée"]),
        (" \t\n\u3000", []),
    ],
)
def test_word_tokens_kinds_of_characters_are_split_as_documented(text: str, tokens: list[str]) -> None:
    assert word_tokens(text) == tokens


@given(st.text())
def test_word_tokens_any_text_keeps_all_but_white_space(text: str) -> None:
    tokens = word_tokens(text)
    assert "".join(tokens) == "".join(text.lower().split())
    assert all(tokens)


@given(st.text(alphabet="ab1.,'_ -"), st.text(alphabet="ab1.,'_ -"))
def test_word_tokens_texts_joined_by_a_space_are_tokenised_apart(first: str, second: str) -> None:
    assert word_tokens(f"{first} {second}") == word_tokens(first) + word_tokens(second)


# The threshold.


def g_mean(threshold: float, perplexities: list[float], labels: list[bool]) -> float:
    """Return the G-mean of saying Yes up to a threshold."""
    verdicts = [value <= threshold for value in perplexities]
    sensitivity = sum(yes and label for yes, label in zip(verdicts, labels, strict=True)) / sum(labels)
    right_no = sum(not yes and not label for yes, label in zip(verdicts, labels, strict=True))
    return sqrt(sensitivity * right_no / (len(labels) - sum(labels)))


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
