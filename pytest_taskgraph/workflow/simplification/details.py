"""What a project says beside its tasks and links: details that can be left out one by one."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import NamedTuple

from ..model import Configuration, Data, Link, Task, Workflow

Path = tuple[str, ...]


class Detail(NamedTuple):
    """Something that a project says: its kind, where it stands, and of what it is."""

    kind: str
    place: Path  # the name of a workflow of the project and the composite tasks on the way down
    owner: str
    name: str = ""


Keeps = Callable[[Detail], bool]


def details_of(project: Workflow) -> list[Detail]:
    """Return the details of a project, in the order in which it declares them."""
    found: list[Detail] = []

    def note(detail: Detail) -> bool:
        found.append(detail)
        return True

    _project(project, note)
    return found


def without_details(project: Workflow, left_out: Collection[Detail]) -> Workflow:
    """Return the project without some of its details."""
    return _project(project, lambda detail: detail not in left_out)


def _project(project: Workflow, keeps: Keeps) -> Workflow:
    others = [_level(one, (str(one.qualified),), keeps) for one in project.others]
    kept = [one for one in others if keeps(Detail("workflow", (), str(one.qualified)))]
    return replace(_level(project, (str(project.qualified),), keeps), others=tuple(kept))


def _level(level: Workflow, place: Path, keeps: Keeps) -> Workflow:
    data = [_data(one, place, keeps) for one in level.data if keeps(Detail("data", place, one.name))]
    gone = {one.name for one in level.data} - {one.name for one in data}
    configured = [_configuration(one, place, keeps) for one in level.configurations
                  if keeps(Detail("configuration", place, one.target))]  # fmt: skip
    return replace(
        level,
        description=_text("description", level.description, place, "", keeps),
        tasks=tuple(_task(task, place, gone, keeps) for task in level.tasks),
        data=tuple(data),
        links=tuple(_link(link, place, keeps) for link in level.links),
        data_links=tuple(
            one for one in level.data_links
            if not {one.source, one.target} & gone and keeps(Detail("data link", place, one.source, one.target))
        ),
        parameters=tuple(one for one in level.parameters if keeps(Detail("parameter", place, "", one.name))),
        base=level.base if level.base and keeps(Detail("base", place, "")) else None,
        configurations=tuple(configured),
    )  # fmt: skip


def _task(task: Task, place: Path, gone: Collection[str], keeps: Keeps) -> Task:
    inside = task.subworkflow
    if inside is not None:
        inside = _level(inside, (*place, task.name), keeps) if keeps(Detail("inside", place, task.name)) else None
    reference = task.reference if task.reference and keeps(Detail("inside", place, task.name)) else None
    bindings = [
        one for one in task.bindings if one[1] not in gone and keeps(Detail("binding", place, task.name, one[0]))
    ]
    return replace(
        task,
        description=_text("description", task.description, place, task.name, keeps),
        kind=_text("kind", task.kind, place, task.name, keeps),
        implementation=_text("implementation", task.implementation, place, task.name, keeps),
        parameters=tuple(one for one in task.parameters if keeps(Detail("parameter", place, task.name, one.name))),
        effects=tuple(one for one in task.effects if keeps(Detail("effect", place, task.name, one.parameter))),
        subworkflow=inside,
        reference=reference,
        bindings=tuple(bindings) if inside or reference else (),
    )


def _data(data: Data, place: Path, keeps: Keeps) -> Data:
    description = _text("description", data.description, place, data.name, keeps)
    return replace(data, description=description, schema=_text("schema", data.schema, place, data.name, keeps))


def _link(link: Link, place: Path, keeps: Keeps) -> Link:
    if link.guard is None or keeps(Detail("guard", place, link.source, f"{link.target}|{link.guard}")):
        return link
    return replace(link, guard=None)


def _configuration(one: Configuration, place: Path, keeps: Keeps) -> Configuration:
    inner = (*place, one.target)
    return replace(
        one,
        description=_text("description", one.description, inner, "", keeps),
        kind=_text("kind", one.kind, inner, "", keeps),
        implementation=_text("implementation", one.implementation, inner, "", keeps),
        schema=_text("schema", one.schema, inner, "", keeps),
        parameters=tuple(item for item in one.parameters if keeps(Detail("parameter", inner, "", item.name))),
        configurations=tuple(
            _configuration(item, inner, keeps)
            for item in one.configurations
            if keeps(Detail("configuration", inner, item.target))
        ),
    )


def _text(kind: str, text: str, place: Path, owner: str, keeps: Keeps) -> str:
    return text if text and keeps(Detail(kind, place, owner)) else ""
