"""The order of an n-gram model: the lowest that is about as good on development texts as any."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import exp, fsum
from typing import Final

from .language_model import DEFAULT_ORDER, KneserNeyModel

ORDERS: Final = range(1, 6)
NEGLIGIBLE: Final = 1.01  # a perplexity that is so many times the lowest is as good

Tokens = Sequence[str]


def perplexities_by_order(
    train: Sequence[Tokens], development: Sequence[Tokens], orders: Iterable[int] = ORDERS
) -> dict[int, float]:
    """Return the perplexity of all development texts together, for each order; empty if they have no tokens.

    It is exp(-mean of the log-probabilities of all their tokens) under a model of that order. Perplexities of different
    orders can be compared, because the vocabulary is the same.

    Args:
        train: The tokens of each training text.
        development: The tokens of each development text.
        orders: The orders.

    Raises:
        UsageError: if there is no training text.
    """
    size = sum(map(len, development))
    if not size:
        return {}
    means = {}
    for order in orders:
        model = KneserNeyModel(order).fit(train)
        means[order] = fsum(logprob for tokens in development for logprob in model.logprobs(tokens)) / size
    return {order: exp(-mean) for order, mean in means.items()}


def choose_order(perplexities: Mapping[int, float]) -> int:
    """Return the lowest order whose perplexity is at most 1 percent above the lowest perplexity; 3 if there is none.

    Longer n-grams that gain less than that cost time and memory, and the gain may be one of these texts alone.

    Args:
        perplexities: The perplexity of each order.
    """
    most = NEGLIGIBLE * min(perplexities.values(), default=0.0)
    return min((order for order, perplexity in perplexities.items() if perplexity <= most), default=DEFAULT_ORDER)


def tuned_order(train: Sequence[Tokens], development: Sequence[Tokens], orders: Iterable[int] = ORDERS) -> int:
    """Return the order that `choose_order` takes by the perplexities of the development texts.

    Args:
        train: The tokens of each training text.
        development: The tokens of each development text, none of them a test text; 3 is returned where they have none.
        orders: The orders to choose from, 1 to 5 unless given.

    Raises:
        UsageError: if there is no training text.
    """
    return choose_order(perplexities_by_order(train, development, orders))
