"""The case about a smaller workflow that stands for the case of the question as it was asked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from ....errors import WorkflowError
from ....workflow.model import Workflow
from ..patterns.pattern import Case, Pattern, verdict
from ..patterns.scope import Scope, cases, scopes


class AskedCase(NamedTuple):
    """A case and the level that it is about."""

    scope: Scope
    case: Case


def nearest_case(pattern: Pattern, project: Workflow, original: AskedCase) -> AskedCase | None:
    """Return the case about the same as another one, else that which has most in common with it; None if there is none.

    A case with the same fields is about the same, whatever its answer now is. Of others the same verdict counts most,
    for who always answers yes errs where no is right; then the fields that agree, then the labels.
    """
    try:
        levels = scopes(project)
    except WorkflowError:
        return None
    candidates = [AskedCase(scope, case) for scope in levels for case in cases(pattern, scope) if not case.revealing]
    same = [candidate for candidate in candidates if candidate.case.fields == original.case.fields]
    return max(same or candidates, key=lambda candidate: _likeness(candidate, original), default=None)


def _likeness(candidate: AskedCase, original: AskedCase) -> tuple[float, ...]:
    """Return how much a case has in common with another; of equally near ones, the first is the nearest."""
    agree = verdict(candidate.case.answer) == verdict(original.case.answer)
    fields = _shared(candidate.case.fields, original.case.fields)
    place = candidate.scope.path == original.scope.path
    labels = _shared(candidate.case.labels, original.case.labels)
    return (agree and isinstance(verdict(candidate.case.answer), str), fields, place, labels, -candidate.case.rank)


def _shared(one: Mapping[str, Any], other: Mapping[str, Any]) -> int:
    return sum(name in other and other[name] == value for name, value in one.items())
