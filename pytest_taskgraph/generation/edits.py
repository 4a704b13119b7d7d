"""One-step edits of any workflow: a link, a condition or a reference is removed, added or replaced.

Where a workflow allows only one answer to a question with yes or no, some workflow one step away from it may allow the
other. An edit does not depend on a question, so most edits leave the answer unchanged: that a workflow is edited
reveals nothing about the answer.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import islice, product
from random import Random
from typing import Final

from ..errors import WorkflowError
from ..workflow.check import problems
from ..workflow.model import DataLink, Link, QualifiedName, Workflow

MOST_PAIRS: Final = 200  # pairs of nodes of one level that a link may be added between
MOST_FAILURES: Final = 20  # edits of one kind in a row that leave no well-formed workflow
COMPARISON = re.compile(r"<=|>=|==|!=|<|>")
REPLACED: Final = {
    "<": (">=", "<="),
    "<=": (">", "<"),
    ">": ("<=", ">="),
    ">=": ("<", ">"),
    "==": ("!=",),
    "!=": ("==",),
}

Path = tuple[str, ...]
Change = Callable[[Workflow], Workflow]


@dataclass(frozen=True, slots=True)
class Edit:
    """A workflow one step away from another, and the kind of the step."""

    kind: str
    workflow: Workflow


@dataclass(frozen=True, slots=True)
class _Level:
    """A level of a project: the workflow it belongs to, by place, the path of composite tasks, and the level itself."""

    place: int
    path: Path
    level: Workflow


def edits(project: Workflow, rng: Random, limit: int) -> list[Edit]:
    """Return at most `limit` edits of a project in a drawn order, the kinds in turn; all are well-formed."""
    all_levels = tuple(_levels(project))
    changes = {kind: _shuffle(list(options(all_levels, project, rng)), rng) for kind, options in EDITS.items()}
    streams = {kind: _apply_changes(project, kind, level_changes) for kind, level_changes in changes.items()}
    return list(islice(_alternate(streams), limit))


def _alternate(streams: dict[str, Iterator[Edit]]) -> Iterator[Edit]:
    while streams:
        for kind, stream in list(streams.items()):
            edit = next(stream, None)
            if edit is None:
                del streams[kind]
            else:
                yield edit


def _apply_changes(project: Workflow, kind: str, changes: Sequence[tuple[_Level, Change]]) -> Iterator[Edit]:
    """Yield the well-formed workflows that changes make of a project."""
    failures = 0
    for at, change in changes:
        if failures == MOST_FAILURES:
            return
        edited = _with_level(project, at.place, at.path, change)
        if edited == project or _is_broken(edited):
            failures += 1
        else:
            failures = 0
            yield Edit(kind, edited)


def _is_broken(project: Workflow) -> bool:
    try:
        return bool(problems(project))
    except WorkflowError:
        return True


def _shuffle(options: list[tuple[_Level, Change]], rng: Random) -> list[tuple[_Level, Change]]:
    rng.shuffle(options)
    return options


def _levels(project: Workflow) -> Iterator[_Level]:
    """Yield every level of a project, unchanged."""
    for place, root in enumerate((project, *project.others)):
        waiting: list[tuple[Path, Workflow]] = [((), root)]
        while waiting:
            path, level = waiting.pop()
            yield _Level(place, path, level)
            waiting += [((*path, task.name), task.subworkflow) for task in level.tasks if task.subworkflow]


def _with_level(project: Workflow, place: int, path: Path, change: Change) -> Workflow:
    """Return the project with one of its levels changed."""
    if place == 0:
        return _with_changed_level(project, path, change)
    others = list(project.others)
    others[place - 1] = _with_changed_level(others[place - 1], path, change)
    return replace(project, others=tuple(others))


def _with_changed_level(level: Workflow, path: Path, change: Change) -> Workflow:
    if not path:
        return change(level)
    tasks = (
        replace(task, subworkflow=_with_changed_level(task.subworkflow, path[1:], change))
        if task.name == path[0] and task.subworkflow
        else task
        for task in level.tasks
    )
    return replace(level, tasks=tuple(tasks))


_Options = Iterator[tuple[_Level, Change]]


def _remove_links(places: Sequence[_Level], project: Workflow, rng: Random) -> _Options:
    for at in places:
        for link in at.level.links:
            yield at, partial(_without_link, link=link)


def _add_links(places: Sequence[_Level], project: Workflow, rng: Random) -> _Options:
    for at in places:
        names = at.level.task_names
        linked = {(link.source, link.target) for link in at.level.links}
        for source, target in _pairs(names, names, rng):
            if (source, target) not in linked:
                place = rng.randint(0, len(at.level.links))  # a link at the end would be recognised as new
                yield at, partial(_with_link, link=Link(source, target), place=place)


def _remove_conditions(places: Sequence[_Level], project: Workflow, rng: Random) -> _Options:
    for at in places:
        for link in at.level.links:
            if link.guard is not None:
                yield at, partial(_with_other_link, old=link, new=replace(link, guard=None))


def _replace_conditions(places: Sequence[_Level], project: Workflow, rng: Random) -> _Options:
    """Yield changes of the first comparison of a condition: into its opposite, or to include or exclude a bound."""
    for at in places:
        for link in at.level.links:
            compared = COMPARISON.search(link.guard or "")
            if link.guard is not None and compared:
                for operator in REPLACED[compared[0]]:
                    guard = link.guard[: compared.start()] + operator + link.guard[compared.end() :]
                    yield at, partial(_with_other_link, old=link, new=replace(link, guard=guard))


def _remove_data_links(places: Sequence[_Level], project: Workflow, rng: Random) -> _Options:
    for at in places:
        for link in at.level.data_links:
            yield at, partial(_without_data_link, link=link)


def _add_data_links(places: Sequence[_Level], project: Workflow, rng: Random) -> _Options:
    for at in places:
        tasks, data = at.level.task_names, tuple(item.name for item in at.level.data)
        linked = {(link.source, link.target) for link in at.level.data_links}
        for source, target in (*_pairs(tasks, data, rng), *_pairs(data, tasks, rng)):
            if (source, target) not in linked:
                place = rng.randint(0, len(at.level.data_links))
                yield at, partial(_with_data_link, link=DataLink(source, target), place=place)


def _remove_references(places: Sequence[_Level], project: Workflow, rng: Random) -> _Options:
    return _change_references(places, project, [None])


def _replace_references(places: Sequence[_Level], project: Workflow, rng: Random) -> _Options:
    return _change_references(places, project, [root.qualified for root in (project, *project.others)])


def _change_references(places: Sequence[_Level], project: Workflow, names: Sequence[QualifiedName | None]) -> _Options:
    """Yield changes of each reference into each of the names, or into none; bindings are dropped.

    None in a project with derived workflows, which configure what the workflows that they refer to have.
    """
    if any(root.base is not None or root.configurations for root in (project, *project.others)):
        return
    for at in places:
        for task in at.level.tasks:
            for name in names if task.reference is not None else ():
                yield at, partial(_with_reference, task=task.name, name=name)


def _pairs(sources: Sequence[str], targets: Sequence[str], rng: Random) -> list[tuple[str, str]]:
    """Return the pairs of two different nodes; of many, a sample."""
    if len(sources) * len(targets) <= MOST_PAIRS:
        pairs = list(product(sources, targets))
    else:
        pairs = [(rng.choice(sources), rng.choice(targets)) for _ in range(MOST_PAIRS)]
    return [(source, target) for source, target in dict.fromkeys(pairs) if source != target]


def _without_link(level: Workflow, link: Link) -> Workflow:
    return replace(level, links=tuple(other for other in level.links if other != link))


def _with_link(level: Workflow, link: Link, place: int) -> Workflow:
    return replace(level, links=(*level.links[:place], link, *level.links[place:]))


def _with_other_link(level: Workflow, old: Link, new: Link) -> Workflow:
    return replace(level, links=tuple(new if link == old else link for link in level.links))


def _without_data_link(level: Workflow, link: DataLink) -> Workflow:
    return replace(level, data_links=tuple(other for other in level.data_links if other != link))


def _with_data_link(level: Workflow, link: DataLink, place: int) -> Workflow:
    return replace(level, data_links=(*level.data_links[:place], link, *level.data_links[place:]))


def _with_reference(level: Workflow, task: str, name: QualifiedName | None) -> Workflow:
    tasks = (
        replace(candidate, reference=name, bindings=()) if candidate.name == task else candidate
        for candidate in level.tasks
    )
    return replace(level, tasks=tuple(tasks))


EDITS: dict[str, Callable[[Sequence[_Level], Workflow, Random], _Options]] = {
    "link removed": _remove_links,
    "link added": _add_links,
    "condition replaced": _replace_conditions,
    "condition removed": _remove_conditions,
    "reference replaced": _replace_references,
    "reference removed": _remove_references,
    "data link removed": _remove_data_links,
    "data link added": _add_data_links,
}
