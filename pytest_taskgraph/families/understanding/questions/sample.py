"""Draws of questions: a generated workflow and a case of the pattern about it, from a seed alone.

Draws of cases that resemble cases with the other answer, so that what both show does not tell the answer.

A stratum is drawn among those of the first workflow. Then workflows are built until hard cases (rank 0) of both answers
have the same profile. The search treats the answers alike: which workflows are built, and which profile is taken, does
not depend on the answer that is wanted. So whatever a profile states is as likely with yes as with no. If one level has
both cases, so is everything that the level shows.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from math import inf
from random import Random

from ....catalog import catalog_cache
from ....errors import NoCaseError, RecipeTooLargeError, RecipeTooSmallError
from ....generation.builder import build, shuffle_declarations, shuffle_durations
from ....generation.flaws import MUTATIONS
from ....generation.recipe import Recipe, implied_features, least_tasks
from ....generation.vocabularies import domain_names, most_tasks
from ....workflow.features import FEATURES
from ....workflow.model import Workflow
from ..family_options import Names
from ..patterns.pattern import Case, Pattern, verdict
from ..patterns.scope import Scope, cases, scopes

VERDICTS = ("yes", "no")
Choice = tuple[Workflow, Scope, Case]
ATTEMPTS = 100
MATCHING_ATTEMPTS = 16
USUAL = frozenset({"parallel", "exclusive", "data"})  # features of a workflow besides those the pattern needs
EXCLUSIVE = frozenset({"exclusive"})  # requires guards
NAMES: tuple[Names, ...] = ("neutral", "domain", "misleading")
SEARCHED = 240  # tasks of workflows that are searched for a case about times of rank 0, before another is taken
SHUFFLES = 3  # durations are exchanged among the tasks of a workflow, before a new one is built
SPARE = 4  # tasks of a domain that are reserved for planted flaws


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


@dataclass(frozen=True, slots=True)
class DrawnCase:
    """A workflow, the level asked about, the case, its phrasing, and the kind of its names."""

    project: Workflow
    scope: Scope
    case: Case
    phrasing: int
    names: Names = "neutral"


@catalog_cache
@lru_cache(maxsize=512)
def draw(pattern: Pattern, tasks: int, seed: int, ordinal: int, names: Names = "mixed") -> DrawnCase:
    """Return the case of a pattern for a size, seed and ordinal.

    The ordinal's parity decides yes or no, the next bit the phrasing and, if names are mixed, its remainder by three
    the kind of names. They are neutral where a domain has too few tasks, or where half of the attempts with the
    requested kind of names find no case.

    Of the questions of a pattern, the share `matched` has a case that resembles cases with the other answer
    (`draw_matched`), if MATCHING_ATTEMPTS workflows have one.

    Raises:
        RecipeTooSmallError: if the pattern's needs do not fit the size.
        RecipeTooLargeError: if the pattern requires a domain, and no domain has so many tasks.
        NoCaseError: if ATTEMPTS workflows have no case.
    """
    rng = Random(f"{pattern.name}|{tasks}|{seed}|{ordinal}")
    answer = ("yes", "no")[ordinal % 2] if pattern.yes_no else None
    recipe = recipe_for(pattern, tasks)
    kind = names_of(pattern, tasks, ordinal, names)
    if pattern.matched and answer is not None and rng.random() < pattern.matched:
        draw_recipe = partial(_vary_recipe, pattern, recipe, kind, rng)
        if matched := draw_matched(pattern, [draw_recipe] * MATCHING_ATTEMPTS, answer, rng):
            return DrawnCase(*matched, (ordinal >> 1) % len(pattern.templates), kind)
    found: list[DrawnCase] = []
    left, project = SEARCHED if pattern.timed else 0, None
    for attempt in range(ATTEMPTS):
        if project and pattern.timed and attempt % SHUFFLES:
            project = shuffle_durations(project, rng)
        else:
            kind = "neutral" if not pattern.domain and 2 * attempt >= ATTEMPTS else kind
            project = _build(pattern, _vary_recipe(pattern, recipe, kind, rng), answer, rng)
        if not project:
            continue
        hardest = _hardest_cases(pattern, project, answer)
        found += [DrawnCase(project, *choice, (ordinal >> 1) % len(pattern.templates), kind) for choice in hardest]
        left -= tasks if hardest else 0
        if found and (left <= 0 or (hardest and not hardest[0][1].rank)):
            break
    if found:
        return _draw_stratum(found, rng)
    raise NoCaseError(_no_case(pattern, recipe, answer))


def names_of(pattern: Pattern, tasks: int, ordinal: int, names: Names) -> Names:
    """Return the kind of names that a question has."""
    if pattern.domain:
        return "domain"
    if tasks > (most_tasks() // 2 if pattern.timed else most_tasks()):  # few tasks of a domain can run side by side
        return "neutral"
    return NAMES[ordinal % len(NAMES)] if names == "mixed" else names


@catalog_cache
@lru_cache(maxsize=512)
def recipe_for(pattern: Pattern, tasks: int) -> Recipe:
    """Return the recipe that meets the pattern's needs, with the usual features where they fit.

    Raises:
        RecipeTooSmallError: if the needs do not fit the size.
        RecipeTooLargeError: if the pattern requires a domain, and no domain has so many tasks.
    """
    if pattern.domain and tasks > most_tasks() - SPARE:
        raise RecipeTooLargeError(tasks, most_tasks() - SPARE)
    usual = USUAL - pattern.avoids - pattern.varies - (EXCLUSIVE if "guards" in pattern.avoids else frozenset())
    needs = Recipe(tasks=tasks, features=pattern.needs, avoid=pattern.avoids)
    needs = replace(needs, complete=pattern.domain, prose=pattern.domain, **pattern.recipe)
    rich = replace(needs, features=pattern.needs | usual)
    for recipe, largest in ((rich, _add_features(rich, pattern.varies)), (needs, needs)):
        if max(least_tasks(largest), pattern.least) <= tasks:
            return recipe
    raise RecipeTooSmallError(tasks, max(least_tasks(needs), pattern.least), pattern.needs)


def _vary_recipe(pattern: Pattern, recipe: Recipe, names: Names, rng: Random) -> Recipe:
    domain = None if names == "neutral" else rng.choice(domain_names())
    given = frozenset([feature for feature in sorted(pattern.varies) if rng.random() < 0.5])
    return _varied_recipe(recipe, domain, names == "misleading", given)


@catalog_cache
@lru_cache(maxsize=512)
def _varied_recipe(recipe: Recipe, domain: str | None, misleading: bool, given: frozenset[str]) -> Recipe:
    """Return the recipe in the words of a domain, if any, and with further features, if they fit the size."""
    if domain is not None:
        recipe = replace(recipe, vocabulary=domain, misleading=misleading)
    varied = _add_features(recipe, given)
    return varied if least_tasks(varied) <= recipe.tasks else recipe


def _add_features(recipe: Recipe, features: Collection[str]) -> Recipe:
    """Return the recipe with further features and those that they imply, even if it avoids them."""
    implied = frozenset(name for feature in features for name in implied_features(feature))
    return replace(recipe, features=recipe.features.union(features), avoid=recipe.avoid - implied)


def _build(pattern: Pattern, recipe: Recipe, answer: str | None, rng: Random) -> Workflow | None:
    """Return a workflow of the recipe; None if no choice of tasks is consistent, or there is no place for the flaw."""
    try:
        return with_flaw(build(recipe, rng), pattern.flaws.get(answer or "", ()), rng)
    except NoCaseError:
        return None


def _draw_stratum(found: list[DrawnCase], rng: Random) -> DrawnCase:
    """Return one of the cases of the lowest rank: first a stratum is drawn, then a case."""
    lowest = min(drawn.case.rank for drawn in found)
    found = [drawn for drawn in found if drawn.case.rank == lowest]
    shares = {drawn.case.stratum: drawn.case.share for drawn in found}
    if len(shares) > 1:
        chosen = rng.choice([stratum for stratum in sorted(shares) for _ in range(shares[stratum])])
        found = [drawn for drawn in found if drawn.case.stratum == chosen]
    return rng.choice(found)


def _hardest_cases(pattern: Pattern, project: Workflow, answer: str | None) -> list[tuple[Scope, Case]]:
    """Return the cases of the lowest rank, of those with the requested answer if there is one, each with its level."""
    levels = scopes(project)
    if pattern.selective and (hardest := _cases_of_lowest_rank(pattern, levels, answer, hardest=True)):
        return hardest
    return _cases_of_lowest_rank(pattern, levels, answer)


def _cases_of_lowest_rank(
    pattern: Pattern, levels: Iterable[Scope], answer: str | None, hardest: bool = False
) -> list[tuple[Scope, Case]]:
    lowest: list[tuple[Scope, Case]] = []
    least: float = inf
    for scope in levels:
        for case in cases(pattern, scope, hardest):
            if case.rank <= least and (answer is None or verdict(case.answer) == answer):
                if case.rank < least:
                    least = case.rank
                    lowest.clear()
                lowest.append((scope, case))
    return lowest


def _no_case(pattern: Pattern, recipe: Recipe, wanted: str | None) -> str:
    missing = [f for f in sorted(FEATURES - recipe.features - pattern.avoids) if _helps(pattern, recipe, wanted, f)]
    hint = f"it finds one with {' or '.join(missing)}: add it to needs=" if missing else "no single feature helps"
    answer_phrase = f" with answer {wanted}" if wanted else ""
    return (
        f"pattern {pattern.name!r} finds no case{answer_phrase} in {ATTEMPTS} workflows of {recipe.tasks} tasks with "
        f"{', '.join(sorted(recipe.features)) or 'no feature'}; {hint}"
    )


def _helps(pattern: Pattern, recipe: Recipe, answer: str | None, feature: str) -> bool:
    rng = Random(feature)
    try:
        richer = replace(recipe, features=recipe.features | {feature})
        projects = [_build(pattern, richer, answer, rng) for _ in range(4)]
        return any(_hardest_cases(pattern, project, answer) for project in projects if project)
    except Exception:  # a probe for an error message: any failure means that the feature does not help
        return False
