"""Plants flaws in what a workflow and its tasks are named and described as (patterns.md, F1 to F3 and F5 to F7).

Each takes a workflow that is one level of tasks of a domain, and raises NoCaseError for any other. A flaw of tasks is
remembered as triples: the task, what it does by its name, and what is said or done instead.
"""

from __future__ import annotations

import re
from dataclasses import replace
from random import Random

from ..errors import NoCaseError
from ..workflow.graph import inputs, outputs
from ..workflow.model import Task, Workflow
from .domain_tasks import absent, domain, elsewhere, entry, flawed, how_many, retasked
from .vocabularies import Entry, Vocabulary, number_of, numbered

STEM = 4  # letters of a word that tell it
FEW = 4  # tasks to choose from; of less, all would be guessed


def hide_description(workflow: Workflow, rng: Random) -> Workflow:
    """The workflow without the description of one task; the flaw tells the task and its description.

    Tasks that are the same but for their number lose it too, so that it is nowhere to be read.
    """
    domain(workflow)
    described = [task for task in workflow.tasks if task.description]
    if len(described) < len(workflow.tasks):
        raise NoCaseError(f"hide-description: not all tasks of workflow {workflow.name!r} are described")
    hidden = rng.choice(described)
    tasks = tuple(
        replace(task, description="") if task.description == hidden.description else task for task in workflow.tasks
    )
    return flawed(replace(workflow, tasks=tasks), "hide-description", (hidden.name, hidden.description))


def hide_purpose(workflow: Workflow, rng: Random) -> Workflow:
    """The workflow without its own description, which the flaw tells."""
    domain(workflow)
    if not workflow.description:
        raise NoCaseError(f"hide-purpose: workflow {workflow.name!r} is not described")
    return flawed(replace(workflow, description=""), "hide-purpose", (workflow.description,))


def misdescribe(workflow: Workflow, rng: Random) -> Workflow:
    """The workflow with one or two tasks described as others that it has not and that are of another kind.

    Those are of the same domain while it has any to spare.
    """
    chosen = domain(workflow)
    details, used = list[str](), set[str]()
    for task in _drawn([task for task in workflow.tasks if task.description], rng):
        own = entry(chosen, task.name)
        others = [one for one in _spare(workflow, chosen) if one.kind != own.kind and one.description not in used]
        if others:
            other = rng.choice(others)
            used.add(other.description)
            details += (task.name, own.description, other.description)
    new = dict(zip(details[::3], details[2::3], strict=True))
    tasks = tuple(replace(task, description=new.get(task.name, task.description)) for task in workflow.tasks)
    return flawed(replace(workflow, tasks=tasks), "misdescribe", details)


def misname(workflow: Workflow, rng: Random) -> Workflow:
    """The workflow with one or two tasks named as others that it has not and whose data share nothing with theirs.

    No word of the new name, or of the data that go with it, is in the names of what the task reads and writes. The flaw
    tells the new name, what the task reads and writes, and what one of that name would.
    """
    chosen = domain(workflow)
    changes, details = dict[str, Entry](), list[str]()
    for task in _drawn([task for task in workflow.tasks if _data(workflow, task)], rng):
        taken = {one.description for one in changes.values()}
        words = {word for name in _data(workflow, task) for word in _words(name)}
        near = [one for one in _spare(workflow, chosen) if one.description not in taken]
        others = [one for one in near if not words & _own_words(one)]
        if others:
            other = changes[task.name] = numbered(rng.choice(others), number_of(task.name))
            reads, writes = inputs(workflow, task.name), outputs(workflow, task.name)
            details += (other.name, _flow(other.reads, other.writes), _flow(reads, writes))
    return flawed(retasked(workflow, changes), "misname", details)


def keep_purpose(workflow: Workflow, rng: Random) -> Workflow:
    """The workflow as it is, with what its name means remembered, and what its description says: the same."""
    meant = _meant(workflow)
    if workflow.description != meant:
        raise NoCaseError(f"keep-purpose: workflow {workflow.name!r} is not described as what its name means")
    return flawed(workflow, "keep-purpose", (meant, meant))


def swap_purpose(workflow: Workflow, rng: Random) -> Workflow:
    """The workflow with either the name or the description of one of another domain; both meanings are remembered."""
    _meant(workflow)
    name, told = rng.choice(rng.choice(list(elsewhere(domain(workflow)))).workflows)
    if not workflow.description:
        raise NoCaseError(f"swap-purpose: workflow {workflow.name!r} is not described")
    by_name = rng.random() < 0.5
    swapped = replace(workflow, name=name) if by_name else replace(workflow, description=told)
    meant = told if by_name else _meant(workflow)
    return flawed(swapped, "swap-purpose", (meant, swapped.description))


def stray_task(workflow: Workflow, rng: Random) -> Workflow:
    """The workflow with tasks of another domain in the places of one or two; the flaw tells theirs and its purpose."""
    meant, changes, details = _meant(workflow), dict[str, Entry](), list[str]()
    taken = {*workflow.task_names, *(one.name for one in workflow.data)}
    others = [one for one in rng.choice(list(elsewhere(domain(workflow)))).tasks if one.name not in taken]
    drawn = _drawn(list(workflow.tasks), rng)
    for task, other in zip(drawn, rng.sample(others, len(drawn)), strict=True):
        changes[task.name] = numbered(other, number_of(task.name))
        details += (changes[task.name].name, meant, other.description)
    return flawed(retasked(workflow, changes), "stray-task", details)


def _drawn(tasks: list[Task], rng: Random) -> list[Task]:
    return rng.sample(tasks, min(how_many(rng), len(tasks)))


def _spare(workflow: Workflow, chosen: Vocabulary) -> list[Entry]:
    """Tasks of the domain that the workflow has not, or too few of them, of the other domains too."""
    taken = {one.name for one in workflow.data}
    near = absent(workflow, chosen)
    far = [one for other in elsewhere(chosen) for one in other.tasks]
    return [one for one in (near if len(near) > FEW else far) if one.name not in taken]


def _meant(workflow: Workflow) -> str:
    """What the name of the workflow means."""
    found = dict(domain(workflow).workflows).get(workflow.name)
    if found is None:
        raise NoCaseError(f"the name of workflow {workflow.name!r} is none of its domain")
    return found


def _data(workflow: Workflow, task: Task) -> tuple[str, ...]:
    return (*inputs(workflow, task.name), *outputs(workflow, task.name))


def _words(name: str) -> list[str]:
    return [part.lower()[:STEM] for part in re.findall(r"[A-Z][a-z]*", name)]


def _own_words(one: Entry) -> set[str]:
    return {word for name in (one.name, *one.reads, *one.writes) for word in _words(name)}


def _flow(reads: tuple[str, ...], writes: tuple[str, ...]) -> str:
    """What a task does with data: "reads A and B and writes C"."""
    parts = [f"{verb} {' and '.join(names)}" for verb, names in (("reads", reads), ("writes", writes)) if names]
    return " and ".join(parts)
