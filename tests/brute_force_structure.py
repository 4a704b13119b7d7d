"""The answers of the structure patterns S1 to S24 once more, from the words of the specification alone.

Each function is given the level that is asked about and the fields of the case, and goes over all nodes, links and
walks; nothing is imported from the package but the model.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Protocol

from brute_force_game import Game, parallel
from brute_force_guards import assignments, domains, read_link, situations, taken
from brute_force_walks import (
    closed_walks,
    forks,
    next_tasks,
    out,
    region,
    splits_after,
    steps,
    task_steps,
    walk,
)

from pytest_taskgraph.workflow.model import END, START, QualifiedName, Task, Workflow

Fields = Mapping[str, Any]


class Answer(Protocol):
    """What answers a pattern's question about a level."""

    __name__: str

    def __call__(self, level: Workflow, fields: Fields) -> object:
        """The answer, as a reference states it."""


def yes(answer: bool) -> str:
    return "yes" if answer else "no"


def task_list(level: Workflow, fields: Fields) -> object:
    return sorted(level.task_names)


def task_list_with_property(level: Workflow, fields: Fields) -> object:
    text = fields["plural"]
    quoted = re.findall(r"'(.*)'", text)
    links = [(link.source, link.target) for link in level.data_links]
    tests: list[tuple[str, Callable[[Task], bool]]] = [
        ("are of kind", lambda task: task.kind == quoted[0]),
        ("write data", lambda task: (task.name, quoted[0]) in links),
        ("read data", lambda task: (quoted[0], task.name) in links),
        ("have a parameter", lambda task: len(task.parameters) > 0),
        ("have a sub-workflow", lambda task: task.subworkflow is not None or task.reference is not None),
        ("have an implementation", lambda task: task.implementation != ""),
        ("have a description", lambda task: task.description != ""),
    ]
    (test,) = [applies for words, applies in tests if text.startswith(words)]
    return sorted(task.name for task in level.tasks if test(task))


def link_existence(level: Workflow, fields: Fields) -> object:
    ends = (_described_node(level, fields["first"]), _described_node(level, fields["second"]))
    return yes(ends in steps(level, fields["flow"]))


def _described_node(level: Workflow, words: str) -> str:
    """Return the task or data that is named, or the only task that fits the words."""
    (name,) = re.findall("'(.*)'", words)
    links = [(link.source, link.target) for link in level.data_links]
    if words.startswith(("task ", "data ")):
        return str(name)
    if words.startswith("the one task that comes directly after task "):
        (task,) = next_tasks(level, name)
    elif words.startswith("the one task that writes data "):
        (task,) = {each for each in level.task_names if (each, name) in links}
    else:
        assert words.startswith("the one task that reads data "), words
        (task,) = {each for each in level.task_names if (name, each) in links}
    return task


def task_after_task(level: Workflow, fields: Fields) -> object:
    return yes(fields["b"] in next_tasks(level, fields["a"], fields["flow"]))


def next_tasks_in_flow(level: Workflow, fields: Fields) -> object:
    return sorted(next_tasks(level, fields["task"], fields["flow"]))


def conditional_link_existence(level: Workflow, fields: Fields) -> object:
    ways = [link for link in level.links if (link.source, link.target) == (fields["a"], fields["b"])]
    return yes(any(link.guard is not None for link in ways))


def conditional_links(level: Workflow, fields: Fields) -> object:
    ways = [link for link in out(level, fields["task"]) if link.guard is not None]
    return sorted({link.target for link in ways} & set(level.task_names))


def exceptional_link_existence(level: Workflow, fields: Fields) -> object:
    return yes((fields["a"], fields["b"]) in {(link.source, link.target) for link in level.exceptional_links})


def exceptional_links(level: Workflow, fields: Fields) -> object:
    return sorted({link.target for link in level.exceptional_links if link.source == fields["task"]} - {END})


def flow_cycle(level: Workflow, fields: Fields) -> object:
    pairs = steps(level, fields["flow"])
    return yes(any(task in walk(pairs, task) for task in level.task_names))


def flow_start(level: Workflow, fields: Fields) -> object:
    if fields["flow"] == "control":
        (first,) = next_tasks(level, START)
        return first
    (first,) = _in_data_flow(level) - {later for earlier, later in task_steps(level, "data") if earlier != later}
    return first


def flow_end(level: Workflow, fields: Fields) -> object:
    flow = fields["flow"]
    linked = {node for pair in steps(level, "control") for node in pair} & set(level.task_names)
    tasks = linked if flow == "control" else _in_data_flow(level)
    return sorted(tasks - {earlier for earlier, later in task_steps(level, flow) if earlier != later})


def _in_data_flow(level: Workflow) -> set[str]:
    return {node for pair in steps(level, "data") for node in pair} & set(level.task_names)


def flow_connected(level: Workflow, fields: Fields) -> object:
    pairs = steps(level, "control")
    reached = walk(pairs, START)
    return yes(all(task in reached and END in walk(pairs, task) for task in level.task_names))


def operator_existence(level: Workflow, fields: Fields) -> object:
    operator = fields["operator"]
    if operator == "parallel block":
        return yes(len(forks(level)) > 0)
    if operator == "loop":
        return flow_cycle(level, {"flow": "control"})
    nodes = sorted({link.source for link in level.links})
    return yes(any(_choice(level, node) == operator for node in nodes))


