"""Patterns about what a task depends on, in control and data flow (docs/reference/patterns.md).

Every question says which of two relations it is about (docs/explanation/patterns.md). *Direct*: the task that comes
directly before, or the data that is an input. *Transitive*: a path of links; in the data flow every task leads from all
its inputs to all its outputs. Distances count the steps from task to task: 1 is direct, in both flows.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Final, Literal

from .....workflow.graph import distances, task_graph
from .....workflow.model import Flow, Workflow
from ..pattern import OWN_LEVEL, Case, Cases, case, pattern
from ..scope import limit_candidates
from ..task_profiles import pair_profile

ASKED_DISTANCES: Final = frozenset({1, 2, *(k << n for n in range(32) for k in (3, 4))})  # 1 2 3 4 6 8 12 16 24 ...
SMALL: Final = 50  # tasks; unrelated pairs are asked about in levels of at most this size

MOST_SOURCES: Final = 24  # of a large level
MOST_PAIRS: Final = 50  # with each of these sources
MOST_TASKS: Final = 100  # of a large level, whose dependencies are asked for

Pair = Literal["direct", "through others", "reversed", "unrelated"]


@dataclass(frozen=True, slots=True)
class FlowNeighbors:
    """Direct predecessors and successors in one flow of a level."""

    flow: Flow
    sources: tuple[str, ...]  # possible dependencies: tasks in the control flow, data in the data flow
    after: Mapping[str, Sequence[str]]  # of each source, the tasks directly after it
    before: Mapping[str, Sequence[str]]
    ahead: Mapping[str, Sequence[str]]  # of each task, the tasks directly after it
    behind: Mapping[str, Sequence[str]]


def _by_case(control: tuple[str, str], data: tuple[str, str]) -> str:
    """Return a template that selects a text by flow and relation; each pair is (direct, transitive)."""
    (a, b), (c, d) = control, data
    return (
        f"{{% if flow == 'control' %}}{{% if direct %}}{a}{{% else %}}{b}{{% endif %}}"
        f"{{% else %}}{{% if direct %}}{c}{{% else %}}{d}{{% endif %}}{{% endif %}}"
    )


@pattern(
    "In {{ place }}, does task '{{ task }}' depend {% if direct %}directly {% endif %}on "
    "{% if flow == 'control' %}task{% else %}data{% endif %} '{{ on }}' in the {{ flow }} flow"
    "{% if not direct %}, directly or through others{% endif %}? That is, "
    + _by_case(
        control=(
            "does '{{ on }}' come directly before '{{ task }}', with no other task in between?",
            "does a path of control flow links lead from '{{ on }}' to '{{ task }}'?",
        ),
        data=(
            "is '{{ on }}' an input of '{{ task }}' itself?",
            "does a path of data flow links lead from '{{ on }}' to '{{ task }}', where every task leads from all its "
            "inputs to all its outputs?",
        ),
    ),
    _by_case(
        control=(
            "Is '{{ on }}' one of the tasks right before task '{{ task }}' in the control flow of {{ place }}, so that "
            "'{{ task }}' can follow it at once?",
            "Starting at task '{{ on }}' and following the control flow of {{ place }} forward, can one arrive at task "
            "'{{ task }}', be it at once or by way of other tasks?",
        ),
        data=(
            "In the data flow of {{ place }}, does task '{{ task }}' itself read data '{{ on }}'? What it only gets "
            "through other tasks does not count.",
            "In the data flow of {{ place }}, does task '{{ task }}' read data '{{ on }}', or anything that other "
            "tasks make from it? Whatever a task writes counts as made from everything that it reads.",
        ),
    ),
    form="yes-no",
    needs={"data"},
    matched=0.9,
)
def dependency_existence(workflow: Workflow, *, hardest: bool = False) -> Cases:
    """Check that the model follows the flow backwards and distinguishes a link from a path.

    Hard negatives: the path leads the other way, or, in a question about a direct dependency, there is one task in
    between; the two nodes have links of the same kinds as those of positives. To limit the work in large workflows,
    pairs more than 4 steps apart are asked about at 6, 8, 12, 16, 24, ... steps, and unrelated pairs in workflows of up
    to 50 tasks. A task is never paired with itself.
    """
    for steps in _flow_neighbors(workflow):
        for on in limit_candidates(steps.sources, len(workflow.tasks), MOST_SOURCES):
            after, before = distances(steps.ahead, steps.after[on]), distances(steps.behind, steps.before[on])
            by_task = {task: after.get(task) or before.get(task) or 0 for task in workflow.task_names if task != on}
            pairs = [
                (task, distance)
                for task, distance in by_task.items()
                if (distance in ASKED_DISTANCES if distance else len(workflow.tasks) <= SMALL)
            ]
            for task, distance in limit_candidates(pairs, len(workflow.tasks), MOST_PAIRS):
                pair, flow = _pair(task, after, before), steps.flow
                labels: dict[str, str | int] = {"relation": "", "flow": flow, "pair": pair, "distance": distance}
                for relation, answer, rank in _relations(pair, distance, hardest):
                    labels["relation"], direct = relation, relation == "direct"
                    yield case(
                        answer,
                        rank=rank,
                        stratum=f"{relation} {flow}",
                        share=1 if direct and flow == "data" else 2,  # a link can be read off a single line
                        profile=pair_profile(workflow, on, task, flow),
                        task=task,
                        on=on,
                        flow=flow,
                        direct=direct,
                        labels=labels,
                    )


def _pair(task: str, after: Mapping[str, int], before: Mapping[str, int]) -> Pair:
    if task in after:
        return "direct" if after[task] == 1 else "through others"
    return "reversed" if task in before else "unrelated"


@lru_cache(maxsize=256)
def _relations(pair: Pair, distance: int, hardest: bool) -> tuple[tuple[str, bool, int], ...]:
    """Return the relations to ask about, each with the answer about a pair and the rank."""
    direct_is_hard = distance == 1 or (distance == 2 and pair == "through others")
    depends, transitive_is_hard = pair in ("direct", "through others"), pair in ("through others", "reversed")
    relations = [
        ("direct", pair == "direct", int(not direct_is_hard)),
        ("transitive", depends, int(not transitive_is_hard)),
    ]
    return tuple((relation, answer, rank) for relation, answer, rank in relations if not (hardest and rank))


@pattern(
    "In {{ place }}, which {% if flow == 'control' %}other tasks{% else %}data{% endif %} does task '{{ task }}' "
    "depend on {% if direct %}directly{% else %}directly or through others{% endif %} in the {{ flow }} flow? That is, "
    + _by_case(
        control=(
            "which other tasks come directly before it, with no task in between?",
            "from which other tasks does a path of control flow links lead to it?",
        ),
        data=(
            "which data are inputs of the task itself?",
            "from which data does a path of data flow links lead to it, where every task leads from all its inputs to "
            "all its outputs?",
        ),
    )
    + OWN_LEVEL,
    _by_case(
        control=(
            "List the tasks, other than '{{ task }}' itself, that task '{{ task }}' can follow at once in the control "
            "flow of {{ place }}.",
            "List the tasks, other than '{{ task }}' itself, from which one can arrive at task '{{ task }}' by "
            "following the control flow of {{ place }} forward, be it at once or by way of other tasks.",
        ),
        data=(
            "List the data that task '{{ task }}' itself reads in the data flow of {{ place }}. What it only gets "
            "through other tasks does not count.",
            "List the data that task '{{ task }}' reads in the data flow of {{ place }}, and all data from which other "
            "tasks make what it reads, however many tasks lie between. Whatever a task writes counts as made from "
            "everything that it reads.",
        ),
    )
    + OWN_LEVEL,
    form="task-set",
    needs={"data"},
)
def dependency_list(workflow: Workflow) -> Cases:
    """Check that the model finds all dependencies of a task and stops at the requested relation.

    A task that lies on a cycle does not count as its own dependency: the question asks for other tasks. Tasks whose two
    relations differ come first, those without dependencies last.
    """
    for steps in _flow_neighbors(workflow):
        for task in limit_candidates(workflow.task_names, len(workflow.tasks), MOST_TASKS):
            distances = _dependencies(steps, task)
            direct = tuple(on for on, distance in distances.items() if distance == 1)
            rank = 2 if not distances else int(len(direct) == len(distances))
            yield _list_case(steps.flow, task, "direct", direct, rank)
            yield _list_case(steps.flow, task, "transitive", tuple(distances), rank)


def _list_case(flow: Flow, task: str, relation: str, answer: tuple[str, ...], rank: int) -> Case:
    labels: dict[str, str | int] = {"relation": relation, "flow": flow}
    return case(answer, rank=rank, task=task, flow=flow, direct=relation == "direct", labels=labels)


@pattern(
    "Which task in {{ place }} produces data '{{ data }}'?"
    "{% if nested %} Name the task that stands directly in it, not one nested inside that task.{% endif %}",
    "Data '{{ data }}' in {{ place }} is written by one task. Which one?"
    "{% if nested %} Leave out tasks that lie inside other tasks.{% endif %}",
    form="task",
    needs={"data"},
    exceptional=True,
)
def data_production(workflow: Workflow) -> Cases:
    """Check that the model distinguishes the task that writes data from the tasks that read it.

    Only data that exactly one task writes is asked about; data that no task reads comes last.
    """
    for name in (data.name for data in workflow.data):
        writers = list(dict.fromkeys(link.source for link in workflow.data_links if link.target == name))
        is_read = any(link.source == name for link in workflow.data_links)
        if len(writers) == 1:
            yield case(writers[0], rank=int(not is_read), data=name)


def _flow_neighbors(workflow: Workflow) -> Iterator[FlowNeighbors]:
    """Yield the neighbors in each flow that the level has."""
    if workflow.links:
        ahead = task_graph(workflow)
        behind = _reverse_links(ahead)
        yield FlowNeighbors("control", workflow.task_names, ahead, behind, ahead, behind)
    if workflow.data_links:
        data = tuple(node.name for node in workflow.data)
        ahead = task_graph(workflow, "data")
        after: dict[str, list[str]] = {name: [] for name in data}
        before: dict[str, list[str]] = {name: [] for name in data}
        for link in workflow.data_links:
            if link.source in after and link.target in ahead:
                after[link.source].append(link.target)
            if link.target in before and link.source in ahead:
                before[link.target].append(link.source)
        yield FlowNeighbors("data", data, after, before, ahead, _reverse_links(ahead))


def _reverse_links(graph: Mapping[str, Sequence[str]]) -> dict[str, list[str]]:
    """Return the graph with every link reversed."""
    predecessors: dict[str, list[str]] = {node: [] for node in graph}
    for node, targets in graph.items():
        for target in targets:
            predecessors[target].append(node)
    return predecessors


def _dependencies(steps: FlowNeighbors, task: str) -> dict[str, int]:
    """Return the dependencies of a task with their distances in steps."""
    tasks = distances(steps.behind, steps.behind[task])
    if steps.flow == "control":
        return {other: distance for other, distance in tasks.items() if other != task}
    tasks[task] = 0
    dependencies: dict[str, int] = {}
    for on in steps.sources:
        reader_distances = [tasks[reader] for reader in steps.after[on] if reader in tasks]
        if reader_distances:
            dependencies[on] = 1 + min(reader_distances)
    return dependencies
