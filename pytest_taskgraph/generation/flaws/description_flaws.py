"""Plant flaws in the names and descriptions of a workflow and its tasks.

Each takes a workflow of the tasks of one domain, and raises NoCaseError for any other. A flaw of tasks stands in one
level and is remembered as triples: the task, what it does by its name, and what is said or done instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from random import Random

from ...errors import NoCaseError
from ...workflow.graph import inputs, outputs
from ...workflow.model import Flaw, Task, Workflow
from ...workflow.project import every_level, levels
from ..vocabularies import Vocabulary, VocabularyEntry
from .domain_flaws import absent, atomic, domain, entry, far_domains, flawed, how_many, in_some_level, retasked

STEM = 4  # letters of a word that tell it
FEW = 4  # tasks to choose from; of less, all would be guessed


def hide_description(project: Workflow, rng: Random) -> Workflow:
    """Return the project without the description of one task; the flaw tells the task and its description."""
    domain(project)
    return in_some_level(project, rng, _hide_description)


def _hide_description(level: Workflow, project: Workflow, rng: Random) -> Workflow:
    if not all(task.description for task in level.tasks):
        raise NoCaseError(f"hide-description: not all tasks of workflow {level.name!r} are described")
    candidates = atomic(level)
    hidden = rng.choice(candidates) if candidates else None
    if hidden is None:
        raise NoCaseError(f"hide-description: workflow {level.name!r} has only composite tasks")
    tasks = tuple(replace(task, description="") if task == hidden else task for task in level.tasks)
    return flawed(replace(level, tasks=tasks), "hide-description", (hidden.name, hidden.description))


def hide_purpose(project: Workflow, rng: Random) -> Workflow:
    """Return the project without its own description, which the flaw tells."""
    domain(project)
    if not project.description:
        raise NoCaseError(f"hide-purpose: workflow {project.name!r} is not described")
    return flawed(replace(project, description=""), "hide-purpose", (project.description,))


def misdescribe(project: Workflow, rng: Random) -> Workflow:
    """Return the project with one or two tasks described as others that it has not and that are of another kind.

    Those are of the same domain while it has any to spare, else of far ones.
    """
    domain(project)
    return in_some_level(project, rng, _misdescribe)


def _misdescribe(level: Workflow, project: Workflow, rng: Random) -> Workflow:
    chosen = domain(project)
    details, used = list[str](), set[str]()
    for task in _drawn([task for task in atomic(level) if task.description], rng):
        own = entry(chosen, task.name)
        others = [one for one in _spare(project, chosen) if one.kind != own.kind and one.description not in used]
        if others:
            other = rng.choice(others)
            used.add(other.description)
            details += (task.name, own.description, other.description)
    new = dict(zip(details[::3], details[2::3], strict=True))
    tasks = tuple(replace(task, description=new.get(task.name, task.description)) for task in level.tasks)
    return flawed(replace(level, tasks=tasks), "misdescribe", details)


def misname(project: Workflow, rng: Random) -> Workflow:
    """Return the project with one or two tasks named as others that it has not and whose data are quite different.

    No word of the new name, or of the data that go with it, is in the names of what the task reads and writes. The flaw
    tells the new name, what the task reads and writes, and what one of that name would.
    """
    domain(project)
    return in_some_level(project, rng, _misname)


def _misname(level: Workflow, project: Workflow, rng: Random) -> Workflow:
    chosen = domain(project)
    changes, details = dict[str, VocabularyEntry](), list[str]()
    for task in _drawn([task for task in atomic(level) if _data(level, task)], rng):
        taken = {one.name for one in changes.values()}
        words = {word for name in _data(level, task) for word in _words(name)}
        near = [one for one in _spare(project, chosen) if one.name not in taken]
        others = [one for one in near if not words & _own_words(one)]
        if others:
            other = changes[task.name] = rng.choice(others)
            reads, writes = inputs(level, task.name), outputs(level, task.name)
            details += (other.name, _flow(other.reads, other.writes), _flow(reads, writes))
    return flawed(retasked(level, changes), "misname", details)


def keep_purpose(project: Workflow, rng: Random) -> Workflow:
    """Return the project as it is, with what its name means remembered, and what its description says: the same."""
    meant = _meant(project)
    if project.description != meant:
        raise NoCaseError(f"keep-purpose: workflow {project.name!r} is not described as what its name means")
    return flawed(project, "keep-purpose", (meant, meant))


def swap_purpose(project: Workflow, rng: Random) -> Workflow:
    """Return the project with the name or the description of one of a far domain; both meanings are remembered."""
    meant = _meant(project)
    name, told = rng.choice(rng.choice(list(far_domains(domain(project)))).workflows)
    if not project.description:
        raise NoCaseError(f"swap-purpose: workflow {project.name!r} is not described")
    by_name = rng.random() < 0.5
    swapped = replace(project, name=name) if by_name else replace(project, description=told)
    return flawed(swapped, "swap-purpose", (told if by_name else meant, swapped.description))


def _drawn(tasks: Sequence[Task], rng: Random) -> list[Task]:
    return rng.sample(tasks, min(how_many(rng), len(tasks)))


def _spare(project: Workflow, chosen: Vocabulary) -> list[VocabularyEntry]:
    """Return tasks of the domain that the project has not or, if too few are left, of the far domains."""
    taken = {one.name for level in every_level(project) for one in level.data}
    near = absent(project, chosen)
    far = [one for other in far_domains(chosen) for one in other.tasks]
    return [one for one in (near if len(near) > FEW else far) if one.name not in taken]


def _meant(project: Workflow) -> str:
    """Return what the name of the workflow means."""
    found = dict(domain(project).workflows).get(project.name)
    if found is None:
        raise NoCaseError(f"the name of workflow {project.name!r} is none of its domain")
    return found


def _data(level: Workflow, task: Task) -> tuple[str, ...]:
    return (*inputs(level, task.name), *outputs(level, task.name))


def _words(name: str) -> list[str]:
    return [part.lower()[:STEM] for part in re.findall(r"[A-Z][a-z]*", name)]


def _own_words(one: VocabularyEntry) -> set[str]:
    return {word for name in (one.name, *one.reads, *one.writes) for word in _words(name)}


def _flow(reads: tuple[str, ...], writes: tuple[str, ...]) -> str:
    """Return what a task does with data: "reads A and B and writes C"."""
    parts = [f"{verb} {' and '.join(names)}" for verb, names in (("reads", reads), ("writes", writes)) if names]
    return " and ".join(parts)


REPEATED = 0.5  # of the workflows get a name twice


def repeat_name(workflow: Workflow, rng: Random) -> Workflow:
    """Rename a task inside a composite task as one of another level is named; half of the workflows stay as they are.

    Raises:
        NoCaseError: if no task has a sub-workflow that is written inline.
    """
    below = [(path, level) for path, level in levels(workflow) if path]
    if not below:
        raise NoCaseError(f"repeat-name: workflow {workflow.name!r} has no inline sub-workflow; demand hierarchy")
    if rng.random() >= REPEATED:
        return replace(workflow, flaw=Flaw("repeat-name"))
    path, level = rng.choice(below)
    own = {one.name for some in (level.tasks, level.data, level.gateways) for one in some}
    others = [name for _, other in levels(workflow) for name in other.task_names if name not in own]
    old, new = rng.choice(level.task_names), rng.choice(others)
    return replace(_renamed(workflow, path, old, new), flaw=Flaw("repeat-name", (".".join((*path, old)), new)))


def _renamed(level: Workflow, path: tuple[str, ...], old: str, new: str) -> Workflow:
    """Return the level with the task renamed that stands at the end of the path."""
    if path:

        def enter(task: Task) -> Task:
            inner = task.subworkflow
            inside = inner is not None and task.name == path[0]
            return replace(task, subworkflow=_renamed(inner, path[1:], old, new)) if inside and inner else task

        return replace(level, tasks=tuple(map(enter, level.tasks)))

    def named(name: str) -> str:
        return new if name == old else name

    return replace(
        level,
        tasks=tuple(replace(task, name=named(task.name)) for task in level.tasks),
        links=tuple(replace(link, source=named(link.source), target=named(link.target)) for link in level.links),
        data_links=tuple(
            replace(link, source=named(link.source), target=named(link.target)) for link in level.data_links
        ),
    )
