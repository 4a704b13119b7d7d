"""The case about a smaller workflow that corresponds to the case of the original question."""

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
    """Return the case about the same as another one, else the most similar case; None if there is none.

    A case with the same fields is about the same, whatever its answer now is. Of other cases the same verdict counts
    most, because a model that always answers yes errs where no is right; then the fields that agree, then the labels.
    """
    try:
        levels = scopes(project)
    except WorkflowError:
        return None
    candidates = [AskedCase(scope, case) for scope in levels for case in cases(pattern, scope) if not case.revealing]
    same = [candidate for candidate in candidates if candidate.case.fields == original.case.fields]
    return max(same or candidates, key=lambda candidate: _similarity(candidate, original), default=None)


def _similarity(candidate: AskedCase, original: AskedCase) -> tuple[float, ...]:
    """Return how much a case has in common with another; of equally similar ones, the first is the nearest."""
    agree = verdict(candidate.case.answer) == verdict(original.case.answer)
    fields = _count_shared(candidate.case.fields, original.case.fields)
    same_path = candidate.scope.path == original.scope.path
    labels = _count_shared(candidate.case.labels, original.case.labels)
    return (agree and isinstance(verdict(candidate.case.answer), str), fields, same_path, labels, -candidate.case.rank)


def _count_shared(first: Mapping[str, Any], second: Mapping[str, Any]) -> int:
    return sum(name in second and second[name] == value for name, value in first.items())
