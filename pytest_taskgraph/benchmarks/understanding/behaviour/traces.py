"""Patterns about the order of tasks where conditions decide what runs (specs/patterns.md, B5, B6, B8, B11, B12).

What is asked about hangs on the graph and on the values of parameters, not on names or declarations. Situations are
told in full: a value for every parameter on which the way through the level hangs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import permutations, product
from math import factorial, prod
from typing import Final

from ....workflow.all_runs import always_before, executed_in_every_situation, some_run_in_order
from ....workflow.concurrency import can_run_in_parallel
from ....workflow.execution import Run, run
from ....workflow.graph import reachable, shortest_cycle, task_graph
from ....workflow.guard_cells import Constant
from ....workflow.guards import comparisons, parse_guard
from ....workflow.model import END, START, Workflow
from ....workflow.situations import representatives, write_situation
from ....workflow.traces import allows
from ..pattern import Cases, case, pattern
from ..structure.wording import OWN_LEVEL
from .order import ASKED_DISTANCES, distances, layers, listed, order_of, sequences

MOST_SITUATIONS: Final = 24
MOST_TWINS: Final = 6  # ways to put tasks that the graph does not tell apart
MOST_CHANGES: Final = 12  # of one kind, to one trace


@pattern(
    "Take the runs of {{ place }} in which both task '{{ a }}' and task '{{ b }}' run: does '{{ a }}' run before "
    "'{{ b }}' in every one of them, whatever the values of the parameters?",
    "In {{ place }}, is task '{{ a }}' always done before task '{{ b }}' begins whenever both are executed in one run?",
    form="yes-no",
    needs={"guards", "exclusive", "parallel"},
)
def order_of_two_conditional(workflow: Workflow) -> Cases:
    """Does the model tell an order that always holds from one that need not?

    The negatives are pairs turned round, and tasks that can run in parallel. Left out are pairs that no known run holds
    together, those whose answer hangs on which of several executions is meant, and pairs that are no 1, 2, 3, 6, 12,
    24, ... links apart. Pairs with a link between them come last.
    """
    graph = task_graph(workflow)
    for a, row in distances(graph).items():
        for b, distance in row.items():
            if a != b and distance in ASKED_DISTANCES and (answer := always_before(workflow, a, b)):
                rank = int(distance == 1)
                yield case(answer, rank=rank, stratum="ordered", a=a, b=b, labels={"pair": "ordered"})
                if always_before(workflow, b, a) is False:
                    yield case(False, rank=rank, stratum="ordered", a=b, b=a, labels={"pair": "reversed"})
    for one, other in _beside(workflow, graph):
        for a, b in ((one, other), (other, one)):
            if always_before(workflow, a, b) is False:
                yield case(False, stratum="parallel", a=a, b=b, labels={"pair": "parallel"})


def _beside(workflow: Workflow, graph: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Pairs that can run in parallel and come directly after one task."""
    pairs = {(min(a, b), max(a, b)) for after in graph.values() for a in after for b in after if a != b}
    for a, b in sorted(pairs):
        if can_run_in_parallel(workflow, a, b):
            yield a, b


@pattern(
    "Is there a run of {{ place }} in which the tasks {{ listed }} all run, in this order? Other tasks may run before, "
    "between and after them.",
    "In {{ place }}, can the parameters have values with which {{ listed }} are all executed in one run, one after the "
    "other as given here, with or without other tasks in between?",
    form="yes-no",
    needs={"guards", "exclusive"},
    least=6,
)
def order_of_many_conditional(workflow: Workflow) -> Cases:
    """Can the model tell for a whole sequence whether some values of the parameters allow it?

    The negatives have two neighbours the wrong way round, or tasks of two branches that exclude each other. Levels with
    a way back are left out.
    """
    if shortest_cycle(workflow):
        return
    for base in sequences(layers(task_graph(workflow))):
        told = some_run_in_order(workflow, base)
        if told is not None:
            kind = "kept" if told else "excluded"
            yield case(told, rank=int(told), stratum=kind, listed=listed(base), labels={"sequence": len(base)})
        if told:
            for i in range(len(base) - 1):
                moved = (*base[:i], base[i + 1], base[i], *base[i + 2 :])
                answer = some_run_in_order(workflow, moved)
                if answer is not None:
                    yield case(answer, stratum="moved", listed=listed(moved), labels={"sequence": len(base)})


