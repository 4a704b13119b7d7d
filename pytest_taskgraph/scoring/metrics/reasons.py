"""Open answers: which tasks, which verdict, and how well it is explained (specs/patterns.md, F2 to F8).

Answers are those of the forms task-reasons, pair-reason and yes-no-reason. That the right tasks are named and that the
reason is right are two scores, never one.
"""

from __future__ import annotations

from statistics import fmean

from ...trial import Json
from ..measurement import declares
from .agreement import jaccard_index, name_set
from .texts import rouge1


def identification(given: Json, reference: Json) -> float:
    """The Jaccard index of the tasks named and the right ones, 0.0 to 1.0; 1.0 if both are none."""
    return jaccard_index(name_set(_part(given, "tasks")), name_set(_part(reference, "tasks")))


def verdict(given: Json, reference: Json) -> float:
    """1.0 if yes or no is as in the reference, else 0.0."""
    return 1.0 if _part(given, "answer") == _part(reference, "answer") else 0.0


@declares(unparseable=lambda reference: _reason(None, reference))  # none was given, which is not a bad one
def reason(given: Json, reference: Json) -> float | None:
    """The mean ROUGE-1 F1 of the reasons, over the tasks that are rightly named and have a reason to compare with.

    None where there are none. The one reason of a pair is compared if a task of the pair is right; that of yes or no
    always, if the reference has one.
    """
    return _reason(given, reference)


def explanation(given: Json, reference: Json) -> float | None:
    """The study's value: the mean ROUGE-1 F1 of the reasons over the right tasks, 0.0 for a task that is not named.

    A task too many costs nothing. None where the reference has no reason.
    """
    expected, told = _reasons(reference), _reasons(given)
    return fmean(rouge1(told.get(name), text) for name, text in expected.items()) if expected else None


def _reason(given: Json, reference: Json) -> float | None:
    if _part(reference, "answer") is not None:
        return rouge1(_part(given, "reason"), _part(reference, "reason")) if _part(reference, "reason") else None
    right = name_set(_part(given, "tasks")) & name_set(_part(reference, "tasks"))
    expected = _reasons(reference)
    told = _reasons(given)
    measured = [rouge1(told.get(name), expected[name]) for name in expected if name in right or (right and not name)]
    return fmean(measured) if measured else None


def _reasons(answer: Json) -> dict[str, Json]:
    reasons = _part(answer, "reasons")
    return {name: text for name, text in reasons.items() if text} if isinstance(reasons, dict) else {}


def _part(answer: Json, name: str) -> Json:
    return answer.get(name) if isinstance(answer, dict) else None
