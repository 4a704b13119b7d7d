"""The case about the user's own workflow that asks a given question text, as a regression test states it."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import NamedTuple

from ....catalog import catalog_cache
from ....workflow.model import Workflow
from ..patterns.pattern import Case, Pattern
from ..patterns.scope import Scope, all_scopes, cases, omit_workflow_name, scopes, scopes_by_own_name, sentence
from .projects import shown_workflows


class StatedCase(NamedTuple):
    """A case, the workflow to show for it, and the phrasing that asks it."""

    workflow: Workflow
    scope: Scope
    case: Case
    phrasing: int


@catalog_cache
@lru_cache(maxsize=64)
def stated_case(phrased: Pattern, path: str, converted: str, text: str) -> StatedCase | None:
    """Return the first case that is asked in these words, or None.

    Args:
        phrased: The pattern with the phrasings of the run.
        path: Path of the project.
        converted: The notation to show it in; empty for the files themselves.
        text: The text of the question.
    """
    for whole in shown_workflows(path, converted):
        for scope in scopes(whole) if converted else all_scopes(whole):
            for case in cases(phrased, scope):
                for named_scope in _names_of_level(scope):
                    for phrasing in range(len(phrased.templates)):
                        if sentence(phrased, phrasing, named_scope, case) == text:
                            return StatedCase(whole, named_scope, case, phrasing)
    return None


def _names_of_level(scope: Scope) -> Iterator[Scope]:
    """Yield the level with each way in which a question can name it."""
    yield scope
    yield omit_workflow_name(scope)
    yield from scopes_by_own_name([scope])
