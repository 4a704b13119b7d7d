"""Plant a wrong order of two tasks of a domain (patterns.md, F8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from ..errors import NoCaseError
from ..workflow.graph import ancestors
from ..workflow.model import Workflow
from .domain_tasks import domain, entry, every_task, flawed, in_some_level
from .vocabularies import Vocabulary

Before = Mapping[str, frozenset[str]]  # of each task, those that lie before it


def swap_order(project: Workflow, rng: Random) -> Workflow:
    """Return the project with two tasks of a level in each other's place, so that one comes before what it requires.

    Of all pairs of tasks that the vocabulary puts in order, at any depth, that one alone is out of order. The flaw
    tells the task that must be the earlier one, the later one, and what each does.

    Raises:
        NoCaseError: if a condition or a cycle makes the order depend on the run, something is out of order as it is,
        or no two tasks fit.
    """
    chosen = domain(project)
    if misplaced(project, chosen):
        raise NoCaseError(f"swap-order: workflow {project.name!r} is out of order as it is")
    return in_some_level(project, rng, _swap)


def misplaced(project: Workflow, chosen: Vocabulary) -> list[tuple[str, str]]:
    """Return the pairs of tasks, at any depth, whose order in the workflow is not that of the order relation.

    A pair on two branches of a fork is such a pair, too. Sub-workflows that are referred to are left out.

    Raises:
        NoCaseError: if a link of the workflow has a condition, or leads back.
    """
    before = _before(project, frozenset())
    if any(task in earlier for task, earlier in before.items()):
        raise NoCaseError(f"swap-order: workflow {project.name!r} has a cycle")
    return [
        (early, late)
        for late in sorted(before)
        for early in entry(chosen, late).follows
        if early in before and early not in before[late]
    ]


def _before(level: Workflow, around: frozenset[str]) -> dict[str, frozenset[str]]:
    """Return what lies before each atomic task of a level and of those inside it; `around` lies before the level."""
    if any(link.guard is not None for link in level.links):
        raise NoCaseError(f"swap-order: workflow {level.name!r} has conditions")
    held = {
        task.name: {task.name} if task.subworkflow is None else {one.name for one in every_task(task.subworkflow)}
        for task in level.tasks
    }
    found: dict[str, frozenset[str]] = {}
    for task in level.tasks:
        earlier = around.union(*(held[name] for name in ancestors(level, task.name)))
        if task.subworkflow is not None:
            found |= _before(task.subworkflow, earlier)
        else:
            found[task.name] = earlier
    return found


def _swap(level: Workflow, project: Workflow, rng: Random) -> Workflow:
    chosen = domain(project)
    before = _before(project, frozenset())
    names = sorted(task.name for task in level.tasks if not task.composite)
    pairs = [(early, late) for late in names for early in entry(chosen, late).requires if early in names]
    fitting = [pair for pair in pairs if _out_of_order(before, chosen, pair) == [pair]]
    if not fitting:
        raise NoCaseError(f"swap-order: in workflow {level.name!r} no exchange puts just two tasks out of order")
    first, second = rng.choice(fitting)
    place = {first: second, second: first}
    links = tuple(
        replace(link, source=place.get(link.source, link.source), target=place.get(link.target, link.target))
        for link in level.links
    )
    told = (first, second, *(entry(chosen, name).description for name in (first, second)))
    return flawed(replace(level, links=links), "swap-order", told)


def _out_of_order(before: Before, chosen: Vocabulary, pair: tuple[str, str]) -> list[tuple[str, str]]:
    """Return the pairs out of order when the two tasks stand in each other's place."""
    place = {pair[0]: pair[1], pair[1]: pair[0]}
    return [
        (early, late)
        for late in before
        for early in entry(chosen, late).follows
        if early in before and place.get(early, early) not in before[place.get(late, late)]
    ]
