"""Smaller projects made of composite tasks and of workflows that refer to each other."""

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
    workflows = (replace(project, others=()), *project.others)
    for place, root in enumerate(workflows):
        yield drop_unneeded(replace(root, others=workflows[:place] + workflows[place + 1 :]))
    for resolve in (assemble, expand):
        try:
            resolved = resolve(project)
        except WorkflowError:
            continue
        yield resolved
        yield from (drop_unneeded(level) for path, level in levels(resolved) if path)


def drop_unneeded(project: Workflow) -> Workflow:
    """Return the project with only those of its others to which references or bases lead."""
    index, names = Index(project), {project.qualified}
    waiting = [replace(project, others=())]
    for workflow in waiting:
        for name in (*references(workflow), *([workflow.base] if workflow.base else [])):
            referenced = index.find(name, workflow.package)
            if referenced is not None and referenced.qualified not in names:
                names.add(referenced.qualified)
                waiting.append(replace(referenced, others=()))
    needed_names = names - {project.qualified}
    return replace(project, others=tuple(workflow for workflow in project.others if workflow.qualified in needed_names))


def opened_levels(level: Workflow) -> Iterator[Workflow]:
    """Yield the level with the inside of one of its composite tasks in place of the task."""
    for task in level.tasks:
        if task.subworkflow is not None and task.subworkflow.base is None:
            yield _open_task(level, task, task.subworkflow)


def _open_task(level: Workflow, task: Task, subworkflow: Workflow) -> Workflow:
    inside = _rename_inside(subworkflow, level, dict(task.bindings))
    draft = FlowDraft(level, chains_of(level))
    ins, outs = draft.into(task.name), draft.out(task.name)
    first, last = draft.pseudo("First"), draft.pseudo("Last")
    draft.gateways |= {first: Gateway(first, "parallel", "split"), last: Gateway(last, "parallel", "join")}
    draft.gateways |= {gateway.name: gateway for gateway in inside.gateways}
    ends = {START: first, END: last}
    draft.remove([task.name])
    draft.links += [replace(link, target=first) for link in ins]
    draft.links += [replace(link, source=last) for link in outs]
    draft.links += [Link(ends.get(link.source, link.source), ends.get(link.target, link.target), link.guard)
                    for link in inside.links]  # fmt: skip
    parameter_names = {parameter.name for parameter in level.parameters}
    draft.level = replace(
        level,
        tasks=(*level.tasks, *inside.tasks),
        data=(*level.data, *inside.data),
        data_links=_data_links_without(level, task.name) + inside.data_links,
        parameters=(*level.parameters, *(p for p in inside.parameters if p.name not in parameter_names)),
    )
    draft.dissolve(first)
    draft.dissolve(last)
    return draft.finish()


def _data_links_without(level: Workflow, task: str) -> tuple[DataLink, ...]:
    return tuple(link for link in level.data_links if task not in (link.source, link.target))


def _rename_inside(inside: Workflow, level: Workflow, bindings: Mapping[str, str]) -> Workflow:
    """Return the inside of a task for use in the level: bound data by outer names, clashing names with a number."""
    taken = {*_names_in(level), "First1", "Last1", START, END}
    names = dict(bindings)
    for own_name in _names_in(inside):
        name, number = own_name, 2
        while own_name not in names and name in taken:
            name, number = f"{own_name}{number}", number + 1
        names.setdefault(own_name, name)
        taken.add(name)
    rename = _renaming(names)
    return replace(
        inside,
        tasks=tuple(replace(task, name=rename(task.name)) for task in inside.tasks),
        data=tuple(
            replace(element, name=rename(element.name)) for element in inside.data if element.name not in bindings
        ),
        gateways=tuple(replace(gateway, name=rename(gateway.name)) for gateway in inside.gateways),
        links=tuple(Link(rename(link.source), rename(link.target), link.guard) for link in inside.links),
        data_links=tuple(DataLink(rename(link.source), rename(link.target)) for link in inside.data_links),
    )


def _names_in(level: Workflow) -> list[str]:
    return [*level.task_names, *(element.name for element in level.data), *(element.name for element in level.gateways)]


def _renaming(names: Mapping[str, str]) -> Callable[[str], str]:
    return lambda name: names.get(name, name)
