"""Hypothesis strategies for workflows of a pattern: its needs and further features that a notation supports."""

from __future__ import annotations

from dataclasses import replace
from random import Random
from typing import Final

from hypothesis import reject
from hypothesis import strategies as st

from ....errors import NoCaseError, UsageError
from ....generation.builder import build, shuffle_declarations
from ....generation.flaws import MUTATIONS
from ....generation.recipe import Recipe
from ....generation.strategies import recipes
from ....generation.vocabularies import domain_names
from ....notations.notation import Notation
from ....workflow.features import FEATURES
from ....workflow.model import Workflow
from ..patterns.pattern import Pattern
from .unusual_names import with_unusual_names

SEEDS: Final = 9_999
MOST_TASKS: Final = 8  # unless the drawn features need more


@st.composite
def workflows_for(draw: st.DrawFn, pattern: Pattern, notation: Notation) -> Workflow:
    """Draw a workflow that the pattern can be asked about and that the notation supports.

    It has what the pattern needs and nothing that it avoids, and a flaw for one of its answers if the pattern has
    flaws. Shrinks towards few tasks, few further features, plain names, and no flaw if none is required.
    """
    recipe = draw(_recipes(pattern, notation))
    # A single seed for all choices of the builder: hundreds of choices by Hypothesis take minutes to shrink.
    rng = Random(f"fuzz|{draw(st.integers(0, SEEDS))}")
    flaw = draw(st.sampled_from(_flaws(pattern)))
    try:
        project = build(recipe, rng)
        if flaw:
            project = shuffle_declarations(MUTATIONS[flaw](project, rng), rng)
    except NoCaseError:  # no consistent choice of tasks, or no place for the flaw
        reject()
    return project if pattern.domain or pattern.planted else draw(with_unusual_names(project))


def supports(pattern: Pattern, notation: Notation) -> bool:
    """Return True if a notation supports what workflows for the pattern need."""
    try:
        Recipe(features=pattern.needs, avoid=notation.unsupported)
    except UsageError:
        return False
    return True


def _recipes(pattern: Pattern, notation: Notation) -> st.SearchStrategy[Recipe]:
    vocabularies = domain_names() if pattern.domain else ("neutral", *domain_names())
    matching_recipes = recipes(
        max_tasks=MOST_TASKS,
        features=pattern.needs,
        avoid=pattern.avoids | notation.unsupported,
        among=FEATURES - pattern.avoids - notation.unsupported,
        vocabularies=vocabularies,
    )
    domain_fields = {"complete": True, "prose": True} if pattern.domain else {}

    def finish(recipe: Recipe) -> Recipe:
        try:
            return replace(recipe, tasks=max(recipe.tasks, pattern.least), **{**domain_fields, **pattern.recipe})
        except UsageError:  # the domain has fewer tasks
            reject()

    return matching_recipes.map(finish)


def _flaws(pattern: Pattern) -> list[str]:
    """Return the flaws to plant; the empty name, for none, comes first where the answers do not depend on a flaw."""
    names = dict.fromkeys(name for some in pattern.flaws.values() for name in some)
    return [*([] if pattern.planted and names else [""]), *names]
