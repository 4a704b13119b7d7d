"""How far two texts agree in words: ROUGE-1, -2 and -L as the package rouge-score gives them (metrics-spec, section 5).

Tokens are the runs of a-z and 0-9 in the lower-cased text, without a stemmer; n-gram hits are clipped counts; L is the
longest common subsequence of the whole text. The value is F1; the recall of ROUGE-1 is beside it, for the study's first
runs were scored by it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from itertools import pairwise

from ...trial import Json

_TOKEN = re.compile(r"[a-z0-9]+")


def rouge1(given: Json, reference: Json) -> float:
    """F1 of the words, 0.0 to 1.0; 0.0 where either text has none."""
    return _f1(*_clipped([(word,) for word in tokens(given)], [(word,) for word in tokens(reference)]))


def rouge1_recall(given: Json, reference: Json) -> float:
    """The share of the reference's words that are in the given text, 0.0 to 1.0; 0.0 where there are none."""
    _, recall = _clipped([(word,) for word in tokens(given)], [(word,) for word in tokens(reference)])
    return recall


def rouge2(given: Json, reference: Json) -> float:
    """F1 of the pairs of neighbouring words, 0.0 to 1.0; 0.0 where either text has none."""
    return _f1(*_clipped(list(pairwise(tokens(given))), list(pairwise(tokens(reference)))))


def rouge_l(given: Json, reference: Json) -> float:
    """F1 of the longest common subsequence of words, 0.0 to 1.0; 0.0 where either text has none."""
    from rapidfuzz.distance import LCSseq

    words, right = tokens(given), tokens(reference)
    return _f1(*_shares(LCSseq.similarity(words, right), len(words), len(right)))


def tokens(text: Json) -> list[str]:
    """The words of a text as ROUGE counts them; none of an answer that is no text."""
    return _TOKEN.findall(text.lower()) if isinstance(text, str) else []


def _clipped(given: Sequence[tuple[str, ...]], reference: Sequence[tuple[str, ...]]) -> tuple[float, float]:
    """Precision and recall of n-grams, each counted as often as it stands in both."""
    return _shares((Counter(given) & Counter(reference)).total(), len(given), len(reference))


def _shares(hits: int, given: int, reference: int) -> tuple[float, float]:
    return (hits / given if given else 0.0, hits / reference if reference else 0.0)


def _f1(precision: float, recall: float) -> float:
    return 2 * precision * recall / (precision + recall) if precision + recall else 0.0
