"""Patterns about the order of tasks where nothing is conditional (docs/reference/patterns.md).

They ask about levels without guards in which every task runs exactly once, so that there is a single run. The choice of
sequences depends on the graph alone, not on names or declarations: tasks are put in layers, by the number of tasks on
the longest path before them, and a sequence has one task of every layer, or of every second one.
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
from ..scope import limit_candidates
from ..task_profiles import pair_profile

ASKED_DISTANCES: Final = frozenset({1, 2, *(3 << n for n in range(32))})  # 1 2 3 6 12 24 ... links
SHAPES: Final = ((4, 1), (3, 2), (3, 1), (5, 1), (4, 2))  # (number of tasks, layers from one task to the next)
MOST: Final = 16  # sequences of one shape
MAX_EXECUTED_TASKS: Final = 200  # tasks times sequences of one shape
WIDEST: Final = 10_000  # downsets of an order that a question asks for
WIDEST_WORK: Final = 2_000_000  # executions examined to count these downsets
AMONG_OTHERS: Final = (
    "Other tasks may run before, between and after them; of a task that runs more than once, any one of its executions "
    "counts."
)


@pattern(
    "In {{ place }}, does task '{{ a }}' run before task '{{ b }}'?",
    "When {{ place }} is executed, is task '{{ a }}' done before task '{{ b }}' begins, whatever runs in parallel?",
    form="yes-no",
    avoids={"guards"},
    matched=0.9,
    exceptional=True,
)
def order_of_two(workflow: Workflow) -> Cases:
    """Check that the model knows which of two tasks runs first.

    The negatives are such pairs reversed; for both answers, the two tasks have links of the same kinds. Left out are
    pairs in no order and, to limit the work in large workflows, pairs that are not 1, 2, 3, 6, 12, 24, ... links apart.
    Pairs with a link between them come last.
    """
    if unconditional_run(workflow) is None:
        return
    for a, b, distance in distant_pairs(workflow, task_graph(workflow)):
        rank = int(distance == 1)
        yield case(True, rank=rank, profile=pair_profile(workflow, a, b), a=a, b=b, labels={"distance": distance})
        yield case(False, rank=rank, profile=pair_profile(workflow, b, a), a=b, b=a, labels={"distance": distance})


@pattern(
    "In {{ place }}, can the tasks {{ listed }} run in this order? " + AMONG_OTHERS,
    "Is there an execution of {{ place }} in which {{ listed }} run one after the other in the order given here? "
    + AMONG_OTHERS,
    form="yes-no",
    needs={"effects", "parallel"},
    avoids={"guards"},
    varies={"loop"},
    least=6,
    exceptional=True,
)
def order_of_many(workflow: Workflow) -> Cases:
    """Check that the model decides for a whole sequence whether the flow allows it.

    Hard positives have two tasks in another order than that of their layers, which no path forbids. The negatives have
    exactly one ordered pair reversed, a pair of neighbours. Only loops are conditional; where a loop can be repeated,
    two of its tasks can run in reverse order too.
    """
    only_run = unconditional_run(workflow)
    if only_run is None and not only_loops_decide(workflow):
        return
    place = {task: i for i, task in enumerate(only_run.tasks)} if only_run is not None else {}
    most = MOST if only_run is not None else max_sequences(workflow)
    for base in sequences(layers(forward_task_graph(workflow)), most):
        for i in range(-1, len(base) - 1):
            tasks = base if i < 0 else (*base[:i], base[i + 1], base[i], *base[i + 2 :])
            if only_run is None:
                answer = some_run_in_order(workflow, tasks)
            else:
                answer = i < 0 or not only_run.before[place[base[i + 1]]] >> place[base[i]] & 1
            if answer is not None:
                yield case(answer, rank=int(i < 0), listed=quote_tasks(tasks), labels={"sequence": len(tasks)})


@pattern(
    "List all tasks of {{ place }} in an order in which they can run." + OWN_LEVEL,
    "In which order can the tasks of {{ place }} be executed one at a time? Name every task once, in one such order."
    + OWN_LEVEL,
    form="task-order",
    needs={"parallel"},
    avoids={"guards"},
    exceptional=True,
)
def determine_order(workflow: Workflow) -> Cases:
    """Check that the model derives an order that the graph allows.

    Left out where so many orders are possible that measuring an answer would take too long (`scoring.partial_order`).
    """
    only_run = unconditional_run(workflow)
    if only_run is not None and (reference := order_reference(only_run)) is not None:
        yield case(reference)


def unconditional_run(workflow: Workflow) -> Run | None:
    """Return the only run of a level without guards that executes every task once; None for any other level."""
    if any(link.guard is not None for link in workflow.links):
        return None
    only_run = run(workflow, {})
    return only_run if only_run is not None and sorted(only_run.tasks) == sorted(workflow.task_names) else None


def max_sequences(workflow: Workflow) -> int:
    """Return the maximum number of sequences of one shape if each takes an execution: fewer in large levels."""
    return max(2, min(MOST, MAX_EXECUTED_TASKS // max(1, len(workflow.tasks))))


def order_reference(run_of_tasks: Run) -> Json:
    """Return the reference of a question about the order of a run's tasks, with the tasks sorted by name.

    Returns:
        None where measuring an answer would take too long.
    """
    sorted_indexes = sorted(range(len(run_of_tasks.tasks)), key=lambda i: (run_of_tasks.tasks[i], i))
    rank = {place: i for i, place in enumerate(sorted_indexes)}
    before = sorted([rank[i], rank[j]] for i, j in run_of_tasks.pairs)
    reference: Json = {"tasks": [run_of_tasks.tasks[i] for i in sorted_indexes], "before": [[*pair] for pair in before]}
    try:
        count_downsets(partial_order(reference), min(WIDEST, WIDEST_WORK // len(sorted_indexes)))
    except OrderTooWideError:
        record_bound("steps")
        return None
    return reference


def distant_pairs(
    level: Workflow, graph: Mapping[str, Sequence[str]], most: int | None = None
) -> Sequence[tuple[str, str, int]]:
    """Return the pairs that are ASKED_DISTANCES apart, with the number of links on a shortest path between them.

    Of a large level it returns a sample of at most `most` pairs.
    """
    pairs = [
        (a, b, distance)
        for a in limit_candidates(list(graph), len(level.tasks))
        for b, distance in distances(graph, graph[a]).items()
        if distance in ASKED_DISTANCES
    ]
    return limit_candidates(pairs, len(level.tasks), most)


def layers(graph: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """Return the tasks by the number of tasks on the longest path before them; the graph has no cycle."""
    waiting = dict.fromkeys(graph, 0)
    for other in (other for after in graph.values() for other in after):
        waiting[other] += 1
    layer = [task for task, count in waiting.items() if not count]
    result = []
    while layer:
        result.append(layer)
        reached = [other for task in layer for other in graph[task]]
        for other in reached:
            waiting[other] -= 1
        layer = [other for other in dict.fromkeys(reached) if not waiting[other]]
    return result


def quote_tasks(tasks: Iterable[str]) -> str:
    """Return the tasks in their order, each in quotes."""
    return ", ".join(f"'{task}'" for task in tasks)


def sequences(layered: Sequence[Sequence[str]], most: int = MOST) -> Iterator[tuple[str, ...]]:
    """Yield sequences of tasks of layers at equal steps, one task of each, about `most` for each of SHAPES.

    Where there would be more, first layers are left out at equal steps, and layers with too many sequences.
    """
    for length, step in SHAPES:
        windows = [layered[i : i + length * step : step] for i in range(len(layered) - (length - 1) * step)]
        windows = [window for window in windows if prod(map(len, window)) <= MOST]
        total = sum(prod(map(len, window)) for window in windows)
        for window in windows[:: max(1, -(-total // most))]:
            yield from product(*window)
