"""What the flaws of a domain share: the vocabulary of a workflow, tasks that it has not, and putting these in."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from random import Random

from ..errors import NoCaseError
from ..workflow.check import problems
from ..workflow.model import Flaw, Task, Workflow
from .vocabularies import Entry, Vocabulary, domain_names, vocabulary

MOST = 2  # tasks that one flaw is planted in


def domain(workflow: Workflow) -> Vocabulary:
    """The vocabulary that all tasks of the workflow are of. Raises NoCaseError where there is none."""
    if workflow.package in domain_names():
        chosen = vocabulary(workflow.package)
        if all(chosen.entry(name) and not workflow.task(name).composite for name in workflow.task_names):
            return chosen
    raise NoCaseError(f"workflow {workflow.name!r} is not one level of tasks of a domain ({', '.join(domain_names())})")


def entry(chosen: Vocabulary, name: str) -> Entry:
    """The task of that name; KeyError where the vocabulary has none."""
    found = chosen.entry(name)
    if found is None:
        raise KeyError(name)
    return found


def how_many(rng: Random) -> int:
    """In how many tasks a flaw is planted: one or two."""
    return 1 + rng.randrange(MOST)


def absent(workflow: Workflow, chosen: Vocabulary) -> list[Entry]:
    """The tasks of the vocabulary that the workflow has not, under no number."""
    held = {entry(chosen, name).description for name in workflow.task_names}
    return [one for one in chosen.tasks if one.description not in held]


def elsewhere(chosen: Vocabulary) -> Iterator[Vocabulary]:
    """The other domains."""
    return (vocabulary(name) for name in domain_names() if name != chosen.name)


def retasked(workflow: Workflow, changes: Mapping[str, Entry]) -> Workflow:
    """The workflow with other tasks in the places of some: name, and what they say of themselves where they do."""

    def name(node: str) -> str:
        return changes[node].name if node in changes else node

    def task(one: Task) -> Task:
        if one.name not in changes:
            return one
        new = changes[one.name]
        return replace(
            one,
            name=new.name,
            description=new.description if one.description else "",
            kind=new.kind if one.kind else "",
            implementation=f"file://{new.name}.py" if one.implementation else "",
        )

    return replace(
        workflow,
        tasks=tuple(map(task, workflow.tasks)),
        links=tuple(replace(link, source=name(link.source), target=name(link.target)) for link in workflow.links),
        data_links=tuple(
            replace(link, source=name(link.source), target=name(link.target)) for link in workflow.data_links
        ),
    )


def flawed(workflow: Workflow, kind: str, details: Iterable[str]) -> Workflow:
    """The workflow with the flaw remembered. Raises NoCaseError where it is not well-formed, or no task has a flaw."""
    told = tuple(details)
    if not told or problems(workflow):
        raise NoCaseError(f"{kind}: workflow {workflow.name!r} has no place for it")
    return replace(workflow, flaw=Flaw(kind, told))
