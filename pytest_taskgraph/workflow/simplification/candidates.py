"""The smaller projects that can be made of a project: well-formed, each once, in the order to try."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from dataclasses import replace
from typing import Final, NamedTuple

from ...errors import WorkflowError
from ..check import problems
from ..model import END, START, Configuration, Data, DataLink, Gateway, Link, Parameter, Task, Workflow
from ..project import Index, every_level, references
from ..references import assemble, expand, levels
from .flow_draft import FlowDraft, chains_of
from .flow_reductions import chunks, smaller_flows

Path = tuple[str, ...]
TASK: Final = 8
"""Cost of a task: more than the gateways and links that may have to replace one."""


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
        exceptional_links=level.exceptional_links + inside.exceptional_links,
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
        exceptional_links=tuple(Link(rename(link.source), rename(link.target)) for link in inside.exceptional_links),
        data_links=tuple(DataLink(rename(link.source), rename(link.target)) for link in inside.data_links),
    )


def _names_in(level: Workflow) -> list[str]:
    return [*level.task_names, *(element.name for element in level.data), *(element.name for element in level.gateways)]


def _renaming(names: Mapping[str, str]) -> Callable[[str], str]:
    return lambda name: names.get(name, name)


class Detail(NamedTuple):
    """A detail of a project: its kind, its place, and its owner and name there."""

    kind: str
    place: Path  # the name of a workflow of the project and the composite tasks on the way down
    owner: str
    name: str = ""


DetailFilter = Callable[[Detail], bool]


def details_of(project: Workflow) -> list[Detail]:
    """Return the details of a project, in the order in which it declares them."""
    details: list[Detail] = []

    def record(detail: Detail) -> bool:
        details.append(detail)
        return True

    _filter_project(project, record)
    return details


def without_details(project: Workflow, left_out: Collection[Detail]) -> Workflow:
    """Return the project without some of its details."""
    return _filter_project(project, lambda detail: detail not in left_out)


def _filter_project(project: Workflow, keeps: DetailFilter) -> Workflow:
    others = [_filter_level(other, (str(other.qualified),), keeps) for other in project.others]
    kept_others = [other for other in others if keeps(Detail("workflow", (), str(other.qualified)))]
    return replace(_filter_level(project, (str(project.qualified),), keeps), others=tuple(kept_others))


def _filter_level(level: Workflow, place: Path, keeps: DetailFilter) -> Workflow:
    kept_data = [_filter_data(data, place, keeps) for data in level.data if keeps(Detail("data", place, data.name))]
    removed_names = {data.name for data in level.data} - {data.name for data in kept_data}
    configured = [
        _filter_configuration(configuration, place, keeps)
        for configuration in level.configurations
        if keeps(Detail("configuration", place, configuration.target))
    ]
    return replace(
        level,
        description=_filter_text("description", level.description, place, "", keeps),
        tasks=tuple(_filter_task(task, place, removed_names, keeps) for task in level.tasks),
        data=tuple(kept_data),
        links=tuple(_filter_link(link, place, keeps) for link in level.links),
        exceptional_links=tuple(
            link for link in level.exceptional_links
            if keeps(Detail("exceptional link", place, link.source, link.target))
        ),
        data_links=tuple(
            link for link in level.data_links
            if not {link.source, link.target} & removed_names
            and keeps(Detail("data link", place, link.source, link.target))
        ),
        parameters=tuple(p for p in level.parameters if keeps(Detail("parameter", place, "", p.name))),
        base=level.base if level.base and keeps(Detail("base", place, "")) else None,
        configurations=tuple(configured),
    )  # fmt: skip


def _filter_task(task: Task, place: Path, removed_names: Collection[str], keeps: DetailFilter) -> Task:
    inside = task.subworkflow
    if inside is not None:
        inside = (
            _filter_level(inside, (*place, task.name), keeps) if keeps(Detail("inside", place, task.name)) else None
        )
    reference = task.reference if task.reference and keeps(Detail("inside", place, task.name)) else None
    bindings = [
        (inner, outer)
        for inner, outer in task.bindings
        if outer not in removed_names and keeps(Detail("binding", place, task.name, inner))
    ]
    return replace(
        task,
        description=_filter_text("description", task.description, place, task.name, keeps),
        kind=_filter_text("kind", task.kind, place, task.name, keeps),
        implementation=_filter_text("implementation", task.implementation, place, task.name, keeps),
        parameters=tuple(p for p in task.parameters if keeps(Detail("parameter", place, task.name, p.name))),
        effects=tuple(e for e in task.effects if keeps(Detail("effect", place, task.name, e.parameter))),
        subworkflow=inside,
        reference=reference,
        bindings=tuple(bindings) if inside or reference else (),
        duration=task.duration if task.duration and keeps(Detail("duration", place, task.name)) else None,
    )


def _filter_data(data: Data, place: Path, keeps: DetailFilter) -> Data:
    description = _filter_text("description", data.description, place, data.name, keeps)
    return replace(data, description=description, schema=_filter_text("schema", data.schema, place, data.name, keeps))


def _filter_link(link: Link, place: Path, keeps: DetailFilter) -> Link:
    if link.guard is None or keeps(Detail("guard", place, link.source, f"{link.target}|{link.guard}")):
        return link
    return replace(link, guard=None)


def _filter_configuration(configuration: Configuration, place: Path, keeps: DetailFilter) -> Configuration:
    inner = (*place, configuration.target)
    return replace(
        configuration,
        description=_filter_text("description", configuration.description, inner, "", keeps),
        kind=_filter_text("kind", configuration.kind, inner, "", keeps),
        implementation=_filter_text("implementation", configuration.implementation, inner, "", keeps),
        schema=_filter_text("schema", configuration.schema, inner, "", keeps),
        parameters=tuple(p for p in configuration.parameters if keeps(Detail("parameter", inner, "", p.name))),
        duration=configuration.duration if configuration.duration and keeps(Detail("duration", inner, "")) else None,
        configurations=tuple(
            _filter_configuration(nested, inner, keeps)
            for nested in configuration.configurations
            if keeps(Detail("configuration", inner, nested.target))
        ),
    )


def _filter_text(kind: str, text: str, place: Path, owner: str, keeps: DetailFilter) -> str:
    return text if text and keeps(Detail(kind, place, owner)) else ""


def cost(project: Workflow) -> int:
    """Return the size of a project: tasks count most, then everything else that it states."""
    level_costs = sum(_level_cost(level) for level in every_level(project))
    return level_costs + 2 * len(project.others)


def _level_cost(level: Workflow) -> int:
    texts = [level.description, level.base]
    data = sum(2 + bool(data_object.description) + bool(data_object.schema) for data_object in level.data)
    links = sum(1 + (link.guard is not None) for link in level.links) + len(level.exceptional_links)
    contents = (
        2 * len(level.gateways) + links + data + len(level.data_links) + sum(map(_parameter_cost, level.parameters))
    )
    configured = sum(map(_configuration_cost, level.configurations))
    return contents + sum(map(bool, texts)) + configured + sum(map(_task_cost, level.tasks))


def _task_cost(task: Task) -> int:
    properties = [task.description, task.kind, task.implementation, task.subworkflow, task.reference, task.duration]
    contents = sum(map(_parameter_cost, task.parameters)) + len(task.effects) + len(task.bindings)
    return TASK + contents + sum(map(bool, properties))


def _parameter_cost(parameter: Parameter) -> int:
    return 1 + (parameter.domain is not None) + (parameter.value is not None)


def _configuration_cost(configuration: Configuration) -> int:
    properties = [
        configuration.description,
        configuration.kind,
        configuration.implementation,
        configuration.schema,
        configuration.reference,
        configuration.duration,
    ]
    contents = (
        sum(map(_parameter_cost, configuration.parameters)) + len(configuration.effects) + len(configuration.bindings)
    )
    return 1 + contents + sum(map(bool, properties)) + sum(map(_configuration_cost, configuration.configurations))


def reductions(project: Workflow, kept_tasks: Collection[str] = (), flow_only: bool = False) -> Iterator[Workflow]:
    """Yield smaller projects made of a project: those nearest half its cost first.

    They are well-formed, cost less, and are different from each other. The order depends on the project alone.

    Args:
        project: The project.
        kept_tasks: Names of tasks that stay.
        flow_only: Keep everything but the control flow, as far as it concerns what stays.
    """
    project_cost = cost(project)
    costs: dict[Workflow, int] = {}
    for candidate in _candidates(project, flow_only):
        if candidate not in costs and (size := cost(candidate)) < project_cost:
            costs[candidate] = size
    ordered = sorted(costs.items(), key=lambda entry: abs(2 * entry[1] - project_cost))
    idle = _empty_branches(project)
    for candidate, _ in ordered:
        if _keeps_tasks(candidate, kept_tasks) and _empty_branches(candidate) <= idle and _is_well_formed(candidate):
            yield candidate


def _empty_branches(project: Workflow) -> int:
    """Return how many forks have an empty branch: reductions must not add such oddities."""
    return sum(map(_empty_forks, every_level(project)))


def _empty_forks(level: Workflow) -> int:
    kinds = {gateway.name: (gateway.kind, gateway.role) for gateway in level.gateways}
    splits = {START, *(name for name, kind in kinds.items() if kind == ("parallel", "split"))}
    joins = {END, *(name for name, kind in kinds.items() if kind == ("parallel", "join"))}
    return sum(link.source in splits and link.target in joins for link in level.links)


def _keeps_tasks(candidate: Workflow, kept_tasks: Collection[str]) -> bool:
    if not kept_tasks:
        return True
    names = {task.name for level in every_level(candidate) for task in level.tasks}
    return names.issuperset(kept_tasks)


def _is_well_formed(candidate: Workflow) -> bool:
    try:
        return bool(candidate.tasks) and not problems(candidate)
    except WorkflowError:
        return False


def _candidates(project: Workflow, flow_only: bool) -> Iterator[Workflow]:
    if not flow_only:
        yield from smaller_projects(project)
        yield from _fewer_details(project)
    for place, root in enumerate((replace(project, others=()), *project.others)):
        for level in _changed_levels(root, flow_only):
            yield _with_workflow(project, place, level)


def _with_workflow(project: Workflow, place: int, changed: Workflow) -> Workflow:
    if place == 0:
        return replace(changed, others=project.others)
    others = list(project.others)
    others[place - 1] = changed
    return replace(project, others=tuple(others))


def _changed_levels(level: Workflow, flow_only: bool) -> Iterator[Workflow]:
    """Yield a workflow with less control flow in it, or in something that is inline in it."""
    yield from smaller_flows(level)
    if not flow_only:
        yield from opened_levels(level)
    for task in level.tasks:
        if task.subworkflow is not None:
            for inside in _changed_levels(task.subworkflow, flow_only):
                yield _with_inside(level, task, inside)


def _with_inside(level: Workflow, task: Task, inside: Workflow) -> Workflow:
    data_names = {binding.name for binding in inside.data}
    bindings = tuple(binding for binding in task.bindings if binding[0] in data_names)
    changed = replace(task, subworkflow=inside, bindings=bindings)
    return replace(level, tasks=tuple(changed if binding is task else binding for binding in level.tasks))


def _fewer_details(project: Workflow) -> Iterator[Workflow]:
    """Yield the project without all details, without all of a kind, and without some of them."""
    details = details_of(project)
    kinds = dict.fromkeys(detail.kind for detail in details)
    of_kind: Callable[[str], list[Detail]] = lambda kind: [detail for detail in details if detail.kind == kind]  # noqa: E731
    parts = [details, *(of_kind(kind) for kind in kinds), *chunks(details)]
    for part in parts:
        yield without_details(project, frozenset(part))
