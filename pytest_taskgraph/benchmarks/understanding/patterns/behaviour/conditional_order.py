"""Patterns about the order of tasks where conditions decide what runs (specs/patterns.md, B5, B6, B8, B11, B12).

What is asked about hangs on the graph and on the values of parameters, not on names or declarations. Situations are
told in full: a value for every parameter on which the way through the level hangs.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from fractions import Fraction
from functools import lru_cache
from itertools import pairwise, permutations, product, zip_longest
from math import factorial, prod
from typing import Final

from .....workflow.graph import reachable, task_graph
from .....workflow.guards.cells import Constant
from .....workflow.guards.solver import comparisons, parse_guard
from .....workflow.model import END, START, Workflow
from .....workflow.semantics.all_runs import always_before, executed_in_every_situation, some_run_in_order
from .....workflow.semantics.concurrency import can_run_in_parallel
from .....workflow.semantics.execution import Run, allows, run
from .....workflow.semantics.loops import forward_task_graph
from .....workflow.semantics.situations import representatives, write_situation
from ..pattern import OWN_LEVEL, Cases, case, pattern
from ..scope import LEAST, WORK, spread
from .task_order import AMONG_OTHERS, affordable, far_apart, layers, listed, order_of, sequences

MOST_SITUATIONS: Final = 24
MOST_TWINS: Final = 6  # ways to put tasks that the graph does not tell apart
EXECUTIONS: Final = 4  # that the answer about a pair usually takes
LINKS_IN_ROW: Final = 2  # of a task with one before it and one after it
MOST_CHANGES: Final = 12  # of one kind, to one trace


@pattern(
    "Take the runs of {{ place }} in which both task '{{ a }}' and task '{{ b }}' run: does every execution of "
    "'{{ a }}' come before every execution of '{{ b }}' in all of them, whatever the values of the parameters?",
    "In {{ place }}, whenever task '{{ a }}' and task '{{ b }}' are both executed in one run, is '{{ a }}' always done "
    "for the last time before '{{ b }}' begins for the first time?",
    form="yes-no",
    needs={"effects", "guards", "exclusive", "parallel"},
    varies={"inclusive", "loop"},
)
def order_of_two_conditional(workflow: Workflow) -> Cases:
    """Does the model tell an order that always holds from one that need not?

    The negatives are pairs turned round, and tasks that can run in parallel. Left out are pairs that no known run holds
    together, those whose answer hangs on which of several executions is meant, and pairs that are no 1, 2, 3, 6, 12,
    24, ... links apart. Pairs with a link between them come last.
    """
    graph = task_graph(workflow)
    for a, b, distance in far_apart(workflow, graph, _most_pairs(workflow)):
        if a != b and (answer := always_before(workflow, a, b)):
            rank = int(distance == 1)
            yield case(answer, rank=rank, stratum="ordered", a=a, b=b, labels={"pair": "ordered"})
            if always_before(workflow, b, a) is False:
                yield case(False, rank=rank, stratum="ordered", a=b, b=a, labels={"pair": "reversed"})
    for one, other in _beside(workflow, graph):
        for a, b in ((one, other), (other, one)):
            if always_before(workflow, a, b) is False:
                yield case(False, stratum="parallel", a=a, b=b, labels={"pair": "parallel"})


def _most_pairs(level: Workflow) -> int:
    """Return how many pairs of a large level are looked at: each takes several executions."""
    return max(LEAST, WORK // (EXECUTIONS * max(1, len(level.tasks))))


def _beside(workflow: Workflow, graph: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Pairs that can run in parallel and come directly after one task."""
    near = [spread(after, len(workflow.tasks)) for after in graph.values() if len(after) > 1]
    pairs = {(min(a, b), max(a, b)) for after in near for a in after for b in after if a != b}
    for a, b in spread(sorted(pairs), len(workflow.tasks), _most_pairs(workflow)):
        if can_run_in_parallel(workflow, a, b):
            yield a, b


@pattern(
    "Is there a run of {{ place }} in which the tasks {{ listed }} all run, in this order? " + AMONG_OTHERS,
    "In {{ place }}, can the parameters have values with which {{ listed }} are all executed in one run, one after the "
    "other as given here? " + AMONG_OTHERS,
    form="yes-no",
    needs={"effects", "guards", "exclusive"},
    varies={"inclusive", "loop"},
    least=6,
)
def order_of_many_conditional(workflow: Workflow) -> Cases:
    """Can the model tell for a whole sequence whether some values of the parameters allow it?

    The negatives have two neighbours the wrong way round, or tasks of two branches that exclude each other. In a loop,
    a sequence that the links contradict may need one pass more.
    """
    for base in sequences(layers(forward_task_graph(workflow)), affordable(workflow)):
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
    "In {{ place }}, let the parameters be '{{ situation }}' at the start; tasks change them as their effects say. "
    "List the tasks that run, each as often as it is executed, in an order in which they can run." + OWN_LEVEL,
    "In the situation '{{ situation }}' at the start, which tasks of {{ place }} are executed, and in which order? "
    "Name them one at a time in one possible order, each as often as it is executed." + OWN_LEVEL,
    form="task-order",
    needs={"effects", "guards", "exclusive"},
    varies={"inclusive", "loop"},
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
    "In {{ place }}, let the parameters be '{{ situation }}' at the start; tasks change them as their effects say. "
    "Can {{ listed }} be the complete trace of the run, that is, "
    "exactly the tasks executed, each as often as it is executed, in a possible order?",
    "In the situation '{{ situation }}' at the start, is it possible that precisely the following executions of tasks "
    "of {{ place }} take place, one after the other in this order, and no others: {{ listed }}?",
    form="yes-no",
    needs={"effects", "guards", "exclusive", "parallel"},
    varies={"inclusive", "loop"},
)
def trace(workflow: Workflow) -> Cases:
    """Can the model check an execution step by step?

    The negatives have two ordered neighbours swapped, one task dropped, one put in that does not run in the situation,
    or a pass of a loop more or fewer. Left out are runs in which many tasks have the same place in the graph, so that
    which of them is named first would hang on their names.
    """
    for situation, found in runs(workflow, 3):
        places = _places(workflow)
        told = _told(workflow, situation)
        for tasks, kind in _changed(list(_extensions(found, places)), task_graph(workflow)).items():
            labels: dict[str, str | int] = {"change": kind, "runs": len(found.tasks)}
            yield case(allows(found, tasks), stratum=kind, situation=told, listed=listed(tasks), labels=labels)


