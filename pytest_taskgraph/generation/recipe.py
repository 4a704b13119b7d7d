"""The recipe of a generated workflow: its size, its shape, and the features that it has and has not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from random import Random

from ..errors import UnknownNameError, UsageError
from ..workflow.features import FEATURES
from .blocks import Kind
from .vocabularies import Vocabulary, vocabulary

TASKS = range(3, 201)
WIDTHS = range(2, 21)
DEPTHS = range(1, 11)
CROSS_LINKS = range(201)

# The tasks that each operator needs: a choice its head and two branches; a fork the task before it and two branches; a
# loop the task before it and a body of one task.
OPERATORS: dict[Kind, int] = {"exclusive": 3, "inclusive": 3, "loop": 2, "mixed": 3, "parallel": 3}
GUARDED: tuple[Kind, ...] = ("exclusive", "inclusive", "loop", "mixed")
IMPLIED = {
    "exclusive": ("guards",),
    "inclusive": ("guards",),
    "loop": ("guards", "exclusive"),  # repeating or leaving is an exclusive choice
    "mixed": ("guards", "inclusive"),  # the unguarded branch always runs, the other may run too
    "schemas": ("data",),
    "references": ("hierarchy",),
    "bindings": ("data", "hierarchy"),
}
FILLABLE = ("implementations", "descriptions", "kinds", "parameters")  # features that a derived workflow can fill in


@dataclass(frozen=True, slots=True)
class Recipe:
    """The specification of a workflow that `build` makes.

    `tasks` counts tasks at any depth, composite ones included. A block has at most `width` branches; blocks of one
    level, and inline sub-workflows, are nested at most `depth` deep; references form a chain of up to 4. The workflow
    has the `features`, none of those to `avoid`, and no others except those that are implied (a choice has guards, a
    loop chooses between back and on, a schema needs data) or needed: "guards" alone draw one operator that has guards,
    "derivation" alone adds "implementations" for the derived workflow to fill in. `cross_links` further links break the
    blocks; they fork, so they add "parallel".

    The `vocabulary` names the domain of the tasks. No task of a domain is used twice, so a domain limits `tasks`. The
    tasks are in an order that makes sense or, in a `misleading` workflow, in reverse. In a `complete` workflow all
    tasks are described and all atomic ones have a kind; with a `goal`, the workflow has a definite purpose, which all
    its tasks serve; with `omit_kind`, one kind of the domain is missing; with `prose`, conditions may be stated in the
    words of the domain.

    Raises:
        UnknownNameError: for an unknown feature or vocabulary.
        UsageError: for a number out of range and for a feature that is both to be avoided and needed.
    """

    tasks: int = 12
    width: int = 3
    depth: int = 3
    features: frozenset[str] = frozenset()
    avoid: frozenset[str] = frozenset()
    vocabulary: str = "neutral"
    cross_links: int = 0
    misleading: bool = False
    complete: bool = False
    goal: bool = False
    omit_kind: bool = False
    prose: bool = False

    def __post_init__(self) -> None:
        for name in ("features", "avoid"):  # a set is as good, but has no hash
            object.__setattr__(self, name, frozenset(getattr(self, name)))
        for name, span in (("tasks", TASKS), ("width", WIDTHS), ("depth", DEPTHS), ("cross_links", CROSS_LINKS)):
            if (value := getattr(self, name)) not in span:
                raise UsageError(f"recipe: {name} is {value!r}; expected a whole number from {span[0]} to {span[-1]}")
        for name in sorted(self.features | self.avoid):
            if name not in FEATURES:
                raise UnknownNameError("feature", name, FEATURES)
        if (available := len(self.words.tasks)) and self.tasks > available:
            raise UsageError(
                f"recipe: {self.tasks} tasks, but the vocabulary {self.vocabulary!r} has {available}; ask for fewer"
            )
        if clash := sorted(demanded_features(self) & self.avoid):
            raise UsageError(f"recipe: {', '.join(clash)} is demanded, or implied by what is, and avoided; drop either")
        if "guards" in self.features and not guard_operators(self):
            raise UsageError("recipe: guards are demanded, but every operator that has guards is avoided; allow one")

    @property
    def words(self) -> Vocabulary:
        """Return the vocabulary that the recipe names."""
        return vocabulary(self.vocabulary)


@lru_cache(maxsize=64)
def implied_features(name: str) -> frozenset[str]:
    """Return the feature with all features that it implies."""
    names = [name]
    for current in names:
        names.extend(IMPLIED.get(current, ()))
    return frozenset(names)


@lru_cache(maxsize=256)
def demanded_features(recipe: Recipe) -> frozenset[str]:
    """Return the features that every workflow of the recipe has: the demanded ones and what they imply."""
    names = [*recipe.features, *(["parallel"] if recipe.cross_links else [])]
    if "derivation" in names and "implementations" not in recipe.avoid and not recipe.features.intersection(FILLABLE):
        names.append("implementations")
    return frozenset(feature for name in names for feature in implied_features(name))


def operators(recipe: Recipe) -> tuple[Kind, ...]:
    """Return the operators that the recipe names, in alphabetical order; each gets a block of its own."""
    return tuple(name for name in OPERATORS if name in recipe.features)


def guard_operators(recipe: Recipe) -> tuple[Kind, ...]:
    """Return the operators that can provide the guards: the demanded ones, else all that need not be avoided."""
    demanded = tuple(name for name in GUARDED if name in recipe.features)
    return demanded or tuple(name for name in GUARDED if not implied_features(name) & recipe.avoid)


def draw_guard_operator(recipe: Recipe, rng: Random) -> Recipe:
    """Return the recipe with an operator drawn for its guards, if it demands guards but no operator with guards."""
    if "guards" not in recipe.features or recipe.features.intersection(GUARDED):
        return recipe
    options = [replace(recipe, features=recipe.features | {name}) for name in guard_operators(recipe)]
    return rng.choice([option for option in options if least_tasks(option) <= recipe.tasks])


def run_length(recipe: Recipe) -> int:
    """Return how many tasks in a row the recipe's cross links need, each skipping at least one task; or 0."""
    length = 3 if recipe.cross_links else 0
    while length and (length - 1) * (length - 2) // 2 < recipe.cross_links:
        length += 1
    return length


@lru_cache(maxsize=256)
def least_own(recipe: Recipe) -> int:
    """Return the least number of tasks directly in the workflow."""
    demanded = operators(recipe)
    cost = sum(OPERATORS[name] for name in demanded) + run_length(recipe)
    if "guards" in recipe.features and not set(demanded) & set(GUARDED):
        cost += min(OPERATORS[name] for name in guard_operators(recipe))
    return max(cost, 2)


@lru_cache(maxsize=256)
def least_tasks(recipe: Recipe) -> int:
    """Return the least number of tasks with which `build` can follow the recipe, whatever its own number."""
    nested = 1 if "hierarchy" in demanded_features(recipe) else 0
    return max(TASKS[0], least_own(recipe) + nested)