@pattern(
    "In {{ place }}, let the parameters be '{{ situation }}' at the start. "
    "List the tasks that run, in an order in which they can run." + OWN_LEVEL,
    "In the situation '{{ situation }}', which tasks of {{ place }} are executed, and in which order? "
    "Name them one at a time in one possible order, each as often as it is executed." + OWN_LEVEL,
    form="task-order",
    needs={"guards", "exclusive"},
)
def determine_order_conditional(workflow: Workflow) -> Cases:
    """Can the model execute a workflow in a given situation?

    Left out are situations in which the run never ends or could be read two ways (`execution.outcome`), and those that
    allow so many orders that an answer could not be measured.
    """
    for situation, found in runs(workflow, MOST_SITUATIONS):
        if (reference := order_of(found)) is not None:
            yield case(reference, situation=_told(workflow, situation), labels={"runs": len(found.tasks)})


@pattern(
    "In {{ place }}, let the parameters be '{{ situation }}' at the start. "
    "Can {{ listed }} be the complete trace of the run, that is, "
    "exactly the tasks executed, each as often as it is, in a possible order?",
    "In the situation '{{ situation }}', is it possible that precisely the following tasks of {{ place }} are "
    "executed, one after the other in this order, and no others: {{ listed }}?",
    form="yes-no",
    needs={"guards", "exclusive", "parallel"},
)
def trace(workflow: Workflow) -> Cases:
    """Can the model check an execution step by step?

    The negatives have two ordered neighbours swapped, one task dropped, or one put in that does not run in the
    situation. Left out are runs in which many tasks have the same place in the graph, so that which of them is named
    first would hang on their names.
    """
    places = _places(workflow)
    for situation, found in runs(workflow, 3):
        for tasks, kind in _changed(list(_extensions(found, places)), task_graph(workflow)).items():
            labels: dict[str, str | int] = {"change": kind, "runs": len(found.tasks)}
            told = _told(workflow, situation)
            yield case(allows(found, tasks), stratum=kind, situation=told, listed=listed(tasks), labels=labels)


def _changed(bases: Sequence[tuple[str, ...]], graph: Mapping[str, Sequence[str]]) -> dict[tuple[str, ...], str]:
    """The traces and their changes, each once, with their kind."""
    kinds = dict.fromkeys(bases, "kept")
    for base in bases:
        for i in _some(len(base) - 1):
            kinds.setdefault((*base[:i], base[i + 1], base[i], *base[i + 2 :]), "swapped")
        for i in _some(len(base)):
            kinds.setdefault((*base[:i], *base[i + 1 :]), "dropped")
        for task in (one for one in graph if one not in base):
            after = [i for i, one in enumerate(base) if task in graph[one]]
            if after:
                kinds.setdefault((*base[: after[-1] + 1], task, *base[after[-1] + 1 :]), "put in")
    return kinds


