"""Builds the workflow of a recipe. One builder, two sources of choice: a seeded `Random`, or Hypothesis's own."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from ..errors import NoCaseError, RecipeTooSmallError
from ..workflow.model import Domain, Parameter, Workflow
from .blocks import Growth
from .conditions import Conditions, Names
from .content import Content
from .data_flow import add_data, bind, name_data
from .declarations import shuffle_declarations
from .derivation import base_name, derive
from .draft import Draft, Step, walk
from .finish import Finish
from .flow import add_cross_links
from .hierarchy import Share, share_out
from .layout import Layout, deciders
from .placement import place_tasks
from .recipe import Recipe, demanded, least_tasks, operators, run_length, settled
from .vocabularies import Goal

FLAT = 1.2  # how flat levels are that take all tasks of a domain
STRUCTURES = 12  # that are drawn until the tasks of a domain make sense in one


def generate(recipe: Recipe, seed: int | str) -> Workflow:
    """The workflow of the recipe and the seed; the same in any process. Raises as `build` does."""
    return build(recipe, Random(seed))


def build(recipe: Recipe, rng: Random) -> Workflow:
    """A workflow of exactly `recipe.tasks` tasks, well-formed, in the normal form of `workflow/canonical.py`.

    It is block-structured unless the recipe has cross links. All choices come from `rng`, through `random`,
    `randrange`, `choice`, `sample` and `shuffle`. Raises RecipeTooSmallError where the recipe's tasks are fewer than
    `least_tasks`, and NoCaseError where STRUCTURES structures found no tasks of the domain that make sense in them.
    """
    least = least_tasks(recipe)
    if recipe.tasks < least:
        raise RecipeTooSmallError(recipe.tasks, least, recipe.features)
    settled_recipe = settled(recipe, rng)
    for _ in range(STRUCTURES):
        found = _Builder(settled_recipe, rng).workflow()
        if found is not None:
            return found
    features = ", ".join(sorted(recipe.features)) or "no feature"
    raise NoCaseError(
        f"no {recipe.tasks} tasks of the vocabulary {recipe.vocabulary!r} found that make sense with {features}; "
        "ask for fewer tasks or features"
    )


class _Builder:
    """One building: levels, then names, then data and content, then the workflow."""

    def __init__(self, recipe: Recipe, rng: Random) -> None:
        self.recipe, self.rng = recipe, rng
        self.wanted = demanded(recipe)
        self.vocabulary = recipe.words
        self.names = Names()
        self.conditions = Conditions(self.vocabulary, self.names, rng, recipe.prose)
        self.gateways = Names()

    def workflow(self) -> Workflow | None:
        """Return the finished workflow; None where no tasks of the domain make sense in the structure drawn."""
        root = self._level(share_out(self.recipe, self.rng), root=True)
        levels = root.below()
        if not self._name(root):
            return None
        self._name_levels(root, levels)
        self._fill(root, levels)
        finish = Finish(self.wanted, self.rng)
        whole = finish.workflow(root)
        whole = replace(whole, others=tuple(finish.others))
        whole = derive(whole, self.rng) if "derivation" in self.wanted else whole
        return shuffle_declarations(whole, self.rng)

    def _level(self, share: Share, root: bool = False) -> Draft:
        """A level with all that are inside it; only the root is sure to have what the recipe demands."""
        kinds = list(operators(self.recipe))
        growth = Growth(share.own, self.recipe.width, self.recipe.depth, self.rng, self._flatness())
        if root:
            growth.start(run_length(self.recipe), list(kinds))
        growth.fill(kinds)
        draft = Layout(self.conditions, self.gateways).level(growth.level)
        draft.referred = share.referred
        if root and self.recipe.cross_links:
            add_cross_links(draft, self.recipe.cross_links, self.rng)
        guarded = deciders(draft)
        free = [step for step in draft.steps if step not in guarded]
        for step, inner in zip(self.rng.sample(free, len(share.inner)), share.inner, strict=True):
            step.inner = self._level(inner)
        return draft

    def _flatness(self) -> float:
        """Return how flat the levels are to be: the more tasks of a domain are used, the fewer fit side by side."""
        every = len(self.vocabulary.tasks)
        return min(1.0, FLAT * self.recipe.tasks / every) if every else 0.0

    def _name(self, root: Draft) -> bool:
        """Name the whole and its tasks; return False where no tasks of the domain make sense."""
        words, domain = self.vocabulary, bool(self.vocabulary.tasks)
        goal = self.rng.choice(words.goals) if self.recipe.goal else None
        root.package = words.name
        root.name, root.purpose = self.rng.choice(words.workflows) if domain else words.workflows[0]
        if goal is not None:
            root.name, root.purpose = goal.name, goal.description
        self.names.take(root.name)
        self.names.take(base_name(root.name))
        if domain and not place_tasks(words, root, self.rng, self.recipe.misleading, self._left_out(goal)):
            return False
        if not domain:
            for step, entry in zip(walk(root), words.computed(self.recipe.tasks, self.rng), strict=True):
                step.entry = entry
        for step in walk(root):
            self.names.take(step.name)
            if goal is not None:
                _serve(goal, step)
        return True

    def _left_out(self, goal: Goal | None) -> set[str]:
        """Return the tasks that the workflow must not have: those that may contradict its goal, and those of a kind."""
        kind = self.rng.choice(self.vocabulary.kinds) if self.recipe.omit_kind else None
        of_kind = {task.name for task in self.vocabulary.tasks if task.kind == kind}
        return of_kind | set(goal.excludes if goal is not None else ())

    def _name_levels(self, root: Draft, levels: list[Draft]) -> None:
        """Name the sub-workflows: in a domain after their tasks, else by numbers in no order."""
        around = {id(step.inner): step for level in levels for step in level.steps if step.inner is not None}
        numbers = self.rng.sample(list(range(2, len(levels) + 1)), len(levels) - 1)
        for level, number in zip(levels[1:], numbers, strict=True):
            step = around[id(level)]
            domain = bool(self.vocabulary.tasks)
            level.name = self.names.take(f"{step.name}Flow" if domain else f"{root.name}{number}")
            level.purpose = step.entry.description if domain else ""
            level.package = self.vocabulary.name if level.referred else ""

    def _fill(self, root: Draft, levels: list[Draft]) -> None:
        """Draws data and content."""
        if "data" in self.wanted:
            taken: set[str] = set()
            for level in levels:
                add_data(level, self.rng, not self.recipe.misleading, taken)
                taken.update(datum.name for datum in level.data)
            if "bindings" in self.wanted:
                self._bind(levels)
            name_data(levels, self.vocabulary, self.names, self.rng)
        if "domains" in self.wanted and not any(level.domains for level in levels):
            measure = self.conditions.measure()
            root.domains.append((measure.name, Domain("integer", measure.low, measure.high)))
        Content(levels, self.wanted, self.conditions, self.recipe.complete).fill()

    def _bind(self, levels: list[Draft]) -> None:
        """Binds data of one composite task at least."""
        composite = [(level, step) for level in levels for step in level.steps if step.inner is not None]
        for level, step in self.rng.sample(composite, 1 + self.rng.randrange(len(composite))):
            bind(level, step, self.rng)


def _serve(goal: Goal, step: Step) -> None:
    """Let a step say of itself how it serves the goal, where the goal has something to say of it."""
    for one in goal.alternatives:
        if one.task == step.name and one.parameter:
            step.parameters.append(Parameter(one.parameter, one.fits))
        elif one.task == step.name:
            step.entry = replace(step.entry, description=str(one.fits))
