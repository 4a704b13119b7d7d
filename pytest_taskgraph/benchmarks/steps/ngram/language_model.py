"""An n-gram language model with interpolated, modified Kneser-Ney smoothing (Chen and Goodman 1999)."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from math import fsum, log
from typing import Final, Self

from ....errors import UsageError
from ....trial import TextScore
from .discounts import Discounts, estimate_discounts

DEFAULT_ORDER: Final = 3
HIGHEST_ORDER: Final = 10

# Tokens are numbered, so that none of a text can be taken for one of these.
_START, _END, _UNKNOWN, _FIRST = range(4)
_Gram = tuple[int, ...]


class KneserNeyModel:
    """A model that gives a probability to every token, by the order - 1 tokens before it.

    With h, the tokens before the token w, and h', the same without the first of them:

        p(w | h) = (c(h w) - D(c(h w))) / c(h .) + g(h) p(w | h')
        g(h)     = (D_1 N_1(h .) + D_2 N_2(h .) + D_3 N_3(h .)) / c(h .)

    c(h .) is the sum of c(h w) over all w, N_k(h .) the number of the w with c(h w) = k (N_3: 3 or more), D the
    discounts of the length of h w (`estimate_discounts`), and D(0) = 0. Where c(h .) = 0, p(w | h) = p(w | h'). For
    n-grams of the full length, c is how often they occur; for shorter ones it is the number of different tokens that
    they occur behind (Chen and Goodman 1999, "Modified Kneser-Ney smoothing"). Below the unigrams stands the uniform
    distribution over the vocabulary.

    The vocabulary holds the tokens of the training texts, the end of a text, and an unknown word, which every other
    token is taken for. So the probabilities behind any context sum to 1, and none is 0. Before a text stand order - 1
    start marks, which are never predicted.

    The probabilities depend on the training texts alone, not on their order. They are all computed by `fit`: a token is
    scored by a few look-ups. A model holds about 350 bytes for each different n-gram of any length.

    Args:
        order: The length of the longest n-grams, 1 to 10.
        discounts: The discounts of the unigrams, of the bigrams, and so on; estimated from the counts unless given.

    Raises:
        UsageError: if the order is out of its range, or there are not as many discounts.
    """

    def __init__(self, order: int = DEFAULT_ORDER, discounts: Sequence[Discounts] | None = None) -> None:
        if not 1 <= order <= HIGHEST_ORDER:
            raise UsageError(f"the order of an n-gram model is {order}; expected 1 to {HIGHEST_ORDER}")
        if discounts is not None and len(discounts) != order:
            raise UsageError(f"an n-gram model of order {order} got {len(discounts)} discounts; expected {order}")
        self.order = order
        self._given = discounts
        self._used: tuple[Discounts, ...] = ()
        self._numbers: dict[str, int] = {}
        self._logprobs: dict[_Gram, float] = {}
        self._weights: dict[_Gram, float] = {}  # log g(h), by h

    @property
    def vocabulary(self) -> tuple[str, ...]:
        """The different tokens of the training texts, in the order of their first occurrence."""
        return tuple(self._numbers)

    @property
    def discounts(self) -> tuple[Discounts, ...]:
        """The discounts that were used: of the unigrams, of the bigrams, and so on; none before `fit`."""
        return self._used

    def fit(self, texts: Iterable[Sequence[str]]) -> Self:
        """Train the model, from nothing, and return it.

        Args:
            texts: The tokens of each training text.

        Raises:
            UsageError: if there is no text.
        """
        self._numbers, self._logprobs, self._weights = {}, {}, {}
        by_length = _counts_by_length(self._count(texts), self.order)
        if not by_length[0]:
            raise UsageError("an n-gram model got no training text; give it at least one")
        self._used = tuple(self._given or (estimate_discounts(counts.values()) for counts in by_length))
        uniform = 1.0 / (len(self._numbers) + 2)
        shorter: dict[_Gram, float] = {(): uniform}
        for counts, discounts in zip(by_length, self._used, strict=True):
            contexts = _contexts(counts, discounts)
            shorter = _interpolated(counts, discounts, contexts, shorter)
            self._logprobs |= {gram: log(probability) for gram, probability in shorter.items()}
            self._weights |= {context: log(weight) for context, (_, weight) in contexts.items()}
        self._logprobs[(_UNKNOWN,)] = self._weights[()] + log(uniform)
        return self

    def logprobs(self, tokens: Sequence[str], context: Sequence[str] = ()) -> list[float]:
        """Return the natural logarithm of the probability of each token, behind those before it.

        Args:
            tokens: The tokens of a text.
            context: The tokens before them, from the start of the text on; those next to the text are enough.

        Raises:
            UsageError: if the model is not trained.
        """
        return [self._logprob(gram) for gram in self._grams(tokens, context)]

    def end_logprob(self, context: Sequence[str]) -> float:
        """Return the natural logarithm of the probability that a text ends behind the given tokens.

        Raises:
            UsageError: if the model is not trained.
        """
        (gram,) = self._grams([""], context)
        return self._logprob((*gram[:-1], _END))

    def perplexity(self, tokens: Sequence[str], context: Sequence[str] = ()) -> float | None:
        """Return the perplexity of a text, exp(-mean of the log-probabilities); None if it has no tokens.

        The end of the text is not part of it.

        Raises:
            UsageError: if the model is not trained.
        """
        logprobs = self.logprobs(tokens, context)
        return TextScore(fsum(logprobs), len(logprobs), None).perplexity

    def _count(self, texts: Iterable[Sequence[str]]) -> Counter[_Gram]:
        """Return how often each n-gram of the full length occurs, and assign a number to each token."""
        numbers, counts = self._numbers, Counter[_Gram]()
        for tokens in texts:
            text = [_START] * (self.order - 1)
            text += [numbers.setdefault(token, len(numbers) + _FIRST) for token in tokens]
            text.append(_END)
            counts.update(zip(*(text[at:] for at in range(self.order)), strict=False))
        return counts

    def _grams(self, tokens: Sequence[str], context: Sequence[str]) -> Iterable[_Gram]:
        """Return the n-gram of the full length that ends in each of the tokens."""
        if not self._logprobs:
            raise UsageError("the n-gram model is not trained; call `fit` before it scores a text")
        before = self.order - 1
        near = context[max(0, len(context) - before) :]
        text = [_START] * (before - len(near))
        text += [self._numbers.get(token, _UNKNOWN) for part in (near, tokens) for token in part]
        return zip(*(text[at:] for at in range(self.order)), strict=False)

    def _logprob(self, gram: _Gram) -> float:
        weight = 0.0
        while (logprob := self._logprobs.get(gram)) is None:
            weight += self._weights.get(gram[:-1], 0.0)
            gram = gram[1:]
        return weight + logprob


def _counts_by_length(counts: Counter[_Gram], order: int) -> list[Counter[_Gram]]:
    """Return the counts of the unigrams, of the bigrams, and so on.

    Args:
        counts: How often each n-gram of the full length occurs.
        order: The full length.
    """
    by_length = [counts]
    for _ in range(order - 1):
        by_length.append(Counter(gram[1:] for gram in by_length[-1]))
    return by_length[::-1]


def _contexts(counts: Mapping[_Gram, int], discounts: Discounts) -> dict[_Gram, tuple[int, float]]:
    """Return the total count c(h .) and the weight of the shorter n-grams g(h) of each context.

    Args:
        counts: The n-grams of one length.
        discounts: Their discounts.
    """
    rows: defaultdict[_Gram, list[int]] = defaultdict(lambda: [0, 0, 0, 0])  # c(h .), N_1(h .), N_2(h .), N_3(h .)
    for gram, count in counts.items():
        row = rows[gram[:-1]]
        row[0] += count
        row[min(count, 3)] += 1
    once, twice, more = discounts.once, discounts.twice, discounts.more
    return {
        context: (total, (once * ones + twice * twos + more * others) / total)
        for context, (total, ones, twos, others) in rows.items()
    }


def _interpolated(
    counts: Mapping[_Gram, int],
    discounts: Discounts,
    contexts: Mapping[_Gram, tuple[int, float]],
    shorter: Mapping[_Gram, float],
) -> dict[_Gram, float]:
    """Return the probability of the last token of each n-gram behind the others.

    Args:
        counts: The n-grams of one length.
        discounts: Their discounts.
        contexts: The total count and the weight of the shorter n-grams, of each context.
        shorter: The probabilities of the n-grams that are one token shorter; below the unigrams, that of any token.
    """
    off, probabilities = discounts.by_count, {}
    for gram, count in counts.items():
        total, weight = contexts[gram[:-1]]
        probabilities[gram] = (count - off[min(count, 3)]) / total + weight * shorter[gram[1:]]
    return probabilities
