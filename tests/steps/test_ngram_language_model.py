"""The n-gram model, against hand-worked numbers and against the formula, computed anew for every token."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterable, Sequence
from math import exp, fsum, log
from pathlib import Path

import bounded_process
import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.benchmarks.steps.ngram.discounts import Discounts, estimate_discounts
from pytest_taskgraph.benchmarks.steps.ngram.language_model import KneserNeyModel
from pytest_taskgraph.errors import UsageError

ROOT = Path(__file__).resolve().parents[2]
START, END, UNKNOWN = "<start>", "<end>", "<unknown>"
HALF = Discounts(0.5, 0.5, 0.5)
PAIR = [["a", "b"], ["a", "c"]]
SENTENCES = (
    "boil the water . add the pasta . drain the pasta . serve",
    "heat the oil . add the garlic . add the pasta . serve hot",
    "heat the oven to 350 . mix the flour and the water . bake",
)
RECIPES = [sentence.split() for sentence in SENTENCES]
SCORED = ["add", "the", "water", "to", "the", "flour"]
SCRIPT = """
import sys
from pytest_taskgraph.benchmarks.steps.ngram.language_model import KneserNeyModel
texts = [line.split() for line in sys.stdin]
print(KneserNeyModel(3).fit(texts).logprobs(sys.argv[1:]))
"""

words = st.lists(st.sampled_from("abcd"), max_size=6)
corpora = st.lists(words, min_size=1, max_size=8)


def counted(grams: Iterable[tuple[str, ...]]) -> dict[tuple[str, ...], int]:
    counts: dict[tuple[str, ...], int] = {}
    for gram in grams:
        counts[gram] = counts.get(gram, 0) + 1
    return counts


class Formula:
    """The probabilities as the formula has them: slow, with marks that no text of these tests holds."""

    def __init__(self, texts: Sequence[Sequence[str]], order: int) -> None:
        padded = [[*[START] * (order - 1), *text, END] for text in texts]
        full = counted(tuple(text[at : at + order]) for text in padded for at in range(len(text) - order + 1))
        self.counts = {order: full}
        for length in range(order - 1, 0, -1):
            behind = {gram[-length - 1 :] for gram in full}  # different n-grams with one more token in front
            self.counts[length] = counted(gram[1:] for gram in sorted(behind))
        self.known = {token for text in texts for token in text}
        self.order = order

    def probability(self, token: str, context: Sequence[str]) -> float:
        near = [*[START] * (self.order - 1), *context][len(context) :] if self.order > 1 else []
        return self._behind(token if token in self.known | {END} else UNKNOWN, tuple(near))

    def _behind(self, token: str, context: tuple[str, ...]) -> float:
        counts = self.counts[len(context) + 1]
        row = {gram[-1]: count for gram, count in counts.items() if gram[:-1] == context}
        lower = self._behind(token, context[1:]) if context else 1 / (len(self.known) + 2)
        if not row:
            return lower
        off = estimate_discounts(counts.values())
        taken = {word: {1: off.once, 2: off.twice}.get(count, off.more) for word, count in row.items()}
        total = sum(row.values())
        return (row.get(token, 0) - taken.get(token, 0)) / total + sum(taken.values()) / total * lower


def distribution(model: KneserNeyModel, context: Sequence[str]) -> list[float]:
    """Return the probabilities of every word, of an unknown one, and of the end."""
    logprobs = [model.logprobs([word], context)[0] for word in [*model.vocabulary, UNKNOWN]]
    return [exp(value) for value in [*logprobs, model.end_logprob(context)]]


@pytest.mark.parametrize(
    ("tokens", "context", "probability"),
    [
        # Unigrams: a, b and c stand behind one token, the end behind two; the weight of 1/5 is 0.5 * 4 / 5.
        ("b", "z", 0.5 / 5 + 0.4 / 5),
        ("z", "z", 0.4 / 5),
        ("a", "", 1.5 / 2 + 0.5 * 1 / 2 * 0.18),
        ("b", "", 0.25 * 0.18),
        ("b", "a", 0.5 / 2 + 0.5 * 2 / 2 * 0.18),
        ("z", "a", 0.5 * 0.08),
    ],
)
def test_logprobs_bigrams_are_those_worked_out_by_hand(tokens: str, context: str, probability: float) -> None:
    model = KneserNeyModel(2, [HALF, HALF]).fit(PAIR)
    assert model.logprobs(tokens.split(), context.split()) == [pytest.approx(log(probability))]


def test_end_logprob_bigrams_is_the_one_worked_out_by_hand() -> None:
    model = KneserNeyModel(2, [HALF, HALF]).fit(PAIR)
    assert model.end_logprob(["b"]) == pytest.approx(log(0.5 / 1 + 0.5 * (1.5 / 5 + 0.4 / 5)))


def test_logprobs_unigrams_have_the_discount_of_their_count() -> None:
    model = KneserNeyModel(1, [Discounts(0.5, 1.0, 1.5)]).fit([["a", "b", "a", "c", "b", "a"]])
    # The counts are 3, 2, 1, and 1 of the end; the weight of 1/5 is (0.5 * 2 + 1.0 + 1.5) / 7 = 0.5.
    expected = [1.5 / 7 + 0.1, 1 / 7 + 0.1, 0.5 / 7 + 0.1, 0.1]
    assert [exp(value) for value in model.logprobs(["a", "b", "c", "z"])] == pytest.approx(expected)


def test_perplexity_text_of_two_words_is_the_one_worked_out_by_hand() -> None:
    model = KneserNeyModel(2, [HALF, HALF]).fit(PAIR)
    assert model.perplexity(["a", "b"]) == pytest.approx((0.795 * 0.34) ** -0.5)
    assert model.perplexity(["b"], ["a"]) == pytest.approx(1 / 0.34)


def test_perplexity_text_without_tokens_is_none() -> None:
    assert KneserNeyModel().fit(RECIPES).perplexity([], ["heat"]) is None


@given(corpora, st.integers(1, 4), words, st.sampled_from("abcde"))
def test_logprobs_any_texts_are_those_of_the_formula(
    texts: list[list[str]], order: int, context: list[str], token: str
) -> None:
    model, formula = KneserNeyModel(order).fit(texts), Formula(texts, order)
    assert exp(model.logprobs([token], context)[0]) == pytest.approx(formula.probability(token, context))
    assert exp(model.end_logprob(context)) == pytest.approx(formula.probability(END, context))


@given(corpora, st.integers(1, 5), st.lists(st.sampled_from("abcde"), max_size=5))
def test_probabilities_behind_any_context_sum_to_one(texts: list[list[str]], order: int, context: list[str]) -> None:
    probabilities = distribution(KneserNeyModel(order).fit(texts), context)
    assert fsum(probabilities) == pytest.approx(1.0, abs=1e-9)
    assert min(probabilities) > 0.0


@given(corpora, st.integers(1, 4), words, words)
def test_logprobs_of_a_whole_text_are_those_of_its_parts(
    texts: list[list[str]], order: int, first: list[str], second: list[str]
) -> None:
    model = KneserNeyModel(order).fit(texts)
    assert model.logprobs(first + second) == model.logprobs(first) + model.logprobs(second, first)


@given(corpora, st.integers(1, 4), words, st.randoms(use_true_random=False))
def test_fit_texts_in_another_order_give_the_same_numbers(
    texts: list[list[str]], order: int, tokens: list[str], rng: random.Random
) -> None:
    shuffled = rng.sample(texts, len(texts))
    assert KneserNeyModel(order).fit(shuffled).logprobs(tokens) == KneserNeyModel(order).fit(texts).logprobs(tokens)


def test_logprobs_of_words_never_seen_are_all_equal_and_finite() -> None:
    model = KneserNeyModel().fit(RECIPES)
    first, second, *_ = (model.logprobs([word], ["add", "the"])[0] for word in ("saffron", "ω", "add"))
    assert first == second
    assert -20 < first < model.logprobs(["pasta"], ["add", "the"])[0] < 0


@pytest.mark.parametrize("mark", ["<s>", "</s>", "<unk>", "", START, END, UNKNOWN])
def test_fit_words_that_look_like_marks_are_ordinary_words(mark: str) -> None:
    model, plain = (KneserNeyModel().fit([["add", word, "now"], ["add", word]]) for word in (mark, "salt"))
    assert model.logprobs([mark, "now"], ["add"]) == plain.logprobs(["salt", "now"], ["add"])
    assert model.vocabulary == ("add", mark, "now")


def test_fit_called_again_forgets_the_first_texts() -> None:
    model = KneserNeyModel(2).fit(RECIPES).fit(PAIR)
    assert model.vocabulary == ("a", "b", "c")
    assert model.logprobs(["a", "heat"]) == KneserNeyModel(2).fit(PAIR).logprobs(["a", "heat"])


def test_discounts_of_a_fitted_model_are_estimated_for_each_length() -> None:
    model = KneserNeyModel(2).fit(RECIPES)
    formula = Formula(RECIPES, 2)
    assert model.discounts == tuple(estimate_discounts(formula.counts[length].values()) for length in (1, 2))
    assert KneserNeyModel(2, [HALF, HALF]).fit(RECIPES).discounts == (HALF, HALF)
    assert KneserNeyModel(2).discounts == ()


def test_perplexity_of_training_texts_is_lower_than_of_shuffled_ones() -> None:
    model = KneserNeyModel().fit(RECIPES)
    for tokens in RECIPES:
        own, shuffled = model.perplexity(tokens), model.perplexity(sorted(tokens))
        assert own is not None
        assert shuffled is not None
        assert own < shuffled / 2


@pytest.mark.parametrize("seed", ["0", "1"])
def test_logprobs_any_hash_seed_gives_the_same_digits(seed: str) -> None:
    environment = {**os.environ, "PYTHONHASHSEED": seed, "PYTHONPATH": str(ROOT)}
    done = bounded_process.run([sys.executable, "-c", SCRIPT, *SCORED], env=environment, stdin="\n".join(SENTENCES))
    assert done.stdout.strip() == str(KneserNeyModel(3).fit(RECIPES).logprobs(SCORED))


@pytest.mark.parametrize("order", [0, -1, 11])
def test_model_of_impossible_order_is_an_error(order: int) -> None:
    with pytest.raises(UsageError, match=rf"^the order of an n-gram model is {order}; expected 1 to 10$"):
        KneserNeyModel(order)


def test_model_with_too_few_discounts_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"^an n-gram model of order 3 got 2 discounts; expected 3$"):
        KneserNeyModel(3, [HALF, HALF])


def test_fit_without_texts_is_an_error() -> None:
    with pytest.raises(UsageError, match=r"^an n-gram model got no training text"):
        KneserNeyModel().fit([])


def test_logprobs_after_a_fit_that_failed_are_an_error() -> None:
    model = KneserNeyModel().fit(RECIPES)
    with pytest.raises(UsageError):
        model.fit([])
    with pytest.raises(UsageError, match=r"^the n-gram model is not trained"):
        model.logprobs(["heat"])


def test_logprobs_before_fit_are_an_error() -> None:
    with pytest.raises(UsageError, match=r"^the n-gram model is not trained; call `fit`"):
        KneserNeyModel().logprobs(["heat"])
