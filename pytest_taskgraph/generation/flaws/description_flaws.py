"""Plant flaws in the names and descriptions of a workflow and its tasks.

Each takes a workflow of the tasks of one domain, and raises NoCaseError for any other. A flaw of tasks stands in one
level and is recorded as triples: the task, what it does by its name, and what is described or done instead.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from functools import lru_cache
from random import Random

from ...errors import NoCaseError
from ...workflow.graph import inputs, outputs
from ...workflow.model import Flaw, Task, Workflow
from ...workflow.project import every_level, levels
from ..vocabularies import Vocabulary, VocabularyEntry
from .domain_flaws import (
    absent_tasks,
    atomic_tasks,
    domain,
    draw_flaw_count,
    entry,
    far_domains,
    plant_in_some_level,
    rename_ends,
    replace_tasks,
    with_flaw,
)

STEM = 4  # letters that identify a word
FEW = 4  # tasks to choose from; fewer could be guessed


def hide_description(project: Workflow, rng: Random) -> Workflow:
    """Return the project without the description of one task; the flaw holds the task and its description."""
    domain(project)
    return plant_in_some_level(project, rng, _hide_description)


def _hide_description(level: Workflow, project: Workflow, rng: Random) -> Workflow:
    if not all(task.description for task in level.tasks):
        raise NoCaseError(f"hide-description: not all tasks of workflow {level.name!r} are described")
    candidates = atomic_tasks(level)
    hidden = rng.choice(candidates) if candidates else None
    if hidden is None:
        raise NoCaseError(f"hide-description: workflow {level.name!r} has only composite tasks")
    tasks = tuple(replace(task, description="") if task == hidden else task for task in level.tasks)
    return with_flaw(replace(level, tasks=tasks), "hide-description", (hidden.name, hidden.description))


def hide_purpose(project: Workflow, rng: Random) -> Workflow:
    """Return the project without its own description, which the flaw holds."""
    domain(project)
    if not project.description:
        raise NoCaseError(f"hide-purpose: workflow {project.name!r} is not described")
    return with_flaw(replace(project, description=""), "hide-purpose", (project.description,))


def misdescribe(project: Workflow, rng: Random) -> Workflow:
    """Return the project with one or two tasks described as tasks of another kind that it does not have.

    Those are of the same domain while enough are left, else of far domains.
    """
    domain(project)
    return plant_in_some_level(project, rng, _misdescribe)


def _misdescribe(level: Workflow, project: Workflow, rng: Random) -> Workflow:
    domain_words = domain(project)
    details, used = list[str](), set[str]()
    for task in _draw_tasks([task for task in atomic_tasks(level) if task.description], rng):
        own = entry(domain_words, task.name)
        others = [
            candidate
            for candidate in _spare_tasks(project, domain_words)
            if candidate.kind != own.kind and candidate.description not in used
        ]
        if others:
            other = rng.choice(others)
            used.add(other.description)
            details += (task.name, own.description, other.description)
    new = dict(zip(details[::3], details[2::3], strict=True))
    tasks = tuple(replace(task, description=new.get(task.name, task.description)) for task in level.tasks)
    return with_flaw(replace(level, tasks=tasks), "misdescribe", details)


def misname(project: Workflow, rng: Random) -> Workflow:
    """Return the project with one or two tasks named as tasks that it does not have and whose data are quite different.

    No word of the new name, or of the data that belong to it, is in the names of what the task reads and writes. The
    flaw holds the new name, what a task of that name reads and writes, and what the task does.
    """
    domain(project)
    return plant_in_some_level(project, rng, _misname)


def _misname(level: Workflow, project: Workflow, rng: Random) -> Workflow:
    domain_words = domain(project)
    changes, details = dict[str, VocabularyEntry](), list[str]()
    for task in _draw_tasks([task for task in atomic_tasks(level) if _data_of(level, task)], rng):
        taken = {candidate.name for candidate in changes.values()}
        words = {word for name in _data_of(level, task) for word in _stems(name)}
        spare = [candidate for candidate in _spare_tasks(project, domain_words) if candidate.name not in taken]
        others = [candidate for candidate in spare if not words & _words_of_entry(candidate)]
        if others:
            other = changes[task.name] = rng.choice(others)
            reads, writes = inputs(level, task.name), outputs(level, task.name)
            details += (other.name, _describe_data_flow(other.reads, other.writes), _describe_data_flow(reads, writes))
    return with_flaw(replace_tasks(level, changes), "misname", details)


def rename_foreign(project: Workflow, rng: Random) -> Workflow:
    """Return the project with one or two tasks named as tasks of a far domain; most of their level keep their names.

    The flaw holds triples: the task, what it does by its name, and what the name of the whole means.
    """
    meaning = _meaning_of_name(project)

    def plant(level: Workflow, project: Workflow, rng: Random) -> Workflow:
        fewer_than_half = (len(level.tasks) - 1) // 2
        chosen = _draw_tasks(atomic_tasks(level), rng)[:fewer_than_half]
        others = rng.sample(rng.choice(list(far_domains(domain(project)))).tasks, len(chosen))
        changes = {task.name: other for task, other in zip(chosen, others, strict=True)}
        details = [text for other in others for text in (other.name, other.description, meaning)]
        return with_flaw(replace_tasks(level, changes), "rename-foreign", details)

    return plant_in_some_level(project, rng, plant)


def keep_purpose(project: Workflow, rng: Random) -> Workflow:
    """Return the project unchanged, with the meaning of its name and its description recorded: they are the same."""
    meaning = _meaning_of_name(project)
    if project.description != meaning:
        raise NoCaseError(f"keep-purpose: workflow {project.name!r} is not described as what its name means")
    return with_flaw(project, "keep-purpose", (meaning, meaning))


def swap_purpose(project: Workflow, rng: Random) -> Workflow:
    """Return the project with a name or a description from a far domain; both meanings are recorded."""
    meaning = _meaning_of_name(project)
    name, description = rng.choice(rng.choice(list(far_domains(domain(project)))).workflows)
    if not project.description:
        raise NoCaseError(f"swap-purpose: workflow {project.name!r} is not described")
    by_name = rng.random() < 0.5
    swapped = replace(project, name=name) if by_name else replace(project, description=description)
    return with_flaw(swapped, "swap-purpose", (description if by_name else meaning, swapped.description))


def _draw_tasks(tasks: Sequence[Task], rng: Random) -> list[Task]:
    return rng.sample(tasks, min(draw_flaw_count(rng), len(tasks)))


def _spare_tasks(project: Workflow, domain_words: Vocabulary) -> list[VocabularyEntry]:
    """Return tasks of the domain that the project does not have or, if too few are left, of the far domains."""
    taken = {candidate.name for level in every_level(project) for candidate in level.data}
    near = absent_tasks(project, domain_words)
    far = [candidate for other in far_domains(domain_words) for candidate in other.tasks]
    return [candidate for candidate in (near if len(near) > FEW else far) if candidate.name not in taken]


def _meaning_of_name(project: Workflow) -> str:
    """Return what the name of the workflow means."""
    meaning = dict(domain(project).workflows).get(project.name)
    if meaning is None:
        raise NoCaseError(f"the name of workflow {project.name!r} is none of its domain")
    return meaning


def _data_of(level: Workflow, task: Task) -> tuple[str, ...]:
    return (*inputs(level, task.name), *outputs(level, task.name))


@lru_cache(maxsize=2048)
def _stems(name: str) -> tuple[str, ...]:
    return tuple([part.lower()[:STEM] for part in re.findall(r"[A-Z][a-z]*", name)])


def _words_of_entry(vocabulary_entry: VocabularyEntry) -> set[str]:
    return {
        word
        for name in (vocabulary_entry.name, *vocabulary_entry.reads, *vocabulary_entry.writes)
        for word in _stems(name)
    }


def _describe_data_flow(reads: tuple[str, ...], writes: tuple[str, ...]) -> str:
    """Return what a task does with data: "reads A and B and writes C"."""
    parts = [f"{verb} {' and '.join(names)}" for verb, names in (("reads", reads), ("writes", writes)) if names]
    return " and ".join(parts)


REPEATED = 0.5  # share of the workflows that get a repeated name


def repeat_name(workflow: Workflow, rng: Random) -> Workflow:
    """Rename a task inside a composite task to the name of a task on another level; half of the workflows stay as is.

    Raises:
        NoCaseError: if no task has an inline sub-workflow.
    """
    inner_levels = [(path, level) for path, level in levels(workflow) if path]
    if not inner_levels:
        raise NoCaseError(f"repeat-name: workflow {workflow.name!r} has no inline sub-workflow; demand hierarchy")
    if rng.random() >= REPEATED:
        return replace(workflow, flaw=Flaw("repeat-name"))
    path, level = rng.choice(inner_levels)
    own = {element.name for elements in (level.tasks, level.data, level.gateways) for element in elements}
    others = [name for _, other in levels(workflow) for name in other.task_names if name not in own]
    old, new = rng.choice(level.task_names), rng.choice(others)
    return replace(_rename_task(workflow, path, old, new), flaw=Flaw("repeat-name", (".".join((*path, old)), new)))


def _rename_task(level: Workflow, path: tuple[str, ...], old: str, new: str) -> Workflow:
    """Return the level with the task renamed that stands at the end of the path."""
    if path:

        def enter(task: Task) -> Task:
            inner = task.subworkflow
            inside = inner is not None and task.name == path[0]
            return replace(task, subworkflow=_rename_task(inner, path[1:], old, new)) if inside and inner else task

        return replace(level, tasks=tuple(map(enter, level.tasks)))

    return replace(
        level,
        tasks=tuple([replace(task, name=new) if task.name == old else task for task in level.tasks]),
        links=rename_ends(level.links, {old: new}),
        data_links=rename_ends(level.data_links, {old: new}),
    )
