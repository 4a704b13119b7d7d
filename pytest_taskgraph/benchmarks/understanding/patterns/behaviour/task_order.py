"""Patterns about the order of tasks where nothing is conditional (specs/patterns.md, B1 to B3).

They ask about levels without guards in which every task runs exactly once, so that there is one run. Which sequences
are asked about depends on the graph alone, not on names or declarations: tasks are put in layers, by the number of
tasks on the longest way before them, and sequences take one task out of every layer, or of every second one.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import product
from math import prod
from typing import Final

from .....errors import OrderTooWideError
from .....scoring.partial_order import count_downsets, partial_order
from .....trial import Json
from .....workflow.bounds import record_bound
from .....workflow.graph import distances, task_graph
from .....workflow.model import Workflow
from .....workflow.semantics.all_runs import some_run_in_order
from .....workflow.semantics.execution import Run, run
from .....workflow.semantics.loops import forward_task_graph, only_loops_decide
from ..pattern import OWN_LEVEL, Cases, case, pattern
from ..scope import spread

ASKED_DISTANCES: Final = frozenset({1, 2, *(3 << n for n in range(32))})  # 1 2 3 6 12 24 ... links
SHAPES: Final = ((4, 1), (3, 2), (3, 1), (5, 1), (4, 2))  # how many tasks, and how many layers from one to the next
MOST: Final = 16  # sequences of one shape
AFFORDABLE: Final = 200  # tasks in all levels that sequences of one shape are looked up in
WIDEST: Final = 10_000  # downsets of an order that is asked for
WIDEST_WORK: Final = 2_000_000  # executions that counting these may look at
AMONG_OTHERS: Final = (
    "Other tasks may run before, between and after them; of a task that runs more than once, any one of its executions "
    "counts."
)


@pattern(
    "In {{ place }}, does task '{{ a }}' run before task '{{ b }}'?",
    "When {{ place }} is executed, is task '{{ a }}' done before task '{{ b }}' begins, whatever runs in parallel?",
    form="yes-no",
    avoids={"guards"},
)
def order_of_two(workflow: Workflow) -> Cases:
    """Does the model know which of two tasks runs first?

    The negatives are the same pairs turned round. Pairs in no order are left out, and pairs that are no 1, 2, 3, 6,
    12, 24, ... links apart, so that large workflows stay cheap. Pairs with a link between them come last.
    """
    if unconditional(workflow) is None:
        return
    for a, b, distance in far_apart(workflow, task_graph(workflow)):
        rank = int(distance == 1)
        yield case(True, rank=rank, a=a, b=b, labels={"distance": distance})
        yield case(False, rank=rank, a=b, b=a, labels={"distance": distance})


@pattern(
    "In {{ place }}, can the tasks {{ listed }} run in this order? " + AMONG_OTHERS,
    "Is there an execution of {{ place }} in which {{ listed }} run one after the other in the order given here? "
    + AMONG_OTHERS,
    form="yes-no",
    needs={"effects", "parallel"},
    avoids={"guards"},
    varies={"loop"},
    least=6,
)
def order_of_many(workflow: Workflow) -> Cases:
    """Can the model tell for a whole sequence whether the flow allows it?

    Hard positives have two tasks in another order than that of their layers, which no path forbids. The negatives have
    exactly one ordered pair the wrong way round, that of two neighbours. Only loops are conditional; where a loop can
    be repeated, two of its tasks can run the wrong way round too.
    """
    found = unconditional(workflow)
    if found is None and not only_loops_decide(workflow):
        return
    place = {task: i for i, task in enumerate(found.tasks)} if found is not None else {}
    for base in sequences(layers(forward_task_graph(workflow)), MOST if found is not None else affordable(workflow)):
        for i in range(-1, len(base) - 1):
            tasks = base if i < 0 else (*base[:i], base[i + 1], base[i], *base[i + 2 :])
            if found is None:
                answer = some_run_in_order(workflow, tasks)
            else:
                answer = i < 0 or not found.before[place[base[i + 1]]] >> place[base[i]] & 1
            if answer is not None:
                yield case(answer, rank=int(i < 0), listed=listed(tasks), labels={"sequence": len(tasks)})


@pattern(
    "List all tasks of {{ place }} in an order in which they can run." + OWN_LEVEL,
    "In which order can the tasks of {{ place }} be executed one at a time? Name every task once, in one such order."
    + OWN_LEVEL,
    form="task-order",
    needs={"parallel"},
    avoids={"guards"},
)
def determine_order(workflow: Workflow) -> Cases:
    """Can the model turn the graph into an order that it allows?

    Left out where so many orders are possible that an answer could not be measured (`scoring.partial_order`).
    """
    found = unconditional(workflow)
    if found is not None and (reference := order_of(found)) is not None:
        yield case(reference)


def unconditional(workflow: Workflow) -> Run | None:
    """The one run of a level without guards that executes every task once; None for any other level."""
    if any(link.guard is not None for link in workflow.links):
        return None
    found = run(workflow, {})
    return found if found is not None and sorted(found.tasks) == sorted(workflow.task_names) else None


def affordable(workflow: Workflow) -> int:
    """Return how many sequences of one shape are looked at where that takes executions: fewer in large levels."""
    return max(2, min(MOST, AFFORDABLE // max(1, len(workflow.tasks))))


def order_of(found: Run) -> Json:
    """The reference of a question about the order of a run's tasks, which are sorted by name.

    None where an answer could take too long to measure.
    """
    places = sorted(range(len(found.tasks)), key=lambda i: (found.tasks[i], i))
    new = {place: i for i, place in enumerate(places)}
    before = sorted([new[i], new[j]] for i, j in found.pairs)
    reference: Json = {"tasks": [found.tasks[i] for i in places], "before": [[*pair] for pair in before]}
    try:
        count_downsets(partial_order(reference), min(WIDEST, WIDEST_WORK // len(places)))
    except OrderTooWideError:
        record_bound("steps")
        return None
    return reference


def far_apart(
    level: Workflow, graph: Mapping[str, Sequence[str]], most: int | None = None
) -> Sequence[tuple[str, str, int]]:
    """Return the pairs that are ASKED_DISTANCES apart, with the number of links on a shortest way between them.

    Of a large level it is a sample, of at most so many.
    """
    pairs = [
        (a, b, distance)
        for a in spread(list(graph), len(level.tasks))
        for b, distance in distances(graph, graph[a]).items()
        if distance in ASKED_DISTANCES
    ]
    return spread(pairs, len(level.tasks), most)


def layers(graph: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The tasks by the number of tasks on the longest way before them; the graph has no cycle."""
    waiting = dict.fromkeys(graph, 0)
    for other in (other for after in graph.values() for other in after):
        waiting[other] += 1
    layer = [task for task, count in waiting.items() if not count]
    found = []
    while layer:
        found.append(layer)
        reached = [other for task in layer for other in graph[task]]
        for other in reached:
            waiting[other] -= 1
        layer = [other for other in dict.fromkeys(reached) if not waiting[other]]
    return found


def listed(tasks: Iterable[str]) -> str:
    """The tasks in their order, each in quotes."""
    return ", ".join(f"'{task}'" for task in tasks)


def sequences(layered: Sequence[Sequence[str]], most: int = MOST) -> Iterator[tuple[str, ...]]:
    """Tasks of layers at equal steps, one of each, at most about `most` for each of SHAPES.

    Where there would be more, layers to begin with are left out at equal steps, and those with too many sequences.
    """
    for length, step in SHAPES:
        windows = [layered[i : i + length * step : step] for i in range(len(layered) - (length - 1) * step)]
        windows = [window for window in windows if prod(map(len, window)) <= MOST]
        total = sum(prod(map(len, window)) for window in windows)
        for window in windows[:: max(1, -(-total // most))]:
            yield from product(*window)
