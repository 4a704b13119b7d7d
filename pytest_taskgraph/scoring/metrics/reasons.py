"""Open answers: the named tasks, the verdict, and the quality of the explanation.

Answers are those of the forms task-reasons, pair-reason and yes-no-reason. The identification of the tasks and the
quality of the reasons are two scores, never one. docs/reference/patterns.md lists the patterns that use them.
"""

from __future__ import annotations

from statistics import fmean

from ...trial import Json
from ..measurement import declares
from .agreement import jaccard_index, name_set
from .texts import rouge1


def identification(given: Json, reference: Json) -> float:
    """Return the Jaccard index of the named and the right tasks, 0.0 to 1.0; 1.0 if there are none in both."""
    return jaccard_index(name_set(_part(given, "tasks")), name_set(_part(reference, "tasks")))


def verdict(given: Json, reference: Json) -> float:
    """Return 1.0 if the verdict is that of the reference, else 0.0."""
    return 1.0 if _part(given, "answer") == _part(reference, "answer") else 0.0


@declares(unparseable=lambda reference: _reason(None, reference))  # a missing reason is not a bad reason
def reason(given: Json, reference: Json) -> float | None:
    """Return the mean ROUGE-1 F1 of the reasons, over the rightly named tasks whose reference has a reason.

    None without such a task. The reason of a pair is compared if a task of the pair is right; that of a yes/no question
    always, if the reference has one.
    """
    return _reason(given, reference)


def explanation(given: Json, reference: Json) -> float | None:
    """Return the mean ROUGE-1 F1 of the reasons over the right tasks, 0.0 for a task that is not named.

    This is the value of Töpfer et al. (2025): surplus tasks cost nothing. None if the reference has no reason.
    """
    reasons, given_reasons = _reasons(reference), _reasons(given)
    return fmean(rouge1(given_reasons.get(name), text) for name, text in reasons.items()) if reasons else None


def _reason(given: Json, reference: Json) -> float | None:
    if _part(reference, "answer") is not None:
        return rouge1(_part(given, "reason"), _part(reference, "reason")) if _part(reference, "reason") else None
    right = name_set(_part(given, "tasks")) & name_set(_part(reference, "tasks"))
    reasons = _reasons(reference)
    given_reasons = _reasons(given)
    scores = [
        rouge1(given_reasons.get(name), reasons[name]) for name in reasons if name in right or (right and not name)
    ]
    return fmean(scores) if scores else None


def _reasons(answer: Json) -> dict[str, Json]:
    reasons = _part(answer, "reasons")
    return {name: text for name, text in reasons.items() if text} if isinstance(reasons, dict) else {}


def _part(answer: Json, name: str) -> Json:
    return answer.get(name) if isinstance(answer, dict) else None