def _choice(level: Workflow, node: str) -> str:
    """Whether one of the ways out of a node is taken, or several, trying all values; "" if it decides nothing else
    than whether to repeat a loop, or nothing at all.
    """
    ways = out(level, node)
    if len(ways) < 2 or all(link.guard is None for link in ways):
        return ""
    around = closed_walks(level, node)
    if len(ways) == 2 and len([link for link in ways if link.target in around]) == 1:
        return ""
    read = [condition for condition in (read_link(level, link) for link in ways) if condition]
    tried = assignments([atom for condition in read for atom in condition.atoms], domains(level))
    most = max(sum(taken(level, ways, values)) for values in tried)
    return "exclusive choice" if most == 1 else "inclusive choice"


def parallel_pair(level: Workflow, fields: Fields) -> object:
    return yes(fields["b"] in _parallel_to(level, fields["a"]))


def parallel_to_task(level: Workflow, fields: Fields) -> object:
    return sorted(_parallel_to(level, fields["task"]))


def _parallel_to(level: Workflow, task: str) -> set[str]:
    game = Game(level)
    return {other for values in situations(level) for other in parallel(game, values, task)}


def parallel_block(level: Workflow, fields: Fields) -> object:
    return _block(level, fields["task"], set(forks(level)))


def operator_block(level: Workflow, fields: Fields) -> object:
    task, tasks = fields["task"], set(level.task_names)
    if fields["operator"] == "loop":
        inside = [closed_walks(level, entry_task, {task}) for entry_task in next_tasks(level, task)]
        return sorted({node for nodes in inside for node in nodes} & tasks)
    return _block(
        level, task, {link.source for link in level.links if _choice(level, link.source) == fields["operator"]}
    )


def _block(level: Workflow, task: str, splits: set[str]) -> list[str]:
    (split,) = splits_after(level, task)
    assert split in splits
    return sorted(region(level, split) & set(level.task_names))


def all_parallel_tasks(level: Workflow, fields: Fields) -> object:
    blocks = {fork: region(level, fork) for fork in forks(level)}
    outer = [nodes for fork, nodes in blocks.items() if not any(fork in others for others in blocks.values())]
    return sorted(sorted(nodes & set(level.task_names)) for nodes in outer)


def dependency_existence(level: Workflow, fields: Fields) -> object:
    return yes(fields["on"] in _needed(level, fields["task"], fields["flow"], fields["direct"]))


def dependency_list(level: Workflow, fields: Fields) -> object:
    task = fields["task"]
    return sorted(_needed(level, task, fields["flow"], fields["direct"]) - {task})


def _needed(level: Workflow, task: str, flow: str, direct: bool) -> set[str]:
    if flow == "control":
        pairs = steps(level, "control")
        names = level.task_names
        return {name for name in names if task in (next_tasks(level, name) if direct else walk(pairs, name))}
    links = steps(level, "data")
    data = [node.name for node in level.data]
    return {name for name in data if ((name, task) in links if direct else task in walk(links, name))}


def data_production(level: Workflow, fields: Fields) -> object:
    (task,) = [link.source for link in level.data_links if link.target == fields["data"]]
    return task


def _inside(level: Workflow, task: Task) -> Workflow | None:
    if task.subworkflow is not None:
        return task.subworkflow
    by_name = {workflow.qualified: workflow for workflow in (level, *level.others)}
    return by_name.get(task.reference) if task.reference is not None else None


def _below(
    level: Workflow, family: Workflow, path: tuple[str, ...], entered: tuple[QualifiedName, ...]
) -> Iterator[tuple[str, ...]]:
    """The paths of all tasks in a level and below; a workflow referred to is not entered inside itself."""
    for task in level.tasks:
        yield (*path, task.name)
        again = task.reference is not None and task.reference in entered
        below = None if again else _inside(family, task)
        if below is not None:
            now = (*entered, task.reference) if task.reference else entered
            yield from _below(below, family, (*path, task.name), now)


def task_hierarchy(level: Workflow, fields: Fields) -> object:
    task, composite = fields["task"].split("."), fields["composite"].split(".")
    for path in _below(level, level, (), ()):
        for at in range(1, len(path)):
            if list(path[:at])[-len(composite) :] == composite and list(path)[-len(task) :] == task:
                return "yes"
    return "no"


def composite_tasks(level: Workflow, fields: Fields) -> object:
    return sorted(task.name for task in level.tasks if task.subworkflow is not None or task.reference is not None)


def nested_tasks(level: Workflow, fields: Fields) -> object:
    paths = list(_below(level, level, (), ()))
    names = [path[-1] for path in paths]
    return sorted(".".join(path) if names.count(path[-1]) > 1 else path[-1] for path in paths if len(path) > 1)


def infinite_recursion(level: Workflow, fields: Fields) -> object:
    by_name = {workflow.qualified: workflow for workflow in (level, *level.others)}

    def references_of(workflow: Workflow) -> Iterator[QualifiedName]:
        if workflow.base is not None:
            yield workflow.base
        for task in workflow.tasks:
            if task.reference is not None:
                yield task.reference
            if task.subworkflow is not None:
                yield from references_of(task.subworkflow)

    pairs = [(str(name), str(to)) for name, workflow in by_name.items() for to in references_of(workflow)]
    start = str(level.qualified)
    return yes(any(name in walk(pairs, name) for name in {start, *walk(pairs, start)}))


FUNCTIONS: tuple[Answer, ...] = (
    task_list, task_list_with_property, link_existence, task_after_task, conditional_link_existence,
    conditional_links, exceptional_link_existence, exceptional_links,
    flow_cycle, flow_start, flow_end, flow_connected, operator_existence, parallel_pair,
    parallel_block, parallel_to_task, all_parallel_tasks, operator_block, dependency_existence, dependency_list,
    data_production, task_hierarchy, composite_tasks, nested_tasks, infinite_recursion,
)  # fmt: skip

ANSWERS: dict[str, Answer] = {"next_tasks": next_tasks_in_flow} | {
    function.__name__: function for function in FUNCTIONS
}
