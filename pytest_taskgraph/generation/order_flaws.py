"""Plants what is wrong, or to be missed, in the tasks of a domain and their order (patterns.md, F4 and F8)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from random import Random

from ..errors import NoCaseError
from ..workflow.graph import ancestors
from ..workflow.model import Workflow
from .domain_tasks import domain, entry, flawed, retasked
from .sensible_order import arranged
from .vocabularies import Entry, Vocabulary


def swap_order(workflow: Workflow, rng: Random) -> Workflow:
    """The workflow with two tasks in each other's place, so that one of them comes before what it must come after.

    That is the only thing out of order. The flaw tells the task that must be the earlier one, the later one, and what
    each does. Raises NoCaseError where something is out of order as it is, or no two tasks fit.
    """
    chosen = domain(workflow)
    before = {name: frozenset(ancestors(workflow, name)) for name in workflow.task_names}
    pairs = _relations(workflow, chosen)
    if not pairs or _violated(pairs, before, {}):
        raise NoCaseError(f"swap-order: workflow {workflow.name!r} has nothing to be put out of order")
    fitting = [pair for pair in pairs if _violated(pairs, before, dict([pair, pair[::-1]])) == [pair]]
    if not fitting:
        raise NoCaseError(f"swap-order: in workflow {workflow.name!r} no exchange puts just two tasks out of order")
    first, second = rng.choice(fitting)
    place = {first: second, second: first}
    links = tuple(
        replace(link, source=place.get(link.source, link.source), target=place.get(link.target, link.target))
        for link in workflow.links
    )
    told = (first, second, *(entry(chosen, name).description for name in (first, second)))
    return flawed(replace(workflow, links=links), "swap-order", told)


def _relations(workflow: Workflow, chosen: Vocabulary) -> list[tuple[str, str]]:
    """The pairs of tasks of which the first must come before the second, by name: declarations do not count."""
    names = sorted(workflow.task_names)
    return [(one, name) for name in names for one in entry(chosen, name).after if one in names]


def _violated(
    pairs: list[tuple[str, str]], before: Mapping[str, frozenset[str]], place: Mapping[str, str]
) -> list[tuple[str, str]]:
    """The pairs out of order when each task stands in the place of another."""
    return [(a, b) for a, b in pairs if place.get(a, a) not in before[place.get(b, b)]]


def omit_kind(workflow: Workflow, rng: Random) -> Workflow:
    """The workflow with other tasks, none of them of one kind of the domain, which the flaw tells.

    They are put in an order that makes sense where one is found. Raises NoCaseError where not all tasks tell a kind,
    or data flow.
    """
    chosen = domain(workflow)
    if workflow.data or not all(task.kind for task in workflow.tasks):
        raise NoCaseError(f"omit-kind: workflow {workflow.name!r} has data, or tasks of no kind")
    kind = rng.choice(chosen.kinds)
    return flawed(retasked(workflow, _without(workflow, chosen, kind, rng)), "omit-kind", (kind,))


def _without(workflow: Workflow, chosen: Vocabulary, kind: str, rng: Random) -> dict[str, Entry]:
    """For each task another one, not of that kind."""
    before = {name: ancestors(workflow, name) for name in workflow.task_names}
    order = sorted(before, key=lambda name: (len(before[name]), name))
    bits = [sum(1 << order.index(one) for one in before[name]) for name in order]
    others = [one for one in chosen.tasks if one.kind != kind]
    pool = [one for one in chosen.spare((), -(-len(order) // len(others))) if one.kind != kind]
    # Any of them are as likely: out of a larger choice, the search would prefer those that others wait for.
    drawn = [pool[i] for i in sorted(rng.sample(range(len(pool)), len(order)))]
    found = arranged(drawn, bits, rng) or drawn
    return dict(zip(order, found, strict=True))
