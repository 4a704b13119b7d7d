"""ROUGE as the package rouge-score computes it, and the F-measure of a precision and a recall.

Tokens are the runs of a-z and 0-9 in the lower-cased text, without a stemmer; n-gram hits are clipped counts; L is the
longest common subsequence of the whole text. Precision is over the n-grams of the given text, recall over those of the
reference; a share of nothing is 0. A text in another script than the Latin one has no tokens.

Beside it stands the cosine of two embeddings.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence

from ..trial import Json

_TOKEN = re.compile(r"[a-z0-9]+")


def tokens(text: Json) -> list[str]:
    """Return the words of a text as ROUGE counts them; an empty list for other JSON."""
    return _TOKEN.findall(text.lower()) if isinstance(text, str) else []


def ngram_shares(given: Sequence[str], reference: Sequence[str], size: int) -> tuple[float, float]:
    """Return precision and recall of the n-grams of that size, with clipped counts."""
    ours, theirs = Counter(_ngrams(given, size)), Counter(_ngrams(reference, size))
    return _shares((ours & theirs).total(), ours.total(), theirs.total())


def subsequence_shares(given: Sequence[str], reference: Sequence[str]) -> tuple[float, float]:
    """Return precision and recall of the longest common subsequence of tokens."""
    from rapidfuzz.distance import LCSseq

    return _shares(LCSseq.similarity(given, reference), len(given), len(reference))


def f_beta(precision: float, recall: float, beta: float = 1.0) -> float:
    """Return the F-measure, in which recall weighs `beta` times as much as precision; 0.0 if both are 0."""
    weight = beta * beta
    return (1 + weight) * precision * recall / (weight * precision + recall) if precision + recall else 0.0


def _ngrams(words: Sequence[str], size: int) -> list[tuple[str, ...]]:
    return [tuple(words[at : at + size]) for at in range(len(words) - size + 1)]


def _shares(hits: int, given: int, reference: int) -> tuple[float, float]:
    return (hits / given if given else 0.0, hits / reference if reference else 0.0)


def cosine(vectors: Sequence[Sequence[float]]) -> float | None:
    """Return the cosine of the angle between two vectors, clipped to 0.0 to 1.0; None for one of length 0."""
    ours, theirs = (_unit(vector) for vector in vectors)
    if not ours or not theirs:
        return None
    return min(1.0, max(0.0, math.fsum(a * b for a, b in zip(ours, theirs, strict=True))))


def _unit(vector: Sequence[float]) -> list[float]:
    """Return the vector scaled to length 1; an empty list for a vector of length 0.

    The vector is divided by its largest part first, so that no part underflows.
    """
    largest = max(map(abs, vector), default=0.0)
    scaled = [part / largest for part in vector] if largest else []
    return [part / math.hypot(*scaled) for part in scaled]
