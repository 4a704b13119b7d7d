"""Builds the workflow of a recipe. One builder, two sources of choice: a seeded `Random`, or Hypothesis's own."""

from __future__ import annotations

from dataclasses import replace
from random import Random

from ..errors import RecipeTooSmallError
from ..workflow.model import Domain, Workflow
from .blocks import Growth
from .conditions import Conditions, Names
from .content import Content
from .data_flow import add_data, bind, name_data
from .declarations import shuffle_declarations
from .derivation import base_name, derive
from .draft import Draft, walk
from .finish import Finish
from .flow import add_cross_links, ancestors
from .hierarchy import Share, share_out
from .layout import Layout, deciders
from .recipe import Recipe, demanded, least_tasks, operators, run_length, settled
from .sensible_order import sensible_entries
from .vocabularies import Entry, vocabulary


def generate(recipe: Recipe, seed: int | str) -> Workflow:
    """The workflow of the recipe and the seed; the same in any process. Raises as `build` does."""
    return build(recipe, Random(seed))


def build(recipe: Recipe, rng: Random) -> Workflow:
    """A workflow of exactly `recipe.tasks` tasks, well-formed, in the normal form of `workflow/canonical.py`.

    It is block-structured unless the recipe has cross links. All choices come from `rng`, through `random`,
    `randrange`, `choice`, `sample` and `shuffle`. Raises RecipeTooSmallError where the recipe's tasks are fewer than
    `least_tasks`.
    """
    least = least_tasks(recipe)
    if recipe.tasks < least:
        raise RecipeTooSmallError(recipe.tasks, least, recipe.features)
    return _Builder(settled(recipe, rng), rng).workflow()


class _Builder:
    """One building: levels, then names, then data and content, then the workflow."""

    def __init__(self, recipe: Recipe, rng: Random) -> None:
        self.recipe, self.rng = recipe, rng
        self.wanted = demanded(recipe)
        self.vocabulary = vocabulary(recipe.vocabulary)
        self.names = Names()
        self.conditions = Conditions(self.vocabulary, self.names, rng)
        self.gateways = Names()

    def workflow(self) -> Workflow:
        """The finished workflow."""
        root = self._level(share_out(self.recipe, self.rng), root=True)
        levels = root.below()
        self._name(root, levels)
        self._fill(root, levels)
        finish = Finish(self.wanted, self.rng)
        whole = finish.workflow(root)
        whole = replace(whole, others=tuple(finish.others))
        whole = derive(whole, self.rng) if "derivation" in self.wanted else whole
        return shuffle_declarations(whole, self.rng)

    def _level(self, share: Share, root: bool = False) -> Draft:
        """A level with all that are inside it; only the root is sure to have what the recipe demands."""
        kinds = list(operators(self.recipe))
        growth = Growth(share.own, self.recipe.width, self.recipe.depth, self.rng)
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

    def _name(self, root: Draft, levels: list[Draft]) -> None:
        """Names the tasks in the order of the control flow, and the levels."""
        wholes, domain = self.vocabulary.workflows, bool(self.vocabulary.tasks)
        root.package = self.vocabulary.name
        root.name, root.purpose = self.rng.choice(wholes) if domain else wholes[0]
        self.names.take(root.name)
        self.names.take(base_name(root.name))
        for step, entry in zip(walk(root), self._entries(root, levels), strict=True):
            step.entry = entry
            self.names.take(entry.name)
            if domain and step.inner is not None:
                step.inner.purpose = entry.description
        numbers = self.rng.sample(list(range(2, len(levels) + 1)), len(levels) - 1)
        for level, number in zip(levels[1:], numbers, strict=True):
            level.name = self.names.take(f"{root.name}{number}")
            level.package = self.vocabulary.name if level.referred else ""

    def _entries(self, root: Draft, levels: list[Draft]) -> list[Entry]:
        """The tasks of the vocabulary for the steps of all levels, in the order in which `walk` finds these."""
        if not self.vocabulary.tasks or len(levels) > 1:
            return self.vocabulary.entries(self.recipe.tasks, self.rng)
        return sensible_entries(self.vocabulary, ancestors(root), self.rng)

    def _fill(self, root: Draft, levels: list[Draft]) -> None:
        """Draws data and content."""
        if "data" in self.wanted:
            for level in levels:
                add_data(level, self.rng)
            if "bindings" in self.wanted:
                self._bind(levels)
            name_data(levels, self.names, self.rng)
        if "domains" in self.wanted and not any(level.domains for level in levels):
            measure = self.conditions.measure()
            root.domains.append((measure.name, Domain("integer", measure.low, measure.high)))
        Content(levels, self.wanted, self.conditions).fill()

    def _bind(self, levels: list[Draft]) -> None:
        """Binds data of one composite task at least."""
        composite = [(level, step) for level in levels for step in level.steps if step.inner is not None]
        for level, step in self.rng.sample(composite, 1 + self.rng.randrange(len(composite))):
            bind(level, step, self.rng)
