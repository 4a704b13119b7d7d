"""Hypothesis strategies: recipes, and workflows of the builder that suites use too, so that whatever fails shrinks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from random import Random
from typing import Final

from hypothesis import reject
from hypothesis import strategies as st

from ..errors import NoCaseError, UnknownNameError, UsageError
from ..workflow.features import FEATURES
from ..workflow.model import Workflow
from .builder import build
from .recipe import TASKS, Recipe, least_tasks
from .vocabularies import vocabulary

_MOST_TASKS: Final = 20


def recipes(
    min_tasks: int = 3,
    max_tasks: int = _MOST_TASKS,
    features: Iterable[str] = (),
    avoid: Iterable[str] = (),
    among: Iterable[str] = FEATURES,
    vocabularies: Iterable[str] = ("neutral",),
    max_cross_links: int = 0,
) -> st.SearchStrategy[Recipe]:
    """Return a strategy for recipes that can be built.

    They demand the `features` and any others `among` those given, never what to `avoid`. Tasks are from `min_tasks` to
    `max_tasks`, or to the recipe's own least number if that is larger. Shrinks towards few tasks, few further features,
    the first vocabulary.

    Raises:
        UsageError: as Recipe does.
    """
    demanded, avoided = frozenset(features), frozenset(avoid)
    Recipe(features=demanded, avoid=avoided)  # report a contradiction now, not while drawing
    further = [name for name in sorted(among) if _is_possible(name, avoided)]

    @st.composite
    def draw_recipe(draw: st.DrawFn) -> Recipe:
        demanded_features = demanded | (draw(st.frozensets(st.sampled_from(further))) if further else frozenset())
        cross_links = draw(st.integers(0, 0 if "parallel" in avoided else max_cross_links))
        width, depth = draw(st.integers(2, 4)), draw(st.integers(1, 3))
        words = draw(st.sampled_from(list(vocabularies)))
        least = least_tasks(Recipe(TASKS[0], width, depth, demanded_features, avoided, words, cross_links))
        most = min(max_tasks, len(vocabulary(words).tasks) or max_tasks)
        tasks = draw(st.integers(max(least, min_tasks), max(least, most)))
        return Recipe(tasks, width, depth, demanded_features, avoided, words, cross_links)

    return draw_recipe()


def _is_possible(name: str, avoided: frozenset[str]) -> bool:
    """Return True if a recipe can demand the feature and avoid those."""
    try:
        Recipe(features=frozenset({name}), avoid=avoided)
    except UnknownNameError:
        raise
    except UsageError:
        return False
    return True


def workflows(
    recipe: Recipe | st.SearchStrategy[Recipe] | None = None,
    mutation: Callable[[Workflow, Random], Workflow] | None = None,
    *,
    features: Iterable[str] = (),
    avoid: Iterable[str] = (),
    tasks: int | tuple[int, int] | None = None,
) -> st.SearchStrategy[Workflow]:
    """Draw well-formed workflows: of a recipe, of recipes that are drawn, or with certain features.

    Shrinks towards few tasks and few features.

    Args:
        recipe: What the workflows are like, or a strategy for that.
        mutation: A function that returns a changed copy of each workflow, given a random generator.
        features: Features that each workflow has, such as "parallel"; others may come beside them.
        avoid: Features that none has.
        tasks: The number of tasks, or the least and the most; by default 3 to 20. The tasks of all levels and of all
            workflows of a project count: with "hierarchy" and "derivation" avoided, all are `tasks` of the workflow.
            Where the features that are drawn need more tasks than the most, a workflow has as many as they need.

    Raises:
        UnknownNameError: for a feature that is not known.
        UsageError: for features that contradict each other, for other tasks than stated above, and for a recipe
            together with features or tasks.
        RecipeTooSmallError: while drawing, if a recipe requires more tasks than it allows.
        NoCaseError: as the mutation does, while drawing.
    """
    for what, names in (("features", features), ("avoid", avoid)):
        if isinstance(names, str):
            raise UsageError(f"workflows: {what} is {names!r}; expected a list of names, such as [{names!r}]")
    demanded, avoided = tuple(features), tuple(avoid)
    if recipe is not None and (demanded or avoided or tasks is not None):
        raise UsageError("workflows: found a recipe beside features or tasks; state them in the recipe")
    least, most = _least_and_most(tasks)
    if recipe is None:
        recipe = recipes(least, most, demanded, avoided)
    source = st.just(recipe) if isinstance(recipe, Recipe) else recipe
    randoms = st.randoms(use_true_random=False)

    def make(recipe: Recipe, rng: Random) -> Workflow:
        try:
            workflow = build(recipe, rng)
        except NoCaseError:  # no tasks of the domain make sense in what was drawn
            reject()
        return workflow if mutation is None else mutation(workflow, rng)

    return st.builds(make, source, randoms)


def _least_and_most(tasks: object) -> tuple[int, int]:
    """Return the least and the largest number of tasks.

    Raises:
        UsageError: if `tasks` is neither a number nor two numbers in range.
    """
    bounds = (TASKS[0], _MOST_TASKS) if tasks is None else tasks
    match tuple(bounds) if isinstance(bounds, tuple | list) else (bounds, bounds):
        case (int(least), int(most)) if TASKS[0] <= least <= most <= TASKS[-1]:
            return least, most
    numbers = f"a number from {TASKS[0]} to {TASKS[-1]}, or two, least first"
    raise UsageError(f"workflows: tasks is {tasks!r}; expected {numbers}")
