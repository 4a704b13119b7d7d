"""The cases of a pattern about the user's own workflows, and what is left out where they are large."""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import lru_cache
from random import Random
from typing import Final, NamedTuple

from ...catalog import catalog_cache
from ...notations import drawn_ends
from ...trial import Json
from ...workflow.bounds import Bound, reach, reached_bounds
from ...workflow.model import Workflow
from ...workflow.references import levels
from .pattern import Case, Pattern
from .projects import load, shown_workflows
from .scope import Scope, all_scopes, cases, rotations, scopes
from .spread import ALL, WORK

LONGEST: Final = 40
"""Names in the longest answer that is asked for about the user's own workflows."""

END_NAMES = re.compile(r"\b(?:START|END)\b")


class Entry(NamedTuple):
    """A case, and the workflow to show for it."""

    workflow: Workflow
    scope: Scope
    case: Case


class Listing(NamedTuple):
    """The cases of a pattern, whether some have an answer that is too long, and the bounds that were reached."""

    cases: tuple[Entry, ...]
    too_long: bool
    bounds: frozenset[Bound]


@catalog_cache
@lru_cache(maxsize=256)
def list_cases(pattern: Pattern, path: str, converted: str) -> Listing:
    """Return the cases of a pattern about a project.

    Args:
        pattern: The pattern.
        path: Where the project is.
        converted: The notation to show it in; empty for the files themselves.
    """
    places = [
        (whole, scope)
        for whole in shown_workflows(path, converted)
        for scope in (scopes(whole) if converted else all_scopes(whole))
    ]
    found: list[Entry] = []
    work, too_long = 0, False
    with reached_bounds() as bounds:
        for whole, scope in _in_spread_order(places):
            if work > WORK:
                reach("cases")
                break
            listed = list(askable_cases(pattern, scope, path, converted))
            short = [case for case in listed if names_in(case.answer) <= LONGEST]
            found += [Entry(whole, scope, case) for case in short]
            too_long = too_long or len(short) < len(listed)
            work += len(listed) * len(scope.workflow.tasks)
    return Listing(tuple(found), too_long, frozenset(bounds))


def names_in(answer: Json) -> int:
    """Return how many names an answer lists; one where it is no list."""
    if isinstance(answer, dict) and "tasks" in answer:
        answer = answer["tasks"]
    if isinstance(answer, list):
        return sum(len(one) if isinstance(one, list) else 1 for one in answer)
    return 1


def askable_cases(pattern: Pattern, scope: Scope, path: str, converted: str) -> Iterator[Case]:
    """Yield the cases of a pattern about a level but those whose words tell the answer, or name what is not shown."""
    if converted or _shows_ends(pattern, scope, path):
        yield from (case for case in cases(pattern, scope) if not case.revealing)


def _in_spread_order(places: list[tuple[Workflow, Scope]]) -> list[tuple[Workflow, Scope]]:
    """Return the levels of a small project in their order, those of a large one so that the first are a sample."""
    if sum(len(scope.workflow.tasks) for _, scope in places) > ALL:
        Random(f"levels|{len(places)}").shuffle(places)
    return places


def _shows_ends(pattern: Pattern, scope: Scope, path: str) -> bool:
    """Return False if the pattern names START and END, and the user's chart of that level does not draw them."""
    if not any(END_NAMES.search(template) for template in pattern.templates):
        return True
    if load(path).notation.name != "mermaid":
        return True
    whole, inner = _drawn_ends(path)
    return whole if scope.whole else inner


@catalog_cache
@lru_cache(maxsize=32)
def _drawn_ends(path: str) -> tuple[bool, bool]:
    """Return whether the charts of a project draw START and END, and whether all of its subgraphs do."""
    project = load(path)
    drawn = drawn_ends(project.text)
    inner = sum(len(levels(whole)) - 1 for whole in rotations(project.workflow))
    return drawn.whole, drawn.subgraphs >= inner
