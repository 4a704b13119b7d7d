"""Agreement of two texts: ROUGE-1, -2 and -L as the package rouge-score computes them, and BERTScore.

The value is F1 (`..rouge`). The recall of ROUGE-1 stands beside it, because Töpfer et al. (2025) scored their first
runs by it.
"""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

from ...errors import UsageError
from ...trial import Json
from ..rouge import f_beta, ngram_shares, subsequence_shares, tokens


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
