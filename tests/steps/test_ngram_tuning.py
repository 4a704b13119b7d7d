"""The order of the n-gram model that is best on development texts."""

from __future__ import annotations

from math import exp
from random import Random

import pytest

from pytest_taskgraph.benchmarks.steps.ngram.language_model import KneserNeyModel
from pytest_taskgraph.benchmarks.steps.ngram.order_tuning import choose_order, perplexities_by_order, tuned_order
from pytest_taskgraph.errors import UsageError


def drawn_texts(seed: str, texts: int) -> list[list[str]]:
    """Return texts of 15 words, each of them decided by the two words before it in four of five places."""
    rng = Random(seed)
    all_texts = []
    for _ in range(texts):
        numbers = [rng.randrange(12), rng.randrange(12)]
        for _ in range(13):
            decided = rng.random() < 0.8
            numbers.append((numbers[-1] + 3 * numbers[-2]) % 12 if decided else rng.randrange(12))
        all_texts.append([f"w{number}" for number in numbers])
    return all_texts


TRAIN, DEVELOPMENT = drawn_texts("train", 300), drawn_texts("development", 30)


def test_tuned_order_words_that_depend_on_two_before_is_three() -> None:
    assert tuned_order(TRAIN, DEVELOPMENT) == 3


def test_tuned_order_words_in_no_order_is_one() -> None:
    train = [[first, second] for first in "abcdef" for second in "abcdef" if first < second]
    assert tuned_order(train, [["f", "a"], ["e", "b"], ["d", "c"]]) == 1


@pytest.mark.parametrize(
    ("perplexities", "order"),
    [
        ({1: 288.0, 2: 140.0, 3: 129.7, 4: 129.4, 5: 129.3}, 3),  # 5 gains 0.3 percent over 3
        ({2: 101.0, 3: 100.0}, 2),
        ({2: 101.1, 3: 100.0}, 3),
        ({4: 50.0, 2: 50.0, 3: 50.0}, 2),
        ({2: 90.0, 3: 100.0}, 2),
        ({}, 3),
    ],
)
def test_choose_order_is_the_lowest_within_one_percent(perplexities: dict[int, float], order: int) -> None:
    assert choose_order(perplexities) == order


def test_tuned_order_given_orders_chooses_among_them() -> None:
    assert tuned_order(TRAIN, DEVELOPMENT, orders=(2, 1)) == 2


@pytest.mark.parametrize("development", [[], [[], []]])
def test_tuned_order_no_development_tokens_is_the_default(development: list[list[str]]) -> None:
    assert tuned_order(TRAIN, development, orders=(1, 2)) == 3


def test_perplexities_by_order_are_over_all_tokens_together() -> None:
    development = [["w1", "w2", "w5"], ["unknown"]]
    model = KneserNeyModel(2).fit(TRAIN)
    logprobs = [*model.logprobs(development[0]), *model.logprobs(development[1])]
    perplexities = perplexities_by_order(TRAIN, development, orders=[2])
    assert perplexities == {2: pytest.approx(exp(-sum(logprobs) / 4))}


def test_tuned_order_without_training_texts_is_an_error() -> None:
    with pytest.raises(UsageError, match="no training text"):
        tuned_order([], DEVELOPMENT)
