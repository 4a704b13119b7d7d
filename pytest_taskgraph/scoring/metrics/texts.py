"""Agreement of two texts: ROUGE-1, -2 and -L as the package rouge-score gives them, and BERTScore.

Tokens are the runs of a-z and 0-9 in the lower-cased text, without a stemmer; n-gram hits are clipped counts; L is the
longest common subsequence of the whole text. The value is F1; the recall of ROUGE-1 is beside it, for the study's first
runs were scored by it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from itertools import pairwise
from typing import Any

from ...errors import UsageError
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


def bertscore(given: Json, reference: Json) -> float | None:
    """F1 of the best matches of contextual embeddings, clipped to 0.0 to 1.0; None unless both are texts with words.

    The model is the package's own choice for English, without rescaling; it is fetched at the first use of the package
    on a machine. Raises UsageError where the extra is not installed.
    """
    if not isinstance(given, str) or not isinstance(reference, str) or not given.strip() or not reference.strip():
        return None
    _, _, f1 = _scorer().score([given], [reference])
    return min(1.0, max(0.0, float(f1[0])))


def demand_bertscore() -> None:
    """Nothing, if the extra is installed. Raises UsageError, which tells how to install it."""
    if find_spec("bert_score") is None:
        raise UsageError("the metric 'bertscore' needs an extra: pip install pytest-taskgraph-bench[bertscore]")


@cache
def _scorer() -> Any:  # noqa: ANN401 - of a package that is not typed
    demand_bertscore()
    from bert_score import BERTScorer

    return BERTScorer(lang="en")
