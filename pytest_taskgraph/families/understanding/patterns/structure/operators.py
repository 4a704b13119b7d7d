"""Patterns about forks, choices and loops, and about parallel tasks (docs/reference/patterns.md)."""

from __future__ import annotations

from typing import Final

from .....workflow.graph import ancestors_of_each
from .....workflow.model import Workflow
from .....workflow.semantics.concurrency import (
    OPERATORS,
    block_after,
    operators,
    parallel_blocks,
    parallel_pairs,
    parallel_to,
)
from ..pattern import OWN_LEVEL, Case, Cases, case, pattern
from ..scope import limit_candidates
from ..task_profiles import level_profile, pair_profile

MOST_TASKS: Final = 45  # of a large level; all pairs of them are examined
MEANING: Final = {
    "parallel block": "a fork after which several branches are all executed",
    "exclusive choice": "a decision after which exactly one of several branches is executed",
    "inclusive choice": "a decision after which one or more of several branches are executed",
    "loop": "a way back along which tasks can be executed again",
}
EXTENT: Final = {
    "exclusive choice": "on its branches, up to where they meet again or the end is reached",
    "inclusive choice": "on its branches, up to where they meet again or the end is reached",
    "loop": "that it can execute again and again, the one that decides whether to go on included",
}


@pattern(
    "Does {{ place }} contain {{ article }} {{ operator }}, that is, {{ meaning }}?" + OWN_LEVEL,
    "Is there {{ article }} {{ operator }} ({{ meaning }}) in the control flow of {{ place }}?" + OWN_LEVEL,
    form="yes-no",
    varies={"parallel", "exclusive", "inclusive", "loop"},
    flaws={"yes": "nest-block", "no": "nest-block"},
    matched=0.95,
)
def operator_existence(workflow: Workflow) -> Cases:
    """Check that the model sees which operators the control flow is made of.

    In most generated workflows a block lies inside a composite task, so that a keyword somewhere in the text says
    nothing about the level that is asked about. Choices and loops are asked about first where the level has conditions
    of any kind, and twice as often as parallel blocks, which a gateway gives away. Levels with and without an operator
    have about as many tasks, gateways, conditions and forks. An operator is left out where the workflow is ambiguous
    (`concurrency.operators`): a decision that only repeats or leaves a loop may count as an exclusive choice, and
    guards in prose may exclude each other or not.
    """
    conditional = any(link.guard is not None for link in workflow.links)
    for operator, answer in operators(workflow).items():
        if answer is not None:
            article = "an" if operator[0] in "aeiou" else "a"
            parallel = operator == "parallel block"
            yield case(
                answer,
                rank=int(not (answer or parallel or conditional)),
                stratum=operator,
                share=1 if parallel else 2,
                profile=f"{level_profile(workflow)}, {min(len(workflow.tasks) // 3, 3)} times three tasks",
                operator=operator,
                article=article,
                meaning=MEANING[operator],
                labels={"operator": operator},
            )


@pattern(
    "In {{ place }}, can tasks '{{ a }}' and '{{ b }}' run in parallel? That is, does some run execute both of them "
    "with neither having to come before the other?",
    "Is there a run of {{ place }} that executes both '{{ a }}' and '{{ b }}' and in which neither of the two tasks "
    "has to wait for the other?",
    form="yes-no",
    needs={"parallel"},
    varies={"inclusive"},
    matched=0.9,
    exceptional=True,
)
def parallel_pair(workflow: Workflow, *, hardest: bool = False) -> Cases:
    """Check that the model knows which tasks can run at the same time.

    Hard negatives: tasks on two branches of an exclusive choice, and ordered tasks of which each runs in parallel with
    a third one, such as the first and the last of one branch. For both answers, pairs of which both, one or none stand
    next to a gateway are equally likely, and the two tasks have links of the same kinds, so that no line with one of
    them gives a hint.
    """
    tasks = limit_candidates(workflow.task_names, len(workflow.tasks), MOST_TASKS)
    pairs = parallel_pairs(workflow, tasks)
    parallel = {name for pair, answer in pairs.items() if answer for name in pair}
    before = {name: frozenset(names) for name, names in ancestors_of_each(workflow, tasks).items()}
    gateways = {gateway.name for gateway in workflow.gateways}
    ends = [(link.source, link.target) for link in workflow.links]
    beside = {name for pair in ends if gateways.intersection(pair) for name in pair}
    for (a, b), answer in pairs.items():
        ordered = a in before[b] or b in before[a]
        easy = ordered and not answer and not parallel.issuperset((a, b))
        if answer is not None and not (hardest and easy):
            labels = {"pair": "parallel" if answer else "ordered" if ordered else "alternative"}
            stratum = f"{len(beside.intersection((a, b)))} at a gateway"
            profile = pair_profile(workflow, a, b)
            yield case(answer, rank=int(easy), stratum=stratum, profile=profile, a=a, b=b, labels=labels)