def _some(count: int) -> range:
    return range(0, count, max(1, -(-count // MOST_CHANGES)))


def _extensions(found: Run, places: Mapping[str, int]) -> Iterator[tuple[str, ...]]:
    """The orders of a run in which everything comes as early as it can, tasks with the same place in any order."""
    depth: list[int] = []
    for mask in found.before:
        depth.append(1 + max((one for i, one in enumerate(depth) if mask >> i & 1), default=0))
    groups: dict[tuple[int, int], list[str]] = {}
    for i, task in enumerate(found.tasks):
        groups.setdefault((depth[i], places[task]), []).append(task)
    if prod(factorial(len(group)) for group in groups.values()) <= MOST_TWINS:
        for row in product(*(permutations(groups[key]) for key in sorted(groups))):
            yield tuple(task for group in row for task in group)


@pattern(
    "Is task '{{ task }}' of {{ place }} executed whatever values the parameters have at the start?",
    "In {{ place }}, does task '{{ task }}' run in every possible initial situation, that is, for all values of the "
    "parameters?",
    form="yes-no",
    needs={"guards", "exclusive"},
)
def every_situation(workflow: Workflow) -> Cases:
    """Does the model see what conditions together cannot avoid?

    Hard positives lie behind conditional links that cover everything, hard negatives have no conditional link directly
    before them.
    """
    conditional = [link.target for link in workflow.links if link.guard is not None]
    out: dict[str, list[str]] = {}
    for link in workflow.links:
        out.setdefault(link.source, []).append(link.target)
    behind = {node for first in set(conditional) for node in (first, *reachable(out, first))}
    for task in workflow.task_names:
        answer = executed_in_every_situation(workflow, task)
        if answer is not None:
            easy = task not in behind if answer else task in conditional
            yield case(answer, rank=int(easy), task=task)


def runs(workflow: Workflow, most: int) -> Iterator[tuple[Mapping[str, Constant], Run]]:
    """Situations that tell every parameter on which the way hangs, with their runs; about `most` at most.

    First the one in which every parameter has the first of its values (`situations.representatives`), then the one with
    their second values, and so on; then these with one parameter changed, as far as all such changes find room.
    """
    values = {name: _plain(found) for name, found in (representatives(workflow, wide=False) or {}).items()}
    if not values:
        return
    rows = range(max(map(len, values.values())))
    diagonal = [{name: found[i % len(found)] for name, found in values.items()} for i in rows]
    changed = [{**one, name: value} for one in diagonal for name, found in values.items() for value in found]
    told: list[dict[str, Constant]] = []
    for one in (*diagonal[:most], *(changed if len(changed) <= most else ())):
        if one not in told:
            told.append(one)
    for one in told:
        found_run = run(workflow, one)
        if found_run is not None:
            yield one, found_run


def _plain(values: Sequence[Constant]) -> tuple[Constant, ...]:
    """The values; a word that no guard names (it ends in a quote) as one that reads well."""
    told = (one if isinstance(one, Fraction) or "'" not in one else "other" for one in values)
    return tuple(dict.fromkeys(told))


def _told(workflow: Workflow, situation: Mapping[str, Constant]) -> str:
    """The situation as text, its parameters in an order that hangs on the guards that read them."""
    places = _places(workflow)
    read: dict[str, list[tuple[int, int, str, str]]] = {name: [] for name in situation}
    for link in workflow.links:
        guard = None if link.guard is None else parse_guard(link.guard)
        for one in comparisons(guard) if guard is not None else ():
            if one.parameter in read:
                read[one.parameter].append((places[link.source], places[link.target], one.operator, str(one.value)))
    names = sorted(situation, key=lambda name: (sorted(read[name]), name))
    return write_situation({name: situation[name] for name in names})


@lru_cache(maxsize=64)
def _places(workflow: Workflow) -> dict[str, int]:
    """A number for every node: equal where neither links nor kinds tell two of them apart (colour refinement)."""
    kinds = {START: "start", END: "end"} | {one.name: f"{one.kind} {one.role}" for one in workflow.gateways}
    kinds |= dict.fromkeys(workflow.task_names, "task") | {one.name: "data" for one in workflow.data}
    near: dict[str, list[tuple[str, str]]] = {name: [] for name in kinds}
    for link in workflow.links:
        how = "plain" if link.guard is None else "guarded"
        near[link.source].append((f"{how} to", link.target))
        near[link.target].append((f"{how} from", link.source))
    for data_link in workflow.data_links:
        near[data_link.source].append(("to", data_link.target))
        near[data_link.target].append(("from", data_link.source))
    number = {kind: i for i, kind in enumerate(sorted(set(kinds.values())))}
    places = {name: number[kind] for name, kind in kinds.items()}
    while True:
        seen = {name: (places[name], tuple(sorted((how, places[one]) for how, one in near[name]))) for name in kinds}
        order = {key: i for i, key in enumerate(sorted(set(seen.values())))}
        if len(order) == len(set(places.values())):
            return places
        places = {name: order[key] for name, key in seen.items()}
