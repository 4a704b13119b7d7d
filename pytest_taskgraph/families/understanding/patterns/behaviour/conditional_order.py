"""Patterns about the order of tasks under conditions (docs/reference/patterns.md).

The cases depend on the graph and on the values of parameters, not on names or declarations. Situations are stated in
full: a value for every parameter that can change the path through the level.
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
from ..scope import MAX_WORK, MIN_CANDIDATES, limit_candidates
from ..task_profiles import node_profiles, pair_profile
from .task_order import AMONG_OTHERS, distant_pairs, layers, max_sequences, order_reference, quote_tasks, sequences

ALWAYS_BEFORE: Final = (
    "In {{ place }}, whenever task '{{ a }}' and task '{{ b }}' are both executed in one run, is '{{ a }}' always done "
    "for the last time before '{{ b }}' begins for the first time?"
)
RUN_IN_ORDER: Final = (
    "Is there a run of {{ place }} in which the tasks {{ listed }} all run, in this order? " + AMONG_OTHERS
)
MOST_SITUATIONS: Final = 24
MOST_TWINS: Final = 6  # orders of tasks that the graph does not distinguish
EXECUTIONS: Final = 4  # usual number of executions to find the answer about a pair
MOST_CHANGES: Final = 12  # of one kind and one trace


@pattern(
    "Take the runs of {{ place }} in which both task '{{ a }}' and task '{{ b }}' run: does every execution of "
    "'{{ a }}' come before every execution of '{{ b }}' in all of them, whatever the values of the parameters?",
    ALWAYS_BEFORE,
    form="yes-no",
    needs={"effects", "guards", "exclusive", "parallel"},
    varies={"inclusive", "loop"},
    matched=0.9,
    without_parameters=(
        "Take the runs of {{ place }} in which both task '{{ a }}' and task '{{ b }}' run: does every execution of "
        "'{{ a }}' come before every execution of '{{ b }}' in all of them?",
        ALWAYS_BEFORE,
    ),
    exceptional=True,
)
def order_of_two_conditional(workflow: Workflow) -> Cases:
    """Check that the model distinguishes an order that always holds from one that need not hold.

    The negatives are reversed pairs, and tasks that can run in parallel; for both answers, the two tasks have links of
    the same kinds. Left out are pairs that occur in no known run
    together, pairs whose answer depends on which of several executions is meant, and pairs that are not 1, 2, 3, 6, 12,
    24, ... links apart. Pairs with a link between them come last.
    """
    graph = task_graph(workflow)
    for a, b, distance in distant_pairs(workflow, graph, _most_pairs(workflow)):
        if a != b and (answer := always_before(workflow, a, b)):
            rank = int(distance == 1)
            yield case(answer, rank=rank, profile=pair_profile(workflow, a, b), a=a, b=b, labels={"pair": "ordered"})
            if always_before(workflow, b, a) is False:
                yield case(
                    False, rank=rank, profile=pair_profile(workflow, b, a), a=b, b=a, labels={"pair": "reversed"}
                )
    for first, second in _parallel_neighbors(workflow, graph):
        for a, b in ((first, second), (second, first)):
            if always_before(workflow, a, b) is False:
                yield case(False, profile=pair_profile(workflow, a, b), a=a, b=b, labels={"pair": "parallel"})


def _most_pairs(level: Workflow) -> int:
    """Return the maximum number of pairs of a large level: each takes several executions."""
    return max(MIN_CANDIDATES, MAX_WORK // (EXECUTIONS * max(1, len(level.tasks))))


def _parallel_neighbors(workflow: Workflow, graph: Mapping[str, Sequence[str]]) -> Iterator[tuple[str, str]]:
    """Yield the pairs that can run in parallel and come directly after the same task."""
    near = [limit_candidates(after, len(workflow.tasks)) for after in graph.values() if len(after) > 1]
    pairs = {(min(a, b), max(a, b)) for after in near for a in after for b in after if a != b}
    for a, b in limit_candidates(sorted(pairs), len(workflow.tasks), _most_pairs(workflow)):
        if can_run_in_parallel(workflow, a, b):
            yield a, b


@pattern(
    RUN_IN_ORDER,
    "In {{ place }}, can the parameters have values with which {{ listed }} are all executed in one run, one after the "
    "other as given here? " + AMONG_OTHERS,
    form="yes-no",
    needs={"effects", "guards", "exclusive"},
    varies={"inclusive", "loop"},
    least=6,
    without_parameters=(
        RUN_IN_ORDER,
        "In {{ place }}, can {{ listed }} all be executed in one run, one after the other as given here? "
        + AMONG_OTHERS,
    ),
    exceptional=True,
)
def order_of_many_conditional(workflow: Workflow) -> Cases:
    """Check that the model decides for a whole sequence whether some values of the parameters allow it.

    The negatives have two neighbours swapped, or tasks of two branches that exclude each other. In a loop, a sequence
    that contradicts the links can need one more pass.
    """
    for base in sequences(layers(forward_task_graph(workflow)), max_sequences(workflow)):
        possible = some_run_in_order(workflow, base)
        if possible is not None:
            kind = "kept" if possible else "excluded"
            yield case(
                possible,
                rank=int(possible),
                stratum=kind,
                listed=quote_tasks(base),
                labels={"sequence": len(base)},
            )
        if possible:
            for i in range(len(base) - 1):
                moved = (*base[:i], base[i + 1], base[i], *base[i + 2 :])
                answer = some_run_in_order(workflow, moved)
                if answer is not None:
                    yield case(answer, stratum="moved", listed=quote_tasks(moved), labels={"sequence": len(base)})


@pattern(
    "In {{ place }}, let the parameters be '{{ situation }}' at the start; tasks change them as their effects say. "
    "List the tasks that run, each as often as it is executed, in an order in which they can run." + OWN_LEVEL,
    "In the situation '{{ situation }}' at the start, which tasks of {{ place }} are executed, and in which order? "
    "Name them one at a time in one possible order, each as often as it is executed." + OWN_LEVEL,
    form="task-order",
    needs={"effects", "guards", "exclusive"},
    varies={"inclusive", "loop"},
    exceptional=True,
)
def determine_order_conditional(workflow: Workflow) -> Cases:
    """Check that the model executes a workflow in a given situation.

    Left out are situations in which the run never ends or is ambiguous (`execution.outcome`), and situations that allow
    so many orders that measuring an answer would take too long.
    """
    for situation, execution in runs(workflow, MOST_SITUATIONS):
        if (reference := order_reference(execution)) is not None:
            yield case(reference, situation=_situation_text(workflow, situation), labels={"runs": len(execution.tasks)})


@pattern(
    "In {{ place }}, let the parameters be '{{ situation }}' at the start; tasks change them as their effects say. "
    "Can {{ listed }} be the complete trace of the run, that is, "
    "exactly the tasks executed, each as often as it is executed, in a possible order?",
    "In the situation '{{ situation }}' at the start, is it possible that precisely the following executions of tasks "
    "of {{ place }} take place, one after the other in this order, and no others: {{ listed }}?",
    form="yes-no",
    needs={"effects", "guards", "exclusive", "parallel"},
    varies={"inclusive", "loop"},
    exceptional=True,
)
def trace(workflow: Workflow) -> Cases:
    """Check that the model verifies an execution step by step.

    The negatives have two ordered neighbours swapped, a task dropped, a task inserted that does not run in the
    situation, or a pass of a loop more or fewer. Left out are runs in which many tasks have the same position in the
    graph, so that only their names would decide which comes first.
    """
    for situation, execution in runs(workflow, 3):
        colors = node_colors(workflow)
        text = _situation_text(workflow, situation)
        for tasks, kind in _changed_traces(list(extensions(execution, colors)), task_graph(workflow)).items():
            labels: dict[str, str | int] = {"change": kind, "runs": len(execution.tasks)}
            yield case(
                allows(execution, tasks),
                stratum=kind,
                situation=text,
                listed=quote_tasks(tasks),
                labels=labels,
            )


def _changed_traces(bases: Sequence[tuple[str, ...]], graph: Mapping[str, Sequence[str]]) -> dict[tuple[str, ...], str]:
    """Return the traces and their changes, each once, with the kind of change."""
    kinds = dict.fromkeys(bases, "kept")
    for base in bases:
        for first, last in _loop_passes(base):
            kinds.setdefault((*base[:last], *base[first:]), "repeated")
            kinds.setdefault((*base[:first], *base[last:]), "repeated")
        for i in _sample_indexes(len(base) - 1):
            kinds.setdefault((*base[:i], base[i + 1], base[i], *base[i + 2 :]), "swapped")
        for i in _sample_indexes(len(base)):
            kinds.setdefault((*base[:i], *base[i + 1 :]), "dropped")
        ran = set(base)
        for task in limit_candidates([other for other in graph if other not in ran], len(graph), MOST_CHANGES):
            after = [i for i, other in enumerate(base) if task in graph[other]]
            if after:
                kinds.setdefault((*base[: after[-1] + 1], task, *base[after[-1] + 1 :]), "put in")
    return kinds


def _loop_passes(base: Sequence[str]) -> list[tuple[int, int]]:
    """Return the sections from one execution of a task to its next, each as start and end: a pass of a loop."""
    positions: dict[str, list[int]] = {}
    for index, task in enumerate(base):
        positions.setdefault(task, []).append(index)
    passes = [pair for row in positions.values() for pair in pairwise(row)]
    return [passes[i] for i in _sample_indexes(len(passes))]


def _sample_indexes(count: int) -> range:
    """Return at most MOST_CHANGES indexes at equal steps."""
    return range(0, count, max(1, -(-count // MOST_CHANGES)))


def extensions(execution: Run, colors: Mapping[str, int], chosen: int = -1) -> Iterator[tuple[str, ...]]:
    """Yield the orders of a run in which every task comes as early as possible, with equivalent tasks in any order.

    Args:
        execution: The run.
        colors: The number of every node (`node_colors`).
        chosen: The executions to put in order, as bits, with all that come before them; all by default.
    """
    depth: dict[int, int] = {}
    groups: dict[tuple[int, int], list[str]] = {}
    for i, (task, mask) in enumerate(zip(execution.tasks, execution.before, strict=True)):
        if chosen >> i & 1:
            depth[i] = 1 + max([deep for earlier, deep in depth.items() if mask >> earlier & 1], default=0)
            groups.setdefault((depth[i], colors[task]), []).append(task)
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
    matched=0.9,
    without_parameters=(
        "Is task '{{ task }}' of {{ place }} executed in every run?",
        "In {{ place }}, does each possible run execute task '{{ task }}'?",
    ),
    exceptional=True,
)
def every_situation(workflow: Workflow) -> Cases:
    """Check that the model sees which tasks run whatever the conditions are.

    Hard positives lie behind conditional links that cover everything, hard negatives have no conditional link directly
    before them. Most tasks that are always executed join or split the flow, most others have one link in and one out;
    so tasks with either answer are asked about that have links of the same kinds.
    """
    conditional = [link.target for link in workflow.links if link.guard is not None]
    out: dict[str, list[str]] = {}
    for link in workflow.links:
        out.setdefault(link.source, []).append(link.target)
    behind = {node for first in set(conditional) for node in (first, *reachable(out, first))}
    for task in limit_candidates(workflow.task_names, len(workflow.tasks)):
        answer = executed_in_every_situation(workflow, task)
        if answer is not None:
            easy = task not in behind if answer else task in conditional
            yield case(answer, rank=int(easy), profile=node_profiles(workflow)[task], task=task)


def runs(workflow: Workflow, most: int) -> Iterator[tuple[Mapping[str, Constant], Run]]:
    """Yield about `most` situations, with a value for every parameter that can change the path, and their runs.

    First comes the situation in which every parameter has the first of its values (`situations.representatives`), then
    that with the second values, and so on; then these with one parameter changed, if all such changes fit.
    """
    options = {name: _readable_values(values) for name, values in _representative_values(workflow).items()}
    if not options:
        return
    rows = range(max(map(len, options.values())))
    diagonal = [{name: values[i % len(values)] for name, values in options.items()} for i in rows]
    changed = [{**row, name: value} for row in diagonal for name, values in options.items() for value in values]
    situations: list[dict[str, Constant]] = []
    for situation in (*diagonal[:most], *(changed if len(changed) <= most else ())):
        if situation not in situations:
            situations.append(situation)
    for situation in situations:
        execution = run(workflow, situation)
        if execution is not None:
            yield situation, execution


def _representative_values(workflow: Workflow) -> dict[str, tuple[Constant, ...]]:
    """Return representative values of every variable; first those that repeat its loop, if any."""
    values = representatives(workflow, wide=False) or {}
    cells = representatives(workflow, wide=False, steps=0) or {}
    # Reversed, because a loop that begins at the last value is repeated most often.
    steps = {name: [value for value in reversed(row) if value not in cells[name]] for name, row in values.items()}
    return {
        name: tuple(value for pair in zip_longest(steps[name], cells[name]) for value in pair if value is not None)
        for name in values
    }


def _readable_values(values: Sequence[Constant]) -> tuple[Constant, ...]:
    """Return the values, with a readable word for a value that no guard names (it contains a quote)."""
    readable = (value if isinstance(value, Fraction) or "'" not in value else "other" for value in values)
    return tuple(dict.fromkeys(readable))


def _situation_text(workflow: Workflow, situation: Mapping[str, Constant]) -> str:
    """Return the situation as text, with its parameters ordered by the guards that read them."""
    colors = node_colors(workflow)
    comparisons_read: dict[str, list[tuple[int, int, str, str]]] = {name: [] for name in situation}
    for link in workflow.links:
        guard = None if link.guard is None else parse_guard(link.guard)
        ends = (colors[link.source], colors[link.target])
        for comparison in comparisons(guard) if guard is not None else ():
            if comparison.parameter in comparisons_read:
                comparisons_read[comparison.parameter].append((*ends, comparison.operator, str(comparison.value)))
    names = sorted(situation, key=lambda name: (sorted(comparisons_read[name]), name))
    return write_situation({name: situation[name] for name in names})


@lru_cache(maxsize=64)
def node_colors(workflow: Workflow) -> dict[str, int]:
    """Return a number for every node, equal where links and kinds do not distinguish two nodes (color refinement)."""
    kinds = {START: "start", END: "end"} | {node.name: f"{node.kind} {node.role}" for node in workflow.gateways}
    kinds |= dict.fromkeys(workflow.task_names, "task") | {node.name: "data" for node in workflow.data}
    neighbors: dict[str, list[tuple[str, str]]] = {name: [] for name in kinds}
    for link in workflow.links:
        how = "plain" if link.guard is None else "guarded"
        neighbors[link.source].append((f"{how} to", link.target))
        neighbors[link.target].append((f"{how} from", link.source))
    for data_link in workflow.data_links:
        neighbors[data_link.source].append(("to", data_link.target))
        neighbors[data_link.target].append(("from", data_link.source))
    number = {kind: i for i, kind in enumerate(sorted(set(kinds.values())))}
    colors = {name: number[kind] for name, kind in kinds.items()}
    while True:
        seen = {
            name: (colors[name], tuple(sorted((how, colors[other]) for how, other in neighbors[name])))
            for name in kinds
        }
        order = {key: i for i, key in enumerate(sorted(set(seen.values())))}
        if len(order) == len(set(colors.values())):
            return colors
        colors = {name: order[key] for name, key in seen.items()}
