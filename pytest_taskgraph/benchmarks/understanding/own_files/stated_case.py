"""The one case about the user's own workflow that a question with a given text asks, as a regression test states it."""

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
def stated_case(worded: Pattern, path: str, converted: str, text: str) -> StatedCase | None:
    """Return the case that is asked in these words; of several the first, and None if there is none.

    Args:
        worded: The pattern in the words of the run.
        path: Where the project is.
        converted: The notation to show it in; empty for the files themselves.
        text: The text of the question.
    """
    for whole in shown_workflows(path, converted):
        for scope in scopes(whole) if converted else all_scopes(whole):
            for case in cases(worded, scope):
                for called in _ways_to_call(scope):
                    for phrasing in range(len(worded.templates)):
                        if sentence(worded, phrasing, called, case) == text:
                            return StatedCase(whole, called, case, phrasing)
    return None


def _ways_to_call(scope: Scope) -> Iterator[Scope]:
    yield scope
    yield omit_workflow_name(scope)
    yield from scopes_by_own_name([scope])
