"""Agreement of two texts: ROUGE-1, -2 and -L as the package rouge-score computes them, and BERTScore.

The value is F1 (`..rouge`). The recall of ROUGE-1 stands beside it, because Töpfer et al. (2025) scored their first
runs by it.

ROUGE as the package rouge-score computes it, and the F-measure of a precision and a recall.

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
from functools import cache
from importlib.util import find_spec
from typing import Any

from ...errors import UsageError
from ...trial import Json

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


def rouge1(given: Json, reference: Json) -> float:
    """Return the F1 of the words, 0.0 to 1.0; 0.0 if either text has none."""
    return f_beta(*ngram_shares(tokens(given), tokens(reference), 1))


def rouge1_recall(given: Json, reference: Json) -> float:
    """Return the share of the reference's words that are in the given text, 0.0 to 1.0; 0.0 if it has none."""
    _, recall = ngram_shares(tokens(given), tokens(reference), 1)
    return recall


def rouge2(given: Json, reference: Json) -> float:
    """Return the F1 of the pairs of neighbouring words, 0.0 to 1.0; 0.0 if either text has none."""
    return f_beta(*ngram_shares(tokens(given), tokens(reference), 2))


def rouge_l(given: Json, reference: Json) -> float:
    """Return the F1 of the longest common subsequence of words, 0.0 to 1.0; 0.0 if either text has none."""
    return f_beta(*subsequence_shares(tokens(given), tokens(reference)))


def bertscore(given: Json, reference: Json) -> float | None:
    """Return the F1 of the best matches of contextual embeddings, clipped to 0.0 to 1.0.

    The model is the package's own choice for English, without rescaling; the package downloads it at its first use on a
    machine. None unless both are texts with words.

    Raises:
        UsageError: if the extra is not installed.
    """
    if not isinstance(given, str) or not isinstance(reference, str) or not given.strip() or not reference.strip():
        return None
    _, _, f1 = _scorer().score([given], [reference])
    return min(1.0, max(0.0, float(f1[0])))


def require_bertscore() -> None:
    """Check that the extra for BERTScore is installed.

    Raises:
        UsageError: if it is not; the message states how to install it.
    """
    if find_spec("bert_score") is None:
        raise UsageError("the metric 'bertscore' needs an extra: pip install pytest-taskgraph-bench[bertscore]")


@cache
def _scorer() -> Any:  # noqa: ANN401 - of a package that is not typed
    require_bertscore()
    from bert_score import BERTScorer

    return BERTScorer(lang="en")
