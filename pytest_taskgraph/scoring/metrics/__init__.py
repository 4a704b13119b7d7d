"""The shelf of metrics: each takes the answer as it was read and the reference, and gives 0.0 to 1.0.

None stands for undefined (nothing to measure): it is left out of averages, never counted as 0 or 1.
"""

from __future__ import annotations

from collections.abc import Callable

from ...errors import UnknownNameError
from ...trial import Json
from .conditions import equivalence
from .exact import correctness
from .groups import matching
from .orders import order
from .sets import jaccard, precision, recall
from .texts import rouge1, rouge1_recall, rouge2, rouge_l

Metric = Callable[[Json, Json], float | None]

METRICS: dict[str, Metric] = {
    "correctness": correctness,
    "jaccard": jaccard,
    "precision": precision,
    "recall": recall,
    "matching": matching,
    "order": order,
    "equivalence": equivalence,
    "rouge1": rouge1,
    "rouge1_recall": rouge1_recall,
    "rouge2": rouge2,
    "rouge_l": rouge_l,
}


def metric(name: str) -> Metric:
    """The metric of that name. Raises UnknownNameError, which tells the names there are."""
    if name not in METRICS:
        raise UnknownNameError("metric", name, METRICS)
    return METRICS[name]
