"""Patterns about the next step of a run that has begun (docs/reference/patterns.md).

A task can run next after others if and only if some run of the level begins with executions of these, in their order,
and then of the task. That it can is shown by a run (`conditional_order.runs`), that it cannot by `why_not_next`; where
neither shows the answer, nothing is asked. The beginnings are all that comes before an execution of a task, and this
without one of the executions that it waits for.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import product
from typing import Final

from .....workflow.graph import cyclic_components, digraph, starts, task_graph
from .....workflow.model import Workflow
from .....workflow.semantics.all_runs import why_not_next
from .....workflow.semantics.execution import Run, run, tasks_after
from ..pattern import Cases, case, pattern
from ..scope import limit_candidates
from ..task_profiles import joined_pairs, node_profiles
from .conditional_order import MOST_CHANGES, MOST_SITUATIONS, extensions, node_colors, runs
from .task_order import quote_tasks

MOST_BEGINNINGS: Final = 150
"""Largest number of beginnings of the runs of a large level that are asked about."""

LONGEST_BEGINNING: Final = 40
"""Largest number of tasks that a question states as done."""
NEXT: Final = "next"
SHARES: Final = {"later": 4, "excluded": 4, "done": 1, "excluded by condition": 2, "done by condition": 1}
"""How often each kind of wrong task is drawn: less often one that has run, or that alone has a condition."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """A task that may be asked about after some others.

    Args:
        task: The task.
        kind: NEXT if it can run next, else why it cannot.
        easy: True if it can be excluded without the workflow, or no task directly before it has run.
        follows: True if a link leads to it from the last task that has run.
        conditional: True if a conditional link leads to it.
        profile: What it shows beside the answer.
    """

    task: str
    kind: str
    easy: bool
    follows: bool
    conditional: bool
    profile: str


@pattern(
    "Of the tasks directly in {{ place }}, these have run so far, in this order: {{ done }}. Can task '{{ task }}' be "
    "the next one that runs?",
    "Is there a run of {{ place }} in which, of the tasks directly in it, {{ done }} are executed first, in this "
    "order, and then '{{ task }}' right after them?",
    form="yes-no",
    needs={"effects", "guards", "exclusive", "parallel"},
    varies={"inclusive", "loop"},
    matched=0.9,
    exceptional=True,
)
def next_step_possible(workflow: Workflow, *, hardest: bool = False) -> Cases:
    """Check that the model sees which tasks can follow a beginning of a run, in any situation.

    The negatives still wait for another task, lie on a branch that the beginning excludes, or have run already. Those
    that have run and are in no loop come last, and so do those before which no task has run directly.
    """
    for done, candidates in _beginnings(workflow, hardest):
        for each in candidates:
            yield case(
                each.kind == NEXT,
                rank=int(each.easy),
                profile=each.profile,
                done=quote_tasks(done),
                task=each.task,
                labels={"sequence": len(done), "candidate": each.kind},
            )


@pattern(
    "Of the tasks directly in {{ place }}, these have run so far, in this order: {{ done }}. Which of the two tasks "
    "'{{ first }}' and '{{ second }}' can be the next one that runs?",
    "Some run of {{ place }} begins with {{ done }}, in this order, of the tasks directly in it. Which task can be "
    "executed right after them, '{{ first }}' or '{{ second }}'?",
    form="task",
    needs={"effects", "guards", "exclusive", "parallel"},
    varies={"inclusive", "loop"},
    options=2,
    exceptional=True,
)
def next_step_choice(workflow: Workflow, *, hardest: bool = False) -> Cases:
    """Check that the model tells a task that can follow a beginning of a run from one that cannot.

    The wrong task is of the kinds of `next_step_possible`; each pair is asked about in both orders. Pairs of which the
    right task alone has a link from the last task that has run come last.
    """
    for done, candidates in _beginnings(workflow, hardest):
        right = [each for each in candidates if each.kind == NEXT]
        wrong = [each for each in candidates if each.kind != NEXT]
        for able, unable in limit_candidates([*product(right, wrong)], len(workflow.tasks), MOST_CHANGES):
            alone = unable.conditional and not able.conditional
            stratum = f"{unable.kind} by condition" if alone else unable.kind
            rank = 2 * unable.easy + (able.follows and not unable.follows)
            for first, second in ((able.task, unable.task), (unable.task, able.task)):
                if rank == 0 or not hardest:
                    yield case(
                        able.task,
                        rank=rank,
                        stratum=stratum,
                        share=SHARES.get(stratum, 1),
                        done=quote_tasks(done),
                        first=first,
                        second=second,
                        labels={"sequence": len(done), "candidate": unable.kind},
                    )


@lru_cache(maxsize=8)  # two patterns ask about the same beginnings, and the reader does so again
def _beginnings(workflow: Workflow, hardest: bool) -> tuple[tuple[tuple[str, ...], list[Candidate]], ...]:
    """Return beginnings of runs, with the tasks that can surely run next and those that surely cannot."""
    found = list[tuple[tuple[str, ...], list[Candidate]]]()
    executions, graph, size = _known_runs(workflow), task_graph(workflow), len(workflow.tasks)
    conditional = {link.target for link in workflow.links if link.guard is not None}
    orders = dict.fromkeys(order for execution in executions for order in _first_parts(workflow, execution))
    repeated = frozenset[str]().union(*cyclic_components(digraph(graph)))
    for done in limit_candidates(list(orders), size, MOST_BEGINNINGS):
        possible = set[str]().union(*(tasks_after(execution, done) for execution in executions))
        near = {*starts(workflow), *(after for task in done for after in graph[task])}
        hard = near.difference(set(done) - repeated)
        asked = hard if hardest else near.union(*(graph[task] for task in near))
        kinds = {
            task: NEXT if task in possible else why_not_next(workflow, done, task)
            for task in limit_candidates(sorted(asked), size, MOST_BEGINNINGS)
        }
        candidates = [
            _candidate(workflow, done, task, kind, task not in hard, task in conditional)
            for task, kind in kinds.items()
            if kind
        ]
        found.append((done, candidates))
    return tuple(found)


def _candidate(
    workflow: Workflow, done: tuple[str, ...], task: str, kind: str, easy: bool, conditional: bool
) -> Candidate:
    profile, follows = node_profiles(workflow)[task], (done[-1], task) in joined_pairs(workflow, "control")
    return Candidate(task, kind, easy, follows, conditional, f"{profile} | {task in done} | {follows}")


def _known_runs(workflow: Workflow) -> list[Run]:
    """Return the different runs of sampled situations; the only run where no parameter decides."""
    sampled = [execution for _, execution in runs(workflow, MOST_SITUATIONS)]
    only = None if sampled else run(workflow, {})
    return list({(each.tasks, each.before): each for each in (*sampled, *([only] if only else []))}.values())


def _first_parts(workflow: Workflow, execution: Run) -> Iterator[tuple[str, ...]]:
    """Yield what runs before each execution of a task, and this without an execution that it directly waits for.

    No task has run twice: whether it can run once more would often be undecided, unless it can.
    """
    colors = node_colors(workflow)
    parts = [*execution.before, *(execution.before[i] & ~(1 << j) for j, i in execution.pairs)]
    for part in (part for part in dict.fromkeys(parts) if 0 < part.bit_count() <= LONGEST_BEGINNING):
        orders = extensions(execution, colors, part)
        yield from (order for order in orders if len({*order}) == len(order))
