"""Smaller projects out of composite tasks and workflows that refer to each other."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace

from ...errors import WorkflowError
from ..model import END, START, DataLink, Gateway, Link, Task, Workflow
from ..project import Index, references
from ..references import assemble, expand, levels
from .flow_chains import chains_of
from .flow_draft import FlowDraft


def smaller_projects(project: Workflow) -> Iterator[Workflow]:
    """Yield projects with fewer levels or workflows; not all are smaller, and not all are well-formed."""
    family = (replace(project, others=()), *project.others)
    for place, one in enumerate(family):
        yield drop_unneeded(replace(one, others=family[:place] + family[place + 1 :]))
    for resolve in (assemble, expand):
        try:
            resolved = resolve(project)
        except WorkflowError:
            continue
        yield resolved
        yield from (drop_unneeded(level) for path, level in levels(resolved) if path)


def drop_unneeded(project: Workflow) -> Workflow:
    """Return the project with only those of its others to which references or bases lead."""
    index, found = Index(project), {project.qualified}
    waiting = [replace(project, others=())]
    for one in waiting:
        for name in (*references(one), *([one.base] if one.base else [])):
            meant = index.find(name, one.package)
            if meant is not None and meant.qualified not in found:
                found.add(meant.qualified)
                waiting.append(replace(meant, others=()))
    kept = found - {project.qualified}
    return replace(project, others=tuple(one for one in project.others if one.qualified in kept))


def opened_levels(level: Workflow) -> Iterator[Workflow]:
    """Yield the level with the inside of one of its composite tasks in place of the task."""
    for task in level.tasks:
        if task.subworkflow is not None and task.subworkflow.base is None:
            yield _opened(level, task, task.subworkflow)


def _opened(level: Workflow, task: Task, below: Workflow) -> Workflow:
    inside = _renamed(below, level, dict(task.bindings))
    draft = FlowDraft(level, chains_of(level))
    ins, outs = draft.into(task.name), draft.out(task.name)
    first, last = draft.pseudo("First"), draft.pseudo("Last")
    draft.gateways |= {first: Gateway(first, "parallel", "split"), last: Gateway(last, "parallel", "join")}
    draft.gateways |= {gateway.name: gateway for gateway in inside.gateways}
    ends = {START: first, END: last}
    draft.remove([task.name])
    draft.links += [replace(link, target=first) for link in ins]
    draft.links += [replace(link, source=last) for link in outs]
    draft.links += [Link(ends.get(one.source, one.source), ends.get(one.target, one.target), one.guard)
                    for one in inside.links]  # fmt: skip
    known = {one.name for one in level.parameters}
    draft.level = replace(
        level,
        tasks=(*level.tasks, *inside.tasks),
        data=(*level.data, *inside.data),
        data_links=_without_task(level, task.name) + inside.data_links,
        parameters=(*level.parameters, *(one for one in inside.parameters if one.name not in known)),
    )
    draft.dissolve(first)
    draft.dissolve(last)
    return draft.finish()


def _without_task(level: Workflow, task: str) -> tuple[DataLink, ...]:
    return tuple(one for one in level.data_links if task not in (one.source, one.target))


def _renamed(below: Workflow, level: Workflow, bindings: Mapping[str, str]) -> Workflow:
    """Return a level for the inside of another: bound data by their outer names, clashing names with a number."""
    taken = {*_names_in(level), "First1", "Last1", START, END}
    names = dict(bindings)
    for own in _names_in(below):
        name, number = own, 2
        while own not in names and name in taken:
            name, number = f"{own}{number}", number + 1
        names.setdefault(own, name)
        taken.add(name)
    rename = _renaming(names)
    return replace(
        below,
        tasks=tuple(replace(task, name=rename(task.name)) for task in below.tasks),
        data=tuple(replace(one, name=rename(one.name)) for one in below.data if one.name not in bindings),
        gateways=tuple(replace(one, name=rename(one.name)) for one in below.gateways),
        links=tuple(Link(rename(one.source), rename(one.target), one.guard) for one in below.links),
        data_links=tuple(DataLink(rename(one.source), rename(one.target)) for one in below.data_links),
    )


def _names_in(level: Workflow) -> list[str]:
    return [*level.task_names, *(one.name for one in level.data), *(one.name for one in level.gateways)]


def _renaming(names: Mapping[str, str]) -> Callable[[str], str]:
    return lambda name: names.get(name, name)
