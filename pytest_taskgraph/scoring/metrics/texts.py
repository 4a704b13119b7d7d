"""Agreement of two texts: ROUGE-1, -2 and -L as the package rouge-score gives them, and BERTScore.

The value is F1 (`..rouge`); the recall of ROUGE-1 is beside it, for the study's first runs were scored by it.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

from ...errors import UsageError
from ...trial import Json
from ..rouge import f_beta, ngram_shares, subsequence_shares, tokens


def rouge1(given: Json, reference: Json) -> float:
    """F1 of the words, 0.0 to 1.0; 0.0 where either text has none."""
    return f_beta(*ngram_shares(tokens(given), tokens(reference), 1))


def rouge1_recall(given: Json, reference: Json) -> float:
    """The share of the reference's words that are in the given text, 0.0 to 1.0; 0.0 where there are none."""
    _, recall = ngram_shares(tokens(given), tokens(reference), 1)
    return recall


def rouge2(given: Json, reference: Json) -> float:
    """F1 of the pairs of neighbouring words, 0.0 to 1.0; 0.0 where either text has none."""
    return f_beta(*ngram_shares(tokens(given), tokens(reference), 2))


def rouge_l(given: Json, reference: Json) -> float:
    """F1 of the longest common subsequence of words, 0.0 to 1.0; 0.0 where either text has none."""
    return f_beta(*subsequence_shares(tokens(given), tokens(reference)))


def bertscore(given: Json, reference: Json) -> float | None:
    """F1 of the best matches of contextual embeddings, clipped to 0.0 to 1.0; None unless both are texts with words.

    The model is the package's own choice for English, without rescaling; it is fetched at the first use of the package
    on a machine. Raises UsageError where the extra is not installed.
    """
    if not isinstance(given, str) or not isinstance(reference, str) or not given.strip() or not reference.strip():
        return None
    _, _, f1 = _scorer().score([given], [reference])
    return min(1.0, max(0.0, float(f1[0])))


def require_bertscore() -> None:
    """Nothing, if the extra is installed. Raises UsageError, which tells how to install it."""
    if find_spec("bert_score") is None:
        raise UsageError("the metric 'bertscore' needs an extra: pip install pytest-taskgraph-bench[bertscore]")


@cache
def _scorer() -> Any:  # noqa: ANN401 - of a package that is not typed
    require_bertscore()
    from bert_score import BERTScorer

    return BERTScorer(lang="en")
