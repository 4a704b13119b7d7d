"""Whether a workflow is well-formed: its names are clear, and every link and reference leads somewhere.

Flaws that questions are asked about are well-formed: no END, a task without a link, a self-loop, an endless cycle,
references or bases that come back to where they began.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator

from ..errors import WorkflowError
from .model import END, START, Parameter, Task, Workflow
from .references import assemble, configurations, find, levels

Rule = Callable[[Workflow, Workflow], Iterator[str]]  # (a level, the project) -> what is wrong with it


def check(workflow: Workflow) -> None:
    """Nothing for a well-formed workflow; WorkflowError with every problem, one a line, for any other."""
    if found := problems(workflow):
        raise WorkflowError("\n".join(found))


def problems(workflow: Workflow) -> tuple[str, ...]:
    """What is wrong with a workflow or its others: which workflow, what was found, what was expected; () if nothing is.

    Links are looked at in what a workflow has with its bases; of derived workflows, in those that the first one needs.
    """
    wholes = (workflow, *workflow.others)
    try:
        found = [*_several(wholes), *_broken(_WRITTEN, wholes, workflow)]
        if found:
            return tuple(found)
        assembled = assemble(workflow)
    except WorkflowError as error:
        return (str(error),)
    derived = {whole.qualified for whole in wholes if whole.base}
    resolved = [whole for whole in (assembled, *assembled.others) if whole.qualified in derived]
    return tuple(_broken(_LINKED, [*(whole for whole in wholes if not whole.base), *resolved], workflow))


def _broken(rules: Iterable[Rule], wholes: Iterable[Workflow], project: Workflow) -> Iterator[str]:
    """What the rules say of the workflows and of all that is inline in them."""
    for whole in wholes:
        for path, level in levels(whole):
            where = f"workflow {str(whole.qualified)!r}" + (f", in task {'.'.join(path)!r}" if path else "")
            yield from (f"{where}: {problem}" for rule in rules for problem in rule(level, project))


def _several(wholes: Iterable[Workflow]) -> Iterator[str]:
    for name, times in Counter(str(whole.qualified) for whole in wholes).items():
        if times > 1:
            yield f"workflow {name!r}: found {times} times in the project; expected once"


def _names_are_unique(level: Workflow, project: Workflow) -> Iterator[str]:
    names = (one.name for some in (level.tasks, level.data, level.gateways) for one in some)
    for name, times in Counter(names).items():
        if times > 1:
            yield f"the name {name!r} is found {times} times; expected once among its tasks, data and gateways"


def _names_are_free(level: Workflow, project: Workflow) -> Iterator[str]:
    for some, kind in ((level.tasks, "task"), (level.data, "data"), (level.gateways, "gateway")):
        for one in some:
            if one.name in (START, END) or not one.name.strip():
                yield f"found the {kind} name {one.name!r}; expected a name other than START, END and nothing"


def _parameters_are_unique(level: Workflow, project: Workflow) -> Iterator[str]:
    owners: list[tuple[str, tuple[Parameter, ...]]] = [("it", level.parameters)]
    owners += [(f"task {task.name!r}", task.parameters) for task in level.tasks]
    for owner, parameters in owners:
        for name, times in Counter(one.name for one in parameters).items():
            if times > 1:
                yield f"{owner} has the parameter {name!r} {times} times; expected once"


def _domains_hold_values(level: Workflow, project: Workflow) -> Iterator[str]:
    for one in (*level.parameters, *(one for task in level.tasks for one in task.parameters)):
        domain = one.domain
        if domain is None:
            continue
        if domain.kind == "words" and not domain.words:
            yield f"parameter {one.name!r} has a domain without words; expected one at least"
        if domain.low is not None and domain.high is not None and domain.low > domain.high:
            yield f"parameter {one.name!r} has the domain {domain.low} to {domain.high}; expected the lower bound first"


def _subworkflow_is_one(level: Workflow, project: Workflow) -> Iterator[str]:
    for task in level.tasks:
        if task.subworkflow is not None and task.reference is not None:
            yield (
                f"task {task.name!r} has a sub-workflow inline and refers to {str(task.reference)!r}; "
                "expected one of the two"
            )


def _references_are_found(level: Workflow, project: Workflow) -> Iterator[str]:
    told = [(f"task {task.name!r} refers to", task.reference) for task in level.tasks]
    told += [(f"the configuration of {one.target!r} refers to", one.reference) for one in configurations(level)]
    told.append(("it is derived from", level.base))
    for what, name in told:
        if name is not None and find(project, name, level.package) is None:
            known = ", ".join(str(one.qualified) for one in (project, *project.others))
            yield f"{what} {str(name)!r}, which is not clear; expected one workflow of the project: {known}"


def _links_have_ends(level: Workflow, project: Workflow) -> Iterator[str]:
    known = {START, END, *level.task_names, *(gateway.name for gateway in level.gateways)}
    for link in level.links:
        for end in (link.source, link.target):
            if end not in known:
                yield f"link {link.source!r} -> {link.target!r}: found {end!r}; expected a task, gateway, START or END"


def _start_and_end_are_ends(level: Workflow, project: Workflow) -> Iterator[str]:
    for link in level.links:
        if link.target == START or link.source == END:
            yield f"link {link.source!r} -> {link.target!r}: found; expected no link into START and none out of END"


def _data_links_alternate(level: Workflow, project: Workflow) -> Iterator[str]:
    data = {one.name for one in level.data}
    tasks = set(level.task_names)
    for link in level.data_links:
        if not ((link.source in data and link.target in tasks) or (link.source in tasks and link.target in data)):
            ends = " to ".join(_kind(end, tasks, data) for end in (link.source, link.target))
            yield (
                f"data link {link.source!r} --> {link.target!r}: found {ends}; "
                "expected data to a task that reads it, or a task to data that it writes"
            )


def _kind(name: str, tasks: set[str], data: set[str]) -> str:
    return "a task" if name in tasks else "data" if name in data else f"{name!r}, which is neither"


def _gateways_fit_their_role(level: Workflow, project: Workflow) -> Iterator[str]:
    """A split may be led to from several sides and a join may lead on to several; but neither may do only that."""
    ins = Counter(link.target for link in level.links)
    outs = Counter(link.source for link in level.links)
    for gateway in level.gateways:
        way = (ins[gateway.name], outs[gateway.name])
        if gateway.role == "split" and way[0] > 1 and way[1] == 1:
            yield f"gateway {gateway.name!r} is a split with {way[0]} ways in and one out; expected a join"
        if gateway.role == "join" and way[0] == 1 and way[1] > 1:
            yield f"gateway {gateway.name!r} is a join with one way in and {way[1]} out; expected a split"


def _bindings_name_data(level: Workflow, project: Workflow) -> Iterator[str]:
    data = {one.name for one in level.data}
    for task in level.tasks:
        inside = _data_inside(task, level, project)
        for inner, outer in task.bindings:
            found = f"task {task.name!r} renames {outer!r} to {inner!r}"
            if outer not in data:
                yield f"{found}; expected {outer!r} among the data around the task"
            if inside is not None and inner not in inside:
                yield f"{found}; expected {inner!r} among the data of its sub-workflow"


def _data_inside(task: Task, level: Workflow, project: Workflow) -> set[str] | None:
    """The data that the task's sub-workflow declares; None where that is derived, or is no sub-workflow."""
    below = task.subworkflow or (find(project, task.reference, level.package) if task.reference else None)
    return None if below is None or below.base is not None else {one.name for one in below.data}


_WRITTEN: tuple[Rule, ...] = (
    _names_are_unique,
    _names_are_free,
    _parameters_are_unique,
    _domains_hold_values,
    _subworkflow_is_one,
    _references_are_found,
)
_LINKED: tuple[Rule, ...] = (
    _links_have_ends,
    _start_and_end_are_ends,
    _data_links_alternate,
    _gateways_fit_their_role,
    _bindings_name_data,
)
