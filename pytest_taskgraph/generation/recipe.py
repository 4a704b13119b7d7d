"""What a generated workflow is to be like: its size, its shape, and the features it has and has not."""

from __future__ import annotations

from dataclasses import dataclass, replace
from random import Random

from ..errors import UnknownNameError, UsageError
from ..workflow.features import FEATURES
from .blocks import Kind
from .vocabularies import Vocabulary, vocabulary

TASKS = range(3, 201)
WIDTHS = range(2, 21)
DEPTHS = range(1, 11)
CROSS_LINKS = range(201)

# What each operator takes of the tasks: a choice its head and two branches; a fork the task before it and two
# branches; a loop the task before it and a body of one.
OPERATORS: dict[Kind, int] = {"exclusive": 3, "inclusive": 3, "loop": 2, "mixed": 3, "parallel": 3}
GUARDED: tuple[Kind, ...] = ("exclusive", "inclusive", "loop", "mixed")
IMPLIED = {
    "exclusive": ("guards",),
    "inclusive": ("guards",),
    "loop": ("guards", "exclusive"),  # to go back or to go on is an exclusive choice
    "mixed": ("guards", "inclusive"),  # the unguarded branch always runs, the other one may run too
    "schemas": ("data",),
    "references": ("hierarchy",),
    "bindings": ("data", "hierarchy"),
}
FILLABLE = ("implementations", "descriptions", "kinds", "parameters")  # what a derived workflow can fill in


@dataclass(frozen=True, slots=True)
class Recipe:
    """What `build` is to make.

    `tasks` counts tasks at any depth, composite ones included. A block has at most `width` branches; blocks of one
    level, and inline sub-workflows, stand at most `depth` deep in one another; references form a chain of up to 4.
    The workflow has the `features`, none that it must `avoid`, and no other, but what they imply (a choice has guards,
    a loop chooses between back and on, a schema needs data) and what they need: "guards" alone draw one operator that
    has guards, "derivation" alone brings "implementations" for the derived workflow to fill in. `cross_links` further
    links break the blocks; they fork, so they bring "parallel".

    The `vocabulary` names the domain that the tasks are of. No task of a domain stands twice, so a domain limits
    `tasks`. Its tasks stand where they make sense or, in a `misleading` workflow, the other way round. In a `complete`
    one all tasks are described and all atomic ones have a kind; one with a `goal` is for something definite, which all
    its tasks serve; one kind of the domain is missing where `omit_kind` says so; `prose` lets conditions be said in the
    words of the domain.

    Raises UnknownNameError for an unknown feature or vocabulary, UsageError for a number out of range and for a
    feature that is to be avoided and needed at once.
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
        for name, span in (("tasks", TASKS), ("width", WIDTHS), ("depth", DEPTHS), ("cross_links", CROSS_LINKS)):
            if (found := getattr(self, name)) not in span:
                raise UsageError(f"recipe: {name} is {found!r}; expected a whole number from {span[0]} to {span[-1]}")
        for name in sorted(self.features | self.avoid):
            if name not in FEATURES:
                raise UnknownNameError("feature", name, FEATURES)
        if (most := len(self.words.tasks)) and self.tasks > most:
            raise UsageError(
                f"recipe: {self.tasks} tasks, but the vocabulary {self.vocabulary!r} has {most}; ask for fewer"
            )
        if clash := sorted(demanded(self) & self.avoid):
            raise UsageError(f"recipe: {', '.join(clash)} is demanded, or implied by what is, and avoided; drop either")
        if "guards" in self.features and not guarding(self):
            raise UsageError("recipe: guards are demanded, but every operator that has guards is avoided; allow one")

    @property
    def words(self) -> Vocabulary:
        """The vocabulary that the recipe names."""
        return vocabulary(self.vocabulary)


def implied(name: str) -> frozenset[str]:
    """The feature with all that a workflow cannot but have where it has it."""
    found = [name]
    for one in found:
        found.extend(IMPLIED.get(one, ()))
    return frozenset(found)


def demanded(recipe: Recipe) -> frozenset[str]:
    """The features that every workflow of the recipe has: those it names and what they imply."""
    named = [*recipe.features, *(["parallel"] if recipe.cross_links else [])]
    if "derivation" in named and "implementations" not in recipe.avoid and not recipe.features.intersection(FILLABLE):
        named.append("implementations")
    return frozenset(one for name in named for one in implied(name))


def operators(recipe: Recipe) -> tuple[Kind, ...]:
    """The operators that the recipe names, in alphabetical order; each gets a block of its own."""
    return tuple(name for name in OPERATORS if name in recipe.features)


def guarding(recipe: Recipe) -> tuple[Kind, ...]:
    """The operators of which one gives the workflow its guards: those named, else all that need not be avoided."""
    named = tuple(name for name in GUARDED if name in recipe.features)
    return named or tuple(name for name in GUARDED if not implied(name) & recipe.avoid)


def settled(recipe: Recipe, rng: Random) -> Recipe:
    """The recipe with one operator drawn for its guards, if it demands guards and names no operator that has them."""
    if "guards" not in recipe.features or recipe.features.intersection(GUARDED):
        return recipe
    options = [replace(recipe, features=recipe.features | {name}) for name in guarding(recipe)]
    return rng.choice([one for one in options if least_tasks(one) <= recipe.tasks])


def run_length(recipe: Recipe) -> int:
    """The number of tasks in a row that have room for the recipe's cross links, each skipping at least one; or 0."""
    length = 3 if recipe.cross_links else 0
    while length and (length - 1) * (length - 2) // 2 < recipe.cross_links:
        length += 1
    return length


def least_own(recipe: Recipe) -> int:
    """The least number of tasks directly in the workflow."""
    found = operators(recipe)
    cost = sum(OPERATORS[name] for name in found) + run_length(recipe)
    if "guards" in recipe.features and not set(found) & set(GUARDED):
        cost += min(OPERATORS[name] for name in guarding(recipe))
    return max(cost, 2)


def least_tasks(recipe: Recipe) -> int:
    """The least number of tasks with which `build` can follow the recipe, whatever its own number: 3 or more."""
    nested = 1 if "hierarchy" in demanded(recipe) else 0
    return max(TASKS[0], least_own(recipe) + nested)
