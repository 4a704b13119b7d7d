"""Draw workflows for a pattern: with what it needs and any further features that a notation supports."""

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
MOST_TASKS: Final = 8  # unless the features that are drawn need more


@st.composite
def drawn_workflows(draw: st.DrawFn, pattern: Pattern, shown: Notation) -> Workflow:
    """Draw a workflow that the pattern can be asked about, and that the notation supports.

    It has what the pattern needs and none of what it avoids; a flaw for one of its answers, where it has such. Shrinks
    towards few tasks, few further features, plain names, no flaw where one need not be.
    """
    recipe = draw(_recipes(pattern, shown))
    # One seed for all that a builder chooses: hundreds of choices of Hypothesis's own take minutes to shrink.
    rng = Random(f"fuzz|{draw(st.integers(0, SEEDS))}")
    flaw = draw(st.sampled_from(_flaws(pattern)))
    try:
        project = build(recipe, rng)
        if flaw:
            project = shuffle_declarations(MUTATIONS[flaw](project, rng), rng)
    except NoCaseError:  # no tasks of the domain make sense, or there is no place for the flaw
        reject()
    return project if pattern.domain or pattern.planted else draw(with_unusual_names(project))


def supports(pattern: Pattern, shown: Notation) -> bool:
    """Return True if a notation supports what workflows for the pattern need."""
    try:
        Recipe(features=pattern.needs, avoid=shown.unsupported)
    except UsageError:
        return False
    return True


def _recipes(pattern: Pattern, shown: Notation) -> st.SearchStrategy[Recipe]:
    words = domain_names() if pattern.domain else ("neutral", *domain_names())
    drawn = recipes(
        max_tasks=MOST_TASKS,
        features=pattern.needs,
        avoid=pattern.avoids | shown.unsupported,
        among=FEATURES - pattern.avoids - shown.unsupported,
        vocabularies=words,
    )
    whole = {"complete": True, "prose": True} if pattern.domain else {}

    def finish(recipe: Recipe) -> Recipe:
        try:
            return replace(recipe, tasks=max(recipe.tasks, pattern.least), **{**whole, **pattern.recipe})
        except UsageError:  # the domain has fewer tasks
            reject()

    return drawn.map(finish)


def _flaws(pattern: Pattern) -> list[str]:
    """Return the flaws to plant; none, the empty name, comes first where the answers do not depend on one."""
    names = dict.fromkeys(name for some in pattern.flaws.values() for name in some)
    return [*([] if pattern.planted and names else [""]), *names]