def _changed(bases: Sequence[tuple[str, ...]], graph: Mapping[str, Sequence[str]]) -> dict[tuple[str, ...], str]:
    """The traces and their changes, each once, with their kind."""
    kinds = dict.fromkeys(bases, "kept")
    for base in bases:
        for first, last in _passes(base):
            kinds.setdefault((*base[:last], *base[first:]), "repeated")
            kinds.setdefault((*base[:first], *base[last:]), "repeated")
        for i in _some(len(base) - 1):
            kinds.setdefault((*base[:i], base[i + 1], base[i], *base[i + 2 :]), "swapped")
        for i in _some(len(base)):
            kinds.setdefault((*base[:i], *base[i + 1 :]), "dropped")
        ran = set(base)
        for task in spread([one for one in graph if one not in ran], len(graph), MOST_CHANGES):
            after = [i for i, one in enumerate(base) if task in graph[one]]
            if after:
                kinds.setdefault((*base[: after[-1] + 1], task, *base[after[-1] + 1 :]), "put in")
    return kinds


def _passes(base: Sequence[str]) -> list[tuple[int, int]]:
    """Return the stretches, each as its ends, from one execution of a task to its next: a pass of a loop."""
    places: dict[str, list[int]] = {}
    for at, task in enumerate(base):
        places.setdefault(task, []).append(at)
    found = [pair for row in places.values() for pair in pairwise(row)]
    return [found[i] for i in _some(len(found))]


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
    needs={"effects", "guards", "exclusive"},
    varies={"inclusive", "loop"},
)
def every_situation(workflow: Workflow) -> Cases:
    """Does the model see what conditions together cannot avoid?

    Hard positives lie behind conditional links that cover everything, hard negatives have no conditional link directly
    before them. Most tasks that are always executed join or split the flow, most others have one link in and one out;
    so of either kind those that are like the other come first.
    """
    conditional = [link.target for link in workflow.links if link.guard is not None]
    out: dict[str, list[str]] = {}
    for link in workflow.links:
        out.setdefault(link.source, []).append(link.target)
    behind = {node for first in set(conditional) for node in (first, *reachable(out, first))}
    for task in spread(workflow.task_names, len(workflow.tasks)):
        answer = executed_in_every_situation(workflow, task)
        if answer is not None:
            easy = task not in behind if answer else task in conditional
            place = _place(workflow, task)
            usual = (place != "in a row") == answer
            yield case(answer, rank=easy + 2 * usual, stratum=place, task=task)


def _place(workflow: Workflow, task: str) -> str:
    """Return how a task is linked: beside a gateway, by more than two links, or by one in and one out."""
    near = [link for link in workflow.links if task in (link.source, link.target)]
    gateways = {one.name for one in workflow.gateways}
    if any(not gateways.isdisjoint((link.source, link.target)) for link in near):
        return "beside a gateway"
    return "in a row" if len(near) == LINKS_IN_ROW else "where ways meet or part"


def runs(workflow: Workflow, most: int) -> Iterator[tuple[Mapping[str, Constant], Run]]:
    """Situations that tell every parameter on which the way hangs, with their runs; about `most` at most.

    First the one in which every parameter has the first of its values (`situations.representatives`), then the one with
    their second values, and so on; then these with one parameter changed, as far as all such changes find room.
    """
    values = {name: _plain(found) for name, found in _repeating(workflow).items()}
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


def _repeating(workflow: Workflow) -> dict[str, tuple[Constant, ...]]:
    """Return the values that stand for all of every variable; first one with which its loop is repeated, if any."""
    values = representatives(workflow, wide=False) or {}
    cells = representatives(workflow, wide=False, steps=0) or {}
    # From the last of them on: a loop that begins there is repeated most often.
    steps = {name: [one for one in reversed(found) if one not in cells[name]] for name, found in values.items()}
    return {
        name: tuple(one for pair in zip_longest(steps[name], cells[name]) for one in pair if one is not None)
        for name in values
    }


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
