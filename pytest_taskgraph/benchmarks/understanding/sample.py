"""Drawing: one generated workflow a question, and one case of the pattern about it, from a seed alone."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

from ...errors import NoCaseError, RecipeTooSmallError
from ...generation.build import build
from ...generation.declarations import shuffle_declarations
from ...generation.mutate import MUTATIONS
from ...generation.recipe import Recipe, implied, least_tasks
from ...generation.vocabularies import domain_names
from ...workflow.features import FEATURES
from ...workflow.model import Workflow
from .pattern import Case, Pattern, verdict
from .scope import Scope, cases, scopes

ATTEMPTS = 50
USUAL = frozenset({"parallel", "exclusive", "data"})  # what a workflow holds besides what the pattern needs
EXCLUSIVE = frozenset({"exclusive"})  # cannot be without guards


@dataclass(frozen=True, slots=True)
class Drawn:
    """A workflow, the level asked about, the case, and which phrasing asks it."""

    project: Workflow
    scope: Scope
    case: Case
    phrasing: int


@lru_cache(maxsize=512)
def draw(pattern: Pattern, tasks: int, seed: int, ordinal: int) -> Drawn:
    """The case of a pattern for that size, seed and ordinal; its parity decides yes or no, the next bit the phrasing.

    Raises RecipeTooSmallError where the pattern's needs do not fit the size, and NoCaseError after 50 workflows.
    """
    rng = Random(f"{pattern.name}|{tasks}|{seed}|{ordinal}")
    wanted = ("yes", "no")[ordinal % 2] if pattern.yes_no else None
    recipe = recipe_for(pattern, tasks)
    for _ in range(ATTEMPTS):
        found = _attempt(pattern, _varied(pattern, recipe, rng), wanted, rng)
        if found:
            project, (scope, case) = found
            return Drawn(project, scope, case, (ordinal >> 1) % len(pattern.templates))
    raise NoCaseError(_no_case(pattern, recipe, wanted))


@lru_cache(maxsize=512)
def recipe_for(pattern: Pattern, tasks: int) -> Recipe:
    """The recipe that meets the pattern's needs, with the usual features where they fit. Raises RecipeTooSmallError."""
    usual = USUAL - pattern.avoids - pattern.varies - (EXCLUSIVE if "guards" in pattern.avoids else frozenset())
    needs = Recipe(tasks=tasks, features=pattern.needs, avoid=pattern.avoids)
    rich = replace(needs, features=pattern.needs | usual)
    for recipe, largest in ((rich, _with(rich, pattern.varies)), (needs, needs)):
        if max(least_tasks(largest), pattern.least) <= tasks:
            return recipe
    raise RecipeTooSmallError(tasks, max(least_tasks(needs), pattern.least), pattern.needs)


def _varied(pattern: Pattern, recipe: Recipe, rng: Random) -> Recipe:
    if pattern.domain:
        recipe = replace(recipe, vocabulary=rng.choice(domain_names()))
    given = {feature for feature in sorted(pattern.varies) if rng.random() < 0.5}
    varied = _with(recipe, given)
    return varied if least_tasks(varied) <= recipe.tasks else recipe


def _with(recipe: Recipe, features: Collection[str]) -> Recipe:
    """Return the recipe with further features, and with what they imply, even where it avoids that."""
    brought = frozenset(one for feature in features for one in implied(feature))
    return replace(recipe, features=recipe.features.union(features), avoid=recipe.avoid - brought)


def _attempt(
    pattern: Pattern, recipe: Recipe, wanted: str | None, rng: Random
) -> tuple[Workflow, tuple[Scope, Case]] | None:
    project = build(recipe, rng)
    if (flaw := pattern.flaws.get(wanted or "")) is not None:
        try:
            project = shuffle_declarations(MUTATIONS[flaw](project, rng), rng)
        except NoCaseError:  # this workflow has no place for the flaw; the next may
            return None
    found = [(s, c) for s in scopes(project) for c in cases(pattern, s) if wanted in (None, verdict(c.answer))]
    least = min((c.rank for _, c in found), default=0)
    hardest = [(s, c) for s, c in found if c.rank == least]
    strata = sorted({c.stratum for _, c in hardest})
    if len(strata) > 1:
        chosen = rng.choice(strata)
        hardest = [(s, c) for s, c in hardest if c.stratum == chosen]
    return (project, rng.choice(hardest)) if hardest else None


def _no_case(pattern: Pattern, recipe: Recipe, wanted: str | None) -> str:
    missing = [f for f in sorted(FEATURES - recipe.features - pattern.avoids) if _helps(pattern, recipe, wanted, f)]
    hint = f"it finds one with {' or '.join(missing)}: add it to needs=" if missing else "no single feature helps"
    answer = f" with answer {wanted}" if wanted else ""
    return (
        f"pattern {pattern.name!r} finds no case{answer} in {ATTEMPTS} workflows of {recipe.tasks} tasks with "
        f"{', '.join(sorted(recipe.features)) or 'no feature'}; {hint}"
    )


def _helps(pattern: Pattern, recipe: Recipe, wanted: str | None, feature: str) -> bool:
    rng = Random(feature)
    try:
        richer = replace(recipe, features=recipe.features | {feature})
        return any(_attempt(pattern, richer, wanted, rng) for _ in range(4))
    except Exception:  # a probe for an error message: whatever goes wrong here only means "does not help"
        return False
