"""How an open answer is marked: by the metrics of texts that the user chose. Reasons stay marked by ROUGE-1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...errors import UnknownNameError
from ...scoring.form import Form
from ...scoring.metrics import MEASURED, TEXT_METRICS
from ...scoring.metrics.bertscore import demand_bertscore


@dataclass(frozen=True, slots=True)
class Marking:
    """The metrics of a question: the one that decides, those beside it, and which of them a model measures."""

    metric: str
    further: list[str]
    judged: list[str]


def check(chosen: Sequence[str]) -> None:
    """Nothing, if the metrics are known and their packages installed. Raises UnknownNameError, UsageError."""
    for name in chosen:
        if name not in TEXT_METRICS:
            raise UnknownNameError("text metric", name, TEXT_METRICS)
    if "bertscore" in chosen:
        demand_bertscore()


def marking(form: Form, metric: str, chosen: Sequence[str]) -> Marking:
    """How answers of a form are marked; `metric` is the pattern's own choice, empty for none.

    Of texts the first chosen metric decides, and the form's own stand beside the others: they cost nothing.
    """
    if form.name != "text":
        return Marking(metric or form.metric, list(form.further), [])
    first, *others = dict.fromkeys([*([metric] if metric else []), *chosen, form.metric, *form.further])
    return Marking(first, others, [name for name in (first, *others) if name in MEASURED])
