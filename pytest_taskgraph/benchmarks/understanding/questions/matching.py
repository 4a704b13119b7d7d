"""Draws of cases that resemble cases with the other answer, so that what both show does not tell the answer.

Workflows are built until a stratum has hard cases (rank 0) of both answers. The search treats the answers alike: which
workflows are built, and which stratum is taken, does not depend on the answer that is wanted. So whatever a stratum
states is as likely with yes as with no. If one level has both, so is everything that the level shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random

from ....errors import NoCaseError
from ....generation.builder import build, shuffle_declarations
from ....generation.flaws import MUTATIONS
from ....generation.recipe import Recipe
from ....workflow.model import Workflow
from ..patterns.pattern import Case, Pattern, verdict
from ..patterns.scope import Scope, cases, scopes

VERDICTS = ("yes", "no")
Choice = tuple[Workflow, Scope, Case]


class CasesByStratum:
    """Cases of yes and of no, by their stratum."""

    def __init__(self) -> None:
        self._cases: dict[str, dict[str, list[Choice]]] = {verdict: {} for verdict in VERDICTS}

    def add(self, answer: str, choice: Choice) -> None:
        """Add a case with its workflow and its level."""
        self._cases[answer].setdefault(choice[2].stratum, []).append(choice)

    def draw(self, answer: str, rng: Random) -> Choice | None:
        """Draw a stratum that has both answers, by the shares, and a case of it; return None if there is none."""
        yes, no = (self._cases[verdict] for verdict in VERDICTS)
        shares = {stratum: yes[stratum][0][2].share for stratum in sorted(yes.keys() & no.keys())}
        if not shares:
            return None
        [stratum] = rng.choices([*shares], [*shares.values()])
        return rng.choice(self._cases[answer][stratum])


def draw_matched(pattern: Pattern, recipes: Iterable[Recipe], answer: str, rng: Random) -> Choice | None:
    """Return a case of a stratum that has cases of both answers, with its workflow and its level.

    Both answers of one level are taken if there are any, else those of different levels and workflows.

    Args:
        pattern: The pattern, whose answers are yes and no.
        recipes: The recipes of the workflows to search, one after the other.
        answer: The answer of the case, "yes" or "no".
        rng: The source of choice.

    Returns:
        None if the workflows of all recipes have no such stratum.
    """
    found = CasesByStratum()
    for recipe in recipes:
        try:
            workflows = list(_workflows(pattern, recipe, rng))
        except NoCaseError:  # no consistent choice of tasks, or no place for the flaw; the next one may succeed
            continue
        of_levels = [_add_cases(pattern, project, scope, verdicts, found) for project, verdicts in workflows
                     for scope in scopes(project)]  # fmt: skip
        rng.shuffle(of_levels)
        for cases_by_stratum in (*of_levels, found):
            if choice := cases_by_stratum.draw(answer, rng):
                return choice
    return None


def _workflows(pattern: Pattern, recipe: Recipe, rng: Random) -> Iterator[tuple[Workflow, tuple[str, ...]]]:
    """Yield a workflow for both answers or, if their flaws differ, one for each of them, with the answers.

    Raises:
        NoCaseError: if there is no consistent choice of tasks, or no place for one of the flaws.
    """
    base = build(recipe, rng)
    flaws = {verdict: pattern.flaws.get(verdict, ()) for verdict in VERDICTS}
    if flaws["yes"] == flaws["no"]:
        yield _with_flaw(base, flaws["yes"], rng), VERDICTS
    else:
        for verdict_of_flaw, names in flaws.items():
            yield _with_flaw(base, names, rng), (verdict_of_flaw,)


def _with_flaw(workflow: Workflow, flaws: tuple[str, ...], rng: Random) -> Workflow:
    return shuffle_declarations(MUTATIONS[rng.choice(flaws)](workflow, rng), rng) if flaws else workflow


def _add_cases(
    pattern: Pattern, project: Workflow, scope: Scope, verdicts: tuple[str, ...], found: CasesByStratum
) -> CasesByStratum:
    """Return the hard cases of a level that have one of the verdicts, and add them to those found."""
    of_level = CasesByStratum()
    for case in cases(pattern, scope, pattern.selective):
        answer = str(verdict(case.answer))
        if not case.rank and answer in verdicts:
            for cases_by_stratum in (of_level, found):
                cases_by_stratum.add(answer, (project, scope, case))
    return of_level
