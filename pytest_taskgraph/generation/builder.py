"""Construction of the workflow of a recipe, with choices drawn from a seeded `Random` or by Hypothesis."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import replace
from random import Random
from typing import TypeVar

from ..errors import NoCaseError, RecipeTooSmallError
from ..workflow.model import (
    END,
    START,
    Configuration,
    Data,
    Domain,
    Gateway,
    Link,
    Parameter,
    QualifiedName,
    Task,
    Workflow,
)
from .blocks import Growth
from .data import Content, add_data, add_durations, bind, name_data
from .draft import Draft, DraftStep, FlowLayout, Node, add_cross_links, deciding_steps, walk
from .guards import Conditions, GuardNames
from .levels import Share, base_name, derive, share_out
from .placement import place_tasks
from .recipe import Recipe, demanded_features, draw_guard_operator, least_tasks, operators, run_length
from .vocabularies import Goal

CANDIDATES = 12  # shuffles of the links of a level, of which one is chosen
_T = TypeVar("_T")


def shuffle_declarations(project: Workflow, rng: Random) -> Workflow:
    """Return the project with all declarations in a drawn order, at any depth; the first workflow stays first."""

    def shuffle_level(level: Workflow) -> Workflow:
        return replace(
            level,
            tasks=_shuffle_copy(map(shuffle_task, level.tasks), rng),
            data=_shuffle_copy(level.data, rng),
            gateways=_shuffle_copy(level.gateways, rng),
            links=shuffle_links(level.links, rng),
            exceptional_links=_shuffle_copy(level.exceptional_links, rng) if level.exceptional_links else (),
            data_links=_shuffle_copy(level.data_links, rng),
            parameters=_shuffle_copy(level.parameters, rng),
            configurations=_shuffle_copy(map(shuffle_configuration, level.configurations), rng),
            others=_shuffle_copy(map(shuffle_level, level.others), rng),
        )

    def shuffle_task(task: Task) -> Task:
        if task.subworkflow is None and len(task.parameters) < 2 and len(task.effects) < 2:
            return task  # most tasks: nothing is drawn
        subworkflow = task.subworkflow and shuffle_level(task.subworkflow)
        parameters, effects = _shuffle_copy(task.parameters, rng), _shuffle_copy(task.effects, rng)
        return replace(task, parameters=parameters, effects=effects, subworkflow=subworkflow)

    def shuffle_configuration(configuration: Configuration) -> Configuration:
        configurations = _shuffle_copy(map(shuffle_configuration, configuration.configurations), rng)
        parameters = _shuffle_copy(configuration.parameters, rng)
        return replace(configuration, parameters=parameters, configurations=configurations)

    return shuffle_level(project)


def _shuffle_copy(items: Iterable[_T], rng: Random) -> tuple[_T, ...]:
    """Return the items in a drawn order."""
    order = list(items)
    rng.shuffle(order)
    return tuple(order)


def shuffle_durations(project: Workflow, rng: Random) -> Workflow:
    """Return the workflow with the durations of each of its levels exchanged among its tasks, at any depth."""
    durations = [task.duration for task in project.tasks if task.duration]
    rng.shuffle(durations)
    left = iter(durations)
    tasks = tuple(
        replace(
            task,
            duration=next(left) if task.duration else None,
            subworkflow=task.subworkflow and shuffle_durations(task.subworkflow, rng),
        )
        for task in project.tasks
    )
    return replace(project, tasks=tasks)


def shuffle_links(links: Sequence[Link], rng: Random) -> tuple[Link, ...]:
    """Return the links in a drawn order that does not reveal the order in which tasks run.

    A link mentions its source before its target. In a plain shuffle of a chain, two links in three therefore have a
    source that is mentioned before the target. Of CANDIDATES shuffles, return that whose share is closest to a half.
    """
    if len(links) < 2:
        return tuple(links)
    ends = [(link.source, link.target, link) for link in links]
    best, distance = ends, 1.0
    closest = min(abs(0.5 - in_order / len(ends)) for in_order in (len(ends) // 2, (len(ends) + 1) // 2))
    for _ in range(CANDIDATES):
        candidate = ends.copy()
        rng.shuffle(candidate)
        if distance <= closest:  # only the draws are repeated
            continue
        found = abs(0.5 - _share_mentioned_in_order(candidate))
        if found < distance:
            best, distance = candidate, found
    return tuple([link for _, _, link in best])


def _share_mentioned_in_order(ends: Sequence[tuple[str, str, Link]]) -> float:
    """Return the share of the links whose source is mentioned before their target, reading from the first link on."""
    first_mention: dict[str, int] = {}
    mention, in_order = first_mention.setdefault, 0
    for source, target, _ in ends:
        in_order += mention(source, len(first_mention)) < mention(target, len(first_mention))
    return in_order / len(ends)


class DraftConverter:
    """Converter of drafts into workflows; workflows that tasks refer to by name are collected in `others`."""

    def __init__(self, features: Collection[str], rng: Random) -> None:
        self.features, self.rng = features, rng
        self.others: list[Workflow] = []

    def workflow(self, draft: Draft) -> Workflow:
        """Return the level as a workflow, with all declarations in the order of the control flow."""
        tasks = [self._task(step) for step in draft.steps]
        data = [Data(datum.name, datum.description, datum.schema) for datum in draft.data]
        renumbered = self._gateway_names(draft)
        names: dict[Node, str] = {START: START, END: END, **renumbered}
        names.update({step: step.entry.name for step in draft.steps})
        domains = draft.domains if "domains" in self.features else []
        return Workflow(
            draft.name,
            draft.package,
            draft.description,
            tuple(tasks),
            tuple(data),
            tuple([Gateway(renumbered[gateway.name], gateway.kind, gateway.role) for gateway in draft.gateways]),
            tuple([Link(names[arc.source], names[arc.target], arc.guard) for arc in draft.arcs]),
            data_links=tuple([link for datum in draft.data for link in datum.links()]),
            parameters=tuple([Parameter(name, None, domain) for name, domain in domains]),
        )

    def _task(self, step: DraftStep) -> Task:
        inner = self.workflow(step.inner) if step.inner is not None else None
        reference = None
        if step.inner is not None and inner is not None and step.inner.referred:
            self.others.insert(0, inner)
            inner, reference = None, QualifiedName(step.inner.name)
        entry = step.entry
        return Task(
            entry.name,
            entry.description if step.described else "",
            entry.kind if step.classified else "",
            f"file://{entry.name}.py" if step.implemented else "",
            tuple(step.parameters),
            tuple(step.effects),
            inner,
            reference,
            tuple([(within.name, outside.name) for within, outside in step.bindings]),
            step.duration,
        )

    def _gateway_names(self, draft: Draft) -> dict[Node, str]:
        """Return new names for the gateways of a level: their names, permuted at random within each role."""
        new: dict[Node, str] = {}
        for role in ("split", "join"):
            names = [gateway.name for gateway in draft.gateways if gateway.role == role]
            new.update(zip(names, self.rng.sample(names, len(names)), strict=True))
        return new


def add_exceptional_links(workflow: Workflow, rng: Random) -> Workflow:
    """Return the workflow with exceptional links between its tasks.

    Of two or three tasks with a link to a task each, some lead exceptionally to the tasks that the others lead to. So
    links of both kinds leave the same tasks and enter the same tasks. A workflow without room for that gets one link.
    """
    tasks, linked = set(workflow.task_names), {(link.source, link.target) for link in workflow.links}
    chosen: list[tuple[str, str]] = []
    ways = [way for link in workflow.links if tasks.issuperset(way := (link.source, link.target))]
    for source, target in rng.sample(ways, len(ways)):
        crossings = [pair for other in chosen for pair in ((source, other[1]), (other[0], target))]
        apart = all(source != a and target != b for a, b in chosen) and source != target
        if len(chosen) < 3 and apart and not any(a == b or (a, b) in linked for a, b in crossings):
            chosen.append((source, target))
    links: list[Link] = []
    for source, target in chosen if len(chosen) > 1 else ():
        others = [other for _, other in chosen if other != target]
        links += [Link(source, other) for other in rng.sample(others, 1 + rng.randrange(len(others)))]
    if not links:
        free = [(a, b) for a in workflow.task_names for b in (*workflow.task_names, END)
                if a != b and (a, b) not in linked]  # fmt: skip
        links = [Link(*rng.choice(free))]
    return replace(workflow, exceptional_links=tuple(links))


FLAT = 1.2  # flatness of levels that take all tasks of a domain
STRUCTURES = 12  # most structures that are drawn until the tasks of a domain make sense in one


def build(recipe: Recipe, rng: Random) -> Workflow:
    """Return a workflow of exactly `recipe.tasks` tasks, well-formed.

    It is block-structured unless the recipe has cross links. All choices come from `rng`, through `random`,
    `randrange`, `choice`, `sample` and `shuffle`.

    Raises:
        RecipeTooSmallError: if the recipe's tasks are fewer than `least_tasks`.
        NoCaseError: if in none of STRUCTURES structures tasks of the domain make sense.
    """
    least = least_tasks(recipe)
    if recipe.tasks < least:
        raise RecipeTooSmallError(recipe.tasks, least, recipe.features)
    settled_recipe = draw_guard_operator(recipe, rng)
    for _ in range(STRUCTURES):
        workflow = _Builder(settled_recipe, rng).workflow()
        if workflow is not None:
            return workflow
    features = ", ".join(sorted(recipe.features)) or "no feature"
    raise NoCaseError(
        f"no {recipe.tasks} tasks of the vocabulary {recipe.vocabulary!r} found that make sense with {features}; "
        "ask for fewer tasks or features"
    )


class _Builder:
    """One build: levels, then names, then data and content, then the workflow."""

    def __init__(self, recipe: Recipe, rng: Random) -> None:
        self.recipe, self.rng = recipe, rng
        self.features = demanded_features(recipe)
        self.vocabulary = recipe.words
        self.names = GuardNames()
        self.conditions = Conditions(self.vocabulary, self.names, rng, recipe.prose)
        self.gateways = GuardNames()

    def workflow(self) -> Workflow | None:
        """Return the finished workflow; None if no tasks of the domain make sense in the drawn structure."""
        root = self._level(share_out(self.recipe, self.rng), root=True)
        levels = root.below()
        if not self._name_tasks(root):
            return None
        self._name_levels(root, levels)
        self._fill(root, levels)
        converter = DraftConverter(self.features, self.rng)
        workflow = converter.workflow(root)
        workflow = add_exceptional_links(workflow, self.rng) if "exceptional" in self.features else workflow
        workflow = replace(workflow, others=tuple(converter.others)) if converter.others else workflow
        workflow = derive(workflow, self.rng) if "derivation" in self.features else workflow
        return shuffle_declarations(workflow, self.rng)

    def _level(self, share: Share, root: bool = False) -> Draft:
        """Draw a level and all levels inside it; only the root is certain to have the features of the recipe."""
        kinds = list(operators(self.recipe))
        growth = Growth(share.own, self.recipe.width, self.recipe.depth, self.rng, self._flatness())
        if root:
            growth.start(run_length(self.recipe), list(kinds))
        growth.fill(kinds)
        draft = FlowLayout(self.conditions, self.gateways).level(growth.level)
        draft.referred = share.referred
        if root and self.recipe.cross_links:
            add_cross_links(draft, self.recipe.cross_links, self.rng)
        if share.inner:
            guarded = deciding_steps(draft)
            free = [step for step in draft.steps if step not in guarded]
            for step, inner in zip(self.rng.sample(free, len(share.inner)), share.inner, strict=True):
                step.inner = self._level(inner)
        return draft

    def _flatness(self) -> float:
        """Return how flat the levels are: the more tasks of a domain are used, the fewer fit side by side."""
        available = len(self.vocabulary.tasks)
        return min(1.0, FLAT * self.recipe.tasks / available) if available else 0.0

    def _name_tasks(self, root: Draft) -> bool:
        """Name the workflow and its tasks; return False if no tasks of the domain make sense."""
        words, domain = self.vocabulary, bool(self.vocabulary.tasks)
        goal = self.rng.choice(words.goals) if self.recipe.goal else None
        root.package = words.name
        root.name, root.purpose = self.rng.choice(words.workflows) if domain else words.workflows[0]
        if goal is not None:
            root.name, root.purpose = goal.name, goal.description
        self.names.take(root.name)
        self.names.take(base_name(root.name))
        if domain and not place_tasks(words, root, self.rng, self.recipe.misleading, self._tasks_to_omit(goal)):
            return False
        if not domain:
            for step, entry in zip(walk(root), words.computed(self.recipe.tasks, self.rng), strict=True):
                step.entry = entry
        for step in walk(root):
            self.names.take(step.name)
            if goal is not None:
                _state_contribution(goal, step)
        return True

    def _tasks_to_omit(self, goal: Goal | None) -> set[str]:
        """Return the tasks to omit: those that may contradict the goal, and those of the kind to omit."""
        tasks_to_omit = set(goal.excludes if goal is not None else ())
        if self.recipe.omit_kind:
            kind = self.rng.choice(self.vocabulary.kinds)
            tasks_to_omit.update(task.name for task in self.vocabulary.tasks if task.kind == kind)
        return tasks_to_omit

    def _name_levels(self, root: Draft, levels: list[Draft]) -> None:
        """Name the sub-workflows: in a domain after their tasks, else by shuffled numbers."""
        step_of_level = {id(step.inner): step for level in levels for step in level.steps if step.inner is not None}
        numbers = self.rng.sample(range(2, len(levels) + 1), len(levels) - 1)
        for level, number in zip(levels[1:], numbers, strict=True):
            step = step_of_level[id(level)]
            domain = bool(self.vocabulary.tasks)
            level.name = self.names.take(f"{step.name}Flow" if domain else f"{root.name}{number}")
            level.purpose = step.entry.description if domain else ""
            level.package = self.vocabulary.name if level.referred else ""

    def _fill(self, root: Draft, levels: list[Draft]) -> None:
        """Draw data and content."""
        if "data" in self.features:
            taken: set[str] = set()
            for level in levels:
                add_data(level, self.rng, not self.recipe.misleading, taken)
                taken.update(datum.name for datum in level.data)
            if "bindings" in self.features:
                self._bind(levels)
            name_data(levels, self.vocabulary, self.names, self.rng)
        if "domains" in self.features and not any(level.domains for level in levels):
            measure = self.conditions.measure()
            root.domains.append((measure.name, Domain("integer", measure.low, measure.high)))
        Content(levels, self.features, self.conditions, self.recipe.complete).fill()
        if "durations" in self.features:
            add_durations(levels, self.vocabulary, self.rng)

    def _bind(self, levels: list[Draft]) -> None:
        """Bind data of at least one composite task."""
        composite = [(level, step) for level in levels for step in level.steps if step.inner is not None]
        for level, step in self.rng.sample(composite, 1 + self.rng.randrange(len(composite))):
            bind(level, step, self.rng)


def _state_contribution(goal: Goal, step: DraftStep) -> None:
    """Make a step state in its parameters or its description how it serves the goal, if the goal concerns it."""
    for alternative in goal.alternatives:
        if alternative.task == step.name and alternative.parameter:
            step.parameters.append(Parameter(alternative.parameter, alternative.fits))
        elif alternative.task == step.name:
            step.entry = replace(step.entry, description=str(alternative.fits))
