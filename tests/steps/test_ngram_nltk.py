"""The n-gram model against nltk.lm, where nltk's probabilities are a distribution.

nltk has one discount, none for unigrams, and no unknown word. Its own padding is not used: it makes start marks words
that follow start marks (see the package `ngram`), and ends a text in several end marks.
"""

from __future__ import annotations

from importlib import import_module
from math import exp
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.benchmarks.steps.ngram.discounts import Discounts
from pytest_taskgraph.benchmarks.steps.ngram.language_model import KneserNeyModel

NLTK_MODEL = import_module("nltk.lm").KneserNeyInterpolated
GRAMS = import_module("nltk.util").everygrams
START, END = "<s>", "</s>"
TINY = Discounts(1e-12, 1e-12, 1e-12)

words = st.lists(st.sampled_from("abcd"), max_size=7)
corpora = st.lists(words, min_size=1, max_size=8)
discounts = st.sampled_from([0.1, 0.5, 0.75, 0.9])


def nltk_model(texts: list[list[str]], order: int, discount: float) -> Any:  # noqa: ANN401 - nltk has no types
    model = NLTK_MODEL(order, discount=discount)
    padded = ([*[START] * (order - 1), *text, END] for text in texts)
    grams = ([gram for gram in GRAMS(text, max_len=order) if gram[-1] != START] for text in padded)
    model.fit(grams, [START, END, *(word for text in texts for word in text)])
    return model


def own_model(texts: list[list[str]], order: int, discount: float) -> KneserNeyModel:
    alike = Discounts(discount, discount, discount)
    return KneserNeyModel(order, [TINY, *[alike] * (order - 1)]).fit(texts)


@given(corpora, st.integers(2, 4), discounts, words)
def test_probability_of_known_words_is_that_of_nltk(
    texts: list[list[str]], order: int, discount: float, context: list[str]
) -> None:
    own, peer = own_model(texts, order, discount), nltk_model(texts, order, discount)
    near = [*[START] * (order - 1), *context][len(context) :]
    for word in own.vocabulary:
        assert exp(own.logprobs([word], context)[0]) == pytest.approx(peer.score(word, near), abs=1e-9)
    assert exp(own.end_logprob(context)) == pytest.approx(peer.score(END, near), abs=1e-9)


def test_perplexity_of_a_recipe_is_that_of_nltk() -> None:
    sentences = (
        "boil the water . add the pasta . drain the pasta .",
        "heat the oil . add the garlic . add the pasta .",
    )
    texts = [sentence.split() for sentence in sentences]
    text = ["heat", "the", "water", ".", "add", "the", "garlic"]
    padded = [START, START, *text]
    peer = nltk_model(texts, 3, 0.75)
    expected = peer.perplexity([tuple(padded[at : at + 3]) for at in range(len(text))])
    assert own_model(texts, 3, 0.75).perplexity(text) == pytest.approx(expected)
