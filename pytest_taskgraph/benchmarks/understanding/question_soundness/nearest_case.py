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


def nearest_case(pattern: Pattern, project: Workflow, wanted: AskedCase) -> AskedCase | None:
    """Return the case about the same as another one, else that which has most in common with it; None if there is none.

    A case with the same fields is about the same, whatever its answer now is. Of others the same verdict counts most,
    for who always answers yes errs where no is right; then the fields that agree, then the labels.
    """
    try:
        levels = scopes(project)
    except WorkflowError:
        return None
    found = [AskedCase(scope, case) for scope in levels for case in cases(pattern, scope) if not case.revealing]
    same = [one for one in found if one.case.fields == wanted.case.fields]
    return max(same or found, key=lambda one: _likeness(one, wanted), default=None)


def _likeness(one: AskedCase, wanted: AskedCase) -> tuple[float, ...]:
    """Return how much a case has in common with another; of equally near ones, the first is the nearest."""
    agree = verdict(one.case.answer) == verdict(wanted.case.answer)
    fields = _shared(one.case.fields, wanted.case.fields)
    place = one.scope.path == wanted.scope.path
    labels = _shared(one.case.labels, wanted.case.labels)
    return (agree and isinstance(verdict(one.case.answer), str), fields, place, labels, -one.case.rank)


def _shared(one: Mapping[str, Any], other: Mapping[str, Any]) -> int:
    return sum(name in other and other[name] == value for name, value in one.items())
