"""BERTScore (Zhang et al. 2020) of two texts, computed here by the package bert-score: the extra `bertscore`."""

from __future__ import annotations

from functools import cache
from importlib.util import find_spec
from typing import Any

from ...errors import UsageError
from ...trial import Json


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