@pattern(
    "In {{ place }}, which tasks are in the parallel block that starts right after task '{{ task }}'? Name all tasks "
    "on its branches, up to where they all meet again or the end is reached." + OWN_LEVEL,
    "In {{ place }}, a parallel block starts right after task '{{ task }}'. Which tasks belong to its branches, those "
    "of blocks inside them included, before the branches join again or the end is reached?" + OWN_LEVEL,
    form="task-set",
    needs={"parallel"},
    varies={"inclusive"},
)
def parallel_block(workflow: Workflow) -> Cases:
    """Check that the model finds where a parallel block begins and ends.

    Only forks with a clear end count: all their branches meet at one place (`concurrency.block_after`).
    """
    for task in workflow.task_names:
        if block := block_after(workflow, task, "parallel block"):
            yield _block_case(block, "parallel block", task)


@pattern(
    "In {{ place }}, which tasks can run in parallel with task '{{ task }}'? That is, which tasks does some run "
    "execute besides '{{ task }}' with neither of the two having to come before the other?" + OWN_LEVEL,
    "List the tasks of {{ place }} for which there is a run that executes both '{{ task }}' and that task, and in "
    "which neither of the two has to wait for the other." + OWN_LEVEL,
    form="task-set",
    needs={"parallel"},
    varies={"inclusive"},
    exceptional=True,
)
def parallel_to_task(workflow: Workflow) -> Cases:
    """Check that the model finds all tasks that can run in parallel with a task.

    Tasks without parallel tasks come last.
    """
    for task in limit_candidates(workflow.task_names, len(workflow.tasks)):
        parallel_tasks = parallel_to(workflow, task)
        if parallel_tasks is not None:
            yield case(parallel_tasks, rank=int(not parallel_tasks), task=task)


@pattern(
    "List all parallel blocks of {{ place }} that lie in no other parallel block. For each of them, name all tasks "
    "on its branches, up to where they all meet again or the end is reached." + OWN_LEVEL,
    "Which parallel blocks does {{ place }} have, and which tasks are on the branches of each of them? A parallel "
    "block inside another is part of that one; a block ends where all its branches meet again or the end is reached."
    + OWN_LEVEL,
    form="groups",
    needs={"parallel"},
    varies={"inclusive"},
)
def all_parallel_tasks(workflow: Workflow) -> Cases:
    """Check that the model finds all forks and separates their tasks.

    Not asked where a block has no clear end (`concurrency.parallel_blocks`), or where nothing forks.
    """
    if blocks := parallel_blocks(workflow):
        yield case([list(block) for block in map(sorted, blocks)], labels={"blocks": len(blocks)})


@pattern(
    "In {{ place }}, which tasks are in the {{ operator }} that starts right after task '{{ task }}'? Name all tasks "
    "{{ extent }}." + OWN_LEVEL,
    "In {{ place }}, {{ article }} {{ operator }} starts right after task '{{ task }}'. Which tasks belong to it? Name "
    "those {{ extent }}." + OWN_LEVEL,
    form="task-set",
    needs={"exclusive", "inclusive", "loop"},
)
def operator_block(workflow: Workflow) -> Cases:
    """Check that the model finds where a choice or a loop begins and ends.

    Only choices whose kind is certain and whose branches all lead forward count, and loops with a single entry, from
    one task (`concurrency.block_after`).
    """
    for operator in OPERATORS[1:]:
        for task in workflow.task_names:
            if block := block_after(workflow, task, operator):
                yield _block_case(block, operator, task)


def _block_case(tasks: tuple[str, ...], operator: str, task: str) -> Case:
    article = "an" if operator[0] in "aeiou" else "a"
    labels: dict[str, str | int] = {"operator": operator, "block": len(tasks)}
    return case(tasks, task=task, operator=operator, article=article, extent=EXTENT.get(operator, ""), labels=labels)
