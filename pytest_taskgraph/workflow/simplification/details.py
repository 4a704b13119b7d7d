"""Details of a project beside its tasks and links, which can be left out one by one."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import NamedTuple

from ..model import Configuration, Data, Link, Task, Workflow

Path = tuple[str, ...]


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
        configurations=tuple(
            _filter_configuration(nested, inner, keeps)
            for nested in configuration.configurations
            if keeps(Detail("configuration", inner, nested.target))
        ),
    )


def _filter_text(kind: str, text: str, place: Path, owner: str, keeps: DetailFilter) -> str:
    return text if text and keeps(Detail(kind, place, owner)) else ""
