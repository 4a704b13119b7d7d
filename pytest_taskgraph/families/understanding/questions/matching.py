"""Draws of cases that resemble cases with the other answer, so that what both show does not tell the answer.

A stratum is drawn among those of the first workflow. Then workflows are built until hard cases (rank 0) of both answers
have the same profile. The search treats the answers alike: which workflows are built, and which profile is taken, does
not depend on the answer that is wanted. So whatever a profile states is as likely with yes as with no. If one level has
both cases, so is everything that the level shows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
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


class CasesByProfile:
    """Cases of yes and of no, by their stratum and profile."""

    def __init__(self) -> None:
        self.shares: dict[str, int] = {}  # of the strata
        self._cases: dict[str, dict[tuple[str, str], list[Choice]]] = {verdict: {} for verdict in VERDICTS}

    def add(self, answer: str, choice: Choice) -> None:
        """Add a case with its workflow and its level."""
        case = choice[2]
        self.shares[case.stratum] = case.share
        self._cases[answer].setdefault((case.stratum, case.profile), []).append(choice)

    def draw(self, answer: str, strata: Collection[str], rng: Random) -> Choice | None:
        """Draw a profile that cases of both answers have in one of the strata, and a case; None if there is none."""
        yes, no = (self._cases[verdict] for verdict in VERDICTS)
        common = [key for key in sorted(yes.keys() & no.keys()) if key[0] in strata]
        return rng.choice(self._cases[answer][rng.choice(common)]) if common else None


def draw_matched(pattern: Pattern, recipes: Sequence[Callable[[], Recipe]], answer: str, rng: Random) -> Choice | None:
    """Return a case whose profile a case with the other answer has too, with its workflow and its level.

    Both cases are of one level if there are such, else of different levels and workflows. If half of the workflows have
    none in the stratum, any stratum is taken.

    Args:
        pattern: The pattern, whose answers are yes and no.
        recipes: Functions that draw the recipes of the workflows to search, one after the other.
        answer: The answer of the case, "yes" or "no".
        rng: The source of choice.

    Returns:
        None if the workflows of all recipes have no such case.
    """
    found, stratum = CasesByProfile(), ""
    for number, draw_recipe in enumerate(recipes):
        try:
            workflows = list(_workflows(pattern, draw_recipe(), rng))
        except NoCaseError:  # no consistent choice of tasks, or no place for the flaw; the next one may succeed
            continue
        of_levels = [_add_cases(pattern, project, scope, verdicts, found) for project, verdicts in workflows
                     for scope in scopes(project)]  # fmt: skip
        if not stratum and found.shares:
            [stratum] = rng.choices([*found.shares], [*found.shares.values()])
        strata = (stratum,) if 2 * number < len(recipes) else found.shares
        rng.shuffle(of_levels)
        for cases_by_profile in (*of_levels, found):
            if choice := cases_by_profile.draw(answer, strata, rng):
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
        yield with_flaw(base, flaws["yes"], rng), VERDICTS
    else:
        for verdict_of_flaw, names in flaws.items():
            yield with_flaw(base, names, rng), (verdict_of_flaw,)


def with_flaw(workflow: Workflow, flaws: tuple[str, ...], rng: Random) -> Workflow:
    """Return the workflow with one of the flaws, in a new order of declaration; unchanged if there are none.

    Raises:
        NoCaseError: if there is no place for the flaw.
    """
    return shuffle_declarations(MUTATIONS[rng.choice(flaws)](workflow, rng), rng) if flaws else workflow


def _add_cases(
    pattern: Pattern, project: Workflow, scope: Scope, verdicts: tuple[str, ...], found: CasesByProfile
) -> CasesByProfile:
    """Return the hard cases of a level that have one of the verdicts, and add them to those found."""
    of_level = CasesByProfile()
    for case in cases(pattern, scope, pattern.selective):
        answer = str(verdict(case.answer))
        if not case.rank and answer in verdicts:
            for cases_by_profile in (of_level, found):
                cases_by_profile.add(answer, (project, scope, case))
    return of_level
