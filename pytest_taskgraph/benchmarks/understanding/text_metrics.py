"""How an open answer is scored: by the metrics of texts that the user chose. Reasons stay scored by ROUGE-1."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from ...scoring.form import Form
from ...scoring.forms import form
from ...scoring.metrics import MEASURED
from .pattern import PATTERNS
from .settings import UnderstandingSettings


@dataclass(frozen=True, slots=True)
class QuestionMetrics:
    """The metrics of a question: the one that decides, those beside it, and which of them a model measures."""

    metric: str
    further: list[str]
    judged: list[str]


def question_metrics(answer_form: Form, metric: str, chosen: Sequence[str]) -> QuestionMetrics:
    """Return the metrics that score answers of a form; `metric` is the pattern's own choice, empty for none.

    Of texts the first chosen metric decides, and the form's own stand beside the others: they cost nothing.
    """
    if answer_form.name != "text":
        return QuestionMetrics(metric or answer_form.metric, list(answer_form.further), [])
    first, *others = dict.fromkeys([*([metric] if metric else []), *chosen, answer_form.metric, *answer_form.further])
    return QuestionMetrics(first, others, [name for name in (first, *others) if name in MEASURED])


def pass_threshold(answer_form: Form, settings: UnderstandingSettings) -> float:
    """Return the smallest score that is right: the user's, where one is set, else the form's; 0.0 where none is."""
    return answer_form.pass_threshold if settings.pass_threshold is None else settings.pass_threshold


def metrics(pattern: str, settings: UnderstandingSettings) -> list[str]:
    """The metrics that answers to a pattern may have in such a run, the one that decides first."""
    one = PATTERNS[pattern]
    chosen = question_metrics(form(one.form), one.metric, settings.text_metrics)
    agent = ["specifications_read"] if settings.presentation == "agent" else []
    return [chosen.metric, *chosen.further, *agent]
