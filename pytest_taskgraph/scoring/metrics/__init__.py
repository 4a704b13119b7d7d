"""The shelf of metrics: each takes the parsed answer and the reference, and returns 0.0 to 1.0.

None stands for undefined (nothing to measure): averages leave it out and never count it as 0 or 1. A metric with
further values, or with parts that are summed over questions, returns a `measurement.Measurement`. The formulas and
their sources are in docs/reference/metrics.md.
"""

from __future__ import annotations

from collections.abc import Iterable

from ...catalog import Catalog
from ...errors import UnknownNameError
from ..measurement import Metric, values_of
from ..schedules import constraints
from .agreement import (
    correctness,
    equivalence,
    explanation,
    identification,
    jaccard,
    matching,
    precision,
    reason,
    recall,
    verdict,
)
from .class_shares import choice_accuracy, class_accuracy
from .graph_metrics import graph_f1, hungarian_f1, in_degree_rouge1, pairwise_accuracy
from .orders import order
from .procedural_metrics import procedural_f1
from .texts import bertscore, require_bertscore, rouge1, rouge1_recall, rouge2, rouge_l

_BUILT_IN: dict[str, Metric] = {
    "correctness": correctness,
    "class_accuracy": class_accuracy,
    "choice_accuracy": choice_accuracy,
    "jaccard": jaccard,
    "precision": precision,
    "recall": recall,
    "matching": matching,
    "order": order,
    "constraints": constraints,
    "equivalence": equivalence,
    "identification": identification,
    "reason": reason,
    "explanation": explanation,
    "verdict": verdict,
    "rouge1": rouge1,
    "rouge1_recall": rouge1_recall,
    "rouge2": rouge2,
    "rouge_l": rouge_l,
    "bertscore": bertscore,
    "hungarian_f1": hungarian_f1,
    "in_degree_rouge1": in_degree_rouge1,
    "graph_f1": graph_f1,
    "pairwise_accuracy": pairwise_accuracy,
    "procedural_f1": procedural_f1,
}

METRICS: Catalog[Metric] = Catalog("metric", _BUILT_IN)

# Metrics that a model measures after the reply, with its role (benchmarks/episodes/answer_measurement.py).
MODEL_METRICS = {"judge": "judge", "cosine": "embedder"}
# Metrics that can score an answer that is a text.
TEXT_METRICS = ("rouge1", "rouge1_recall", "rouge2", "rouge_l", "bertscore", *MODEL_METRICS)


def text_metrics() -> tuple[str, ...]:
    """Return the names of the metrics that can score a text: TEXT_METRICS, and those that are registered."""
    return (*TEXT_METRICS, *METRICS.registered)


def check_text_metrics(names: Iterable[str]) -> None:
    """Check that metrics can score a text, and that their packages are installed.

    Raises:
        UnknownNameError: if there is none of that name.
        UsageError: if the package of one is not installed.
    """
    for name in names:
        if name not in text_metrics():
            raise UnknownNameError("text metric", name, text_metrics())
        if name == "bertscore":
            require_bertscore()


def metric(name: str) -> Metric:
    """Return the metric of that name.

    Raises:
        UnknownNameError: if there is none; the message lists the known names.
    """
    return METRICS[name]


def measured_names(metrics: Iterable[str]) -> tuple[str, ...]:
    """Return the names of the metrics, each followed by the names of its further values."""
    return tuple(
        value_name for name in metrics for value_name in (name, *(values_of(METRICS[name]) if name in METRICS else ()))
    )
