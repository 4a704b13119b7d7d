"""Check that a workflow is well-formed: its names are unambiguous, and every link and reference leads somewhere.

Flaws that questions are asked about are well-formed: no END, a task without a link, a self-loop, an endless cycle,
references or bases that come back to where they began.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence

from ..errors import WorkflowError
from .model import END, START, Parameter, Task, Workflow
from .references import assemble, configurations, find, levels

Rule = Callable[[Workflow, Workflow], Iterator[str]]  # (a level, the project) -> what is wrong with it


def check(workflow: Workflow) -> None:
    """Check that a workflow is well-formed.

    Raises:
        WorkflowError: if it is not; the message has every problem, one a line.
    """
    if messages := problems(workflow):
        raise WorkflowError("\n".join(messages))


def problems(workflow: Workflow) -> tuple[str, ...]:
    """Return the problems of a workflow and its others: where each is, what was found and what was expected.

    Links are checked in a workflow together with its bases; of derived workflows, in those that the first one needs.
    """
    workflows = (workflow, *workflow.others)
    try:
        messages = [*_duplicate_workflows(workflows), *_violations(_RULES_AS_DECLARED, workflows, workflow)]
        if messages:
            return tuple(messages)
        assembled = assemble(workflow)
    except WorkflowError as error:
        return (str(error),)
    derived = {root.qualified for root in workflows if root.base}
    resolved = [root for root in (assembled, *assembled.others) if root.qualified in derived]
    underived = [root for root in workflows if not root.base]
    return tuple(_violations(_RULES_OF_LINKS, [*underived, *resolved], workflow))


def faulty_workflows(workflow: Workflow) -> dict[str, str]:
    """Return the first problem of the workflow and of each of its others that has one, by qualified name."""
    messages, first = problems(workflow), dict[str, str]()
    for root in (workflow, *workflow.others):
        where = f"workflow {str(root.qualified)!r}"  # as in `_violations`
        if message := next((each for each in messages if each.startswith((f"{where}:", f"{where},"))), ""):
            first[str(root.qualified)] = message
    return first


def _violations(rules: Iterable[Rule], workflows: Iterable[Workflow], project: Workflow) -> Iterator[str]:
    """Yield the messages of the rules about the workflows and about all that is inline in them."""
    for root in workflows:
        for path, level in levels(root):
            where = f"workflow {str(root.qualified)!r}" + (f", in task {'.'.join(path)!r}" if path else "")
            yield from (f"{where}: {problem}" for rule in rules for problem in rule(level, project))


def _duplicate_workflows(workflows: Iterable[Workflow]) -> Iterator[str]:
    for name, count in _repeated([str(root.qualified) for root in workflows]):
        yield f"workflow {name!r}: found {count} times in the project; expected once"


def _repeated(names: Sequence[str]) -> list[tuple[str, int]]:
    """Return the names that occur several times, each with how often."""
    if len(set(names)) == len(names):
        return []
    return [(name, count) for name, count in Counter(names).items() if count > 1]


def _names_are_unique(level: Workflow, project: Workflow) -> Iterator[str]:
    names = [element.name for elements in (level.tasks, level.data, level.gateways) for element in elements]
    for name, count in _repeated(names):
        yield f"the name {name!r} is found {count} times; expected once among its tasks, data and gateways"


def _names_are_free(level: Workflow, project: Workflow) -> Iterator[str]:
    for elements, kind in ((level.tasks, "task"), (level.data, "data"), (level.gateways, "gateway")):
        for element in elements:
            if element.name in (START, END) or not element.name.strip():
                yield f"found the {kind} name {element.name!r}; expected a name that is not START, END or empty"


def _parameters_are_unique(level: Workflow, project: Workflow) -> Iterator[str]:
    owners: list[tuple[str, tuple[Parameter, ...]]] = [("it", level.parameters)]
    owners += [(f"task {task.name!r}", task.parameters) for task in level.tasks if task.parameters]
    for owner, parameters in owners:
        for name, count in _repeated([parameter.name for parameter in parameters]):
            yield f"{owner} has the parameter {name!r} {count} times; expected once"


def _domains_hold_values(level: Workflow, project: Workflow) -> Iterator[str]:
    for parameter in (*level.parameters, *(parameter for task in level.tasks for parameter in task.parameters)):
        domain = parameter.domain
        if domain is None:
            continue
        if domain.kind == "words" and not domain.words:
            yield f"parameter {parameter.name!r} has a domain without words; expected at least one"
        if domain.low is not None and domain.high is not None and domain.low > domain.high:
            domain_found = f"parameter {parameter.name!r} has the domain {domain.low} to {domain.high}"
            yield f"{domain_found}; expected the lower bound first"


def _durations_are_positive(level: Workflow, project: Workflow) -> Iterator[str]:
    stated = [(task.name, task.duration) for task in level.tasks]
    stated += [(configuration.target, configuration.duration) for configuration in configurations(level)]
    for name, duration in stated:
        if duration is not None and duration.amount < 1:
            found = f"task {name!r} has the duration {duration.amount} {duration.unit}"
            yield f"{found}; expected a whole number of at least 1"


def _subworkflow_is_unambiguous(level: Workflow, project: Workflow) -> Iterator[str]:
    for task in level.tasks:
        if task.subworkflow is not None and task.reference is not None:
            yield (
                f"task {task.name!r} has a sub-workflow inline and refers to {str(task.reference)!r}; "
                "expected one of the two"
            )


def _references_are_found(level: Workflow, project: Workflow) -> Iterator[str]:
    mentions = [(f"task {task.name!r} refers to", task.reference) for task in level.tasks if task.reference]
    mentions += [
        (f"the configuration of {configuration.target!r} refers to", configuration.reference)
        for configuration in configurations(level)
        if configuration.reference
    ]
    if level.base:
        mentions.append(("it is derived from", level.base))
    for mention, name in mentions:
        if find(project, name, level.package) is None:
            available = ", ".join(str(candidate.qualified) for candidate in (project, *project.others))
            yield f"{mention} {str(name)!r}, which is unclear; expected one workflow of the project: {available}"


def _links_have_ends(level: Workflow, project: Workflow) -> Iterator[str]:
    node_names = {START, END, *level.task_names, *(gateway.name for gateway in level.gateways)}
    for link in (*level.links, *level.exceptional_links):
        for end in (link.source, link.target):
            if end not in node_names:
                yield f"link {link.source!r} -> {link.target!r}: found {end!r}; expected a task, gateway, START or END"


def _start_and_end_are_ends(level: Workflow, project: Workflow) -> Iterator[str]:
    for link in (*level.links, *level.exceptional_links):
        if link.target == START or link.source == END:
            yield f"link {link.source!r} -> {link.target!r}: found; expected no link into START and none out of END"


def _exceptional_links_leave_tasks(level: Workflow, project: Workflow) -> Iterator[str]:
    tasks = set(level.task_names)
    for link in level.exceptional_links:
        if link.source not in tasks or link.guard is not None:
            found = "a condition on it" if link.source in tasks else f"{link.source!r} before it"
            place = f"exceptional link {link.source!r} -> {link.target!r}"
            yield f"{place}: found {found}; expected a task before it, and no condition"


def _data_links_alternate(level: Workflow, project: Workflow) -> Iterator[str]:
    data = {data_object.name for data_object in level.data}
    tasks = set(level.task_names)
    for link in level.data_links:
        if not ((link.source in data and link.target in tasks) or (link.source in tasks and link.target in data)):
            ends = " to ".join(_describe_end(end, tasks, data) for end in (link.source, link.target))
            yield (
                f"data link {link.source!r} --> {link.target!r}: found {ends}; "
                "expected data to a task that reads it, or a task to data that it writes"
            )


def _describe_end(name: str, tasks: set[str], data: set[str]) -> str:
    return "a task" if name in tasks else "data" if name in data else f"{name!r}, which is neither"


def _gateways_fit_their_role(level: Workflow, project: Workflow) -> Iterator[str]:
    """Yield a problem for each split that only joins, and for each join that only splits.

    A split may have several links in and a join several links out, as long as each also does what its role states.
    """
    ins = Counter(link.target for link in level.links)
    outs = Counter(link.source for link in level.links)
    for gateway in level.gateways:
        counts = (ins[gateway.name], outs[gateway.name])
        if gateway.role == "split" and counts[0] > 1 and counts[1] == 1:
            yield f"gateway {gateway.name!r} is a split with {counts[0]} ways in and one out; expected a join"
        if gateway.role == "join" and counts[0] == 1 and counts[1] > 1:
            yield f"gateway {gateway.name!r} is a join with one way in and {counts[1]} out; expected a split"


def _bindings_name_data(level: Workflow, project: Workflow) -> Iterator[str]:
    data = {data_object.name for data_object in level.data}
    for task in level.tasks:
        inner_data = _data_inside(task, level, project)
        for inner, outer in task.bindings:
            binding = f"task {task.name!r} renames {outer!r} to {inner!r}"
            if outer not in data:
                yield f"{binding}; expected {outer!r} among the data around the task"
            if inner_data is not None and inner not in inner_data:
                yield f"{binding}; expected {inner!r} among the data of its sub-workflow"


def _data_inside(task: Task, level: Workflow, project: Workflow) -> set[str] | None:
    """Return the data that the task's sub-workflow declares; None if it is derived, or there is no sub-workflow."""
    subworkflow = task.subworkflow or (find(project, task.reference, level.package) if task.reference else None)
    return (
        None
        if subworkflow is None or subworkflow.base is not None
        else {data_object.name for data_object in subworkflow.data}
    )


_RULES_AS_DECLARED: tuple[Rule, ...] = (
    _names_are_unique,
    _names_are_free,
    _parameters_are_unique,
    _domains_hold_values,
    _durations_are_positive,
    _subworkflow_is_unambiguous,
    _references_are_found,
)
_RULES_OF_LINKS: tuple[Rule, ...] = (
    _links_have_ends,
    _start_and_end_are_ends,
    _exceptional_links_leave_tasks,
    _data_links_alternate,
    _gateways_fit_their_role,
    _bindings_name_data,
)
