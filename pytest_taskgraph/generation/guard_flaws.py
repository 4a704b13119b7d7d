"""Plant guards that exclude each other, or do not, whatever operator their task has been built with."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from random import Random

from ..errors import NoCaseError
from ..workflow.model import Domain, Flaw, Link, Parameter, Workflow
from .conditions import conditions_for, words_in_use
from .guard_shapes import draw_guards


def exclude_guards(workflow: Workflow, rng: Random) -> Workflow:
    """Redraw the guards of all choices, so that those of one task at least exclude each other.

    Each other choice gets guards that do or do not, by a coin. Guards may leave gaps. Raises NoCaseError where no task
    has two guarded links.
    """
    return _redrawn(workflow, True, rng)


def overlap_guards(workflow: Workflow, rng: Random) -> Workflow:
    """Redraw the guards as `exclude_guards` does, so that two of one task at least can hold together."""
    return _redrawn(workflow, False, rng)


def _redrawn(workflow: Workflow, apart: bool, rng: Random) -> Workflow:
    choices = [links for links in _guarded(workflow) if len(links) > 1]
    if not choices:
        raise NoCaseError(f"guards: no task of workflow {workflow.name!r} has two guarded links")
    kept = [link for link in workflow.links if not any(link in links for links in choices)]
    used = {*words_in_use(kept, workflow)}
    shown = any(one.domain is not None for one in workflow.parameters)
    conditions = conditions_for(workflow, used, rng)
    new: dict[Link, Link] = {}
    domains: list[tuple[str, Domain]] = []
    planted = rng.randrange(len(choices))
    for at, links in enumerate(choices):
        choice = draw_guards(conditions, len(links), apart if at == planted else rng.random() < 0.5, shown)
        if choice is None:
            raise NoCaseError(f"guards: none are found for task {links[0].source!r} of workflow {workflow.name!r}")
        guarded = zip(links, choice.guards, strict=True)
        new.update((link, replace(link, guard=guard)) for link, guard in guarded)
        domains += choice.domains
    old = {*words_in_use([*new], workflow)} - used
    parameters = [one for one in workflow.parameters if one.name not in old]
    parameters += [Parameter(name, domain=domain) for name, domain in domains if shown]
    return replace(
        workflow,
        links=tuple(new.get(link, link) for link in workflow.links),
        parameters=tuple(parameters),
        flaw=Flaw("exclude-guards" if apart else "overlap-guards", (choices[planted][0].source,)),
    )


def _guarded(workflow: Workflow) -> Iterator[list[Link]]:
    """The guarded links out of every task that has some."""
    for task in workflow.task_names:
        links = [link for link in workflow.links if link.source == task and link.guard is not None]
        if links:
            yield links
