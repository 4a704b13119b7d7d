"""Patterns about forks, choices and loops, and about what runs in parallel (specs/patterns.md, S12 to S17)."""

from __future__ import annotations

from typing import Final

from .....workflow.graph import ancestors
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
from ..scope import spread

MOST_TASKS: Final = 45  # of a large level; all pairs of them are looked at
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
)
def operator_existence(workflow: Workflow) -> Cases:
    """Does the model see which operators the control flow is made of?

    In most generated workflows a block lies inside a composite task, so that a keyword somewhere in the text tells
    nothing about the level that is asked about. Choices and loops are asked about first where the level has conditions,
    whatever these are for, and twice as often as parallel blocks, which a gateway tells. An operator is left out where
    the workflow could be read both ways (`concurrency.operators`): a decision that only repeats or leaves a loop may be
    called an exclusive choice, and guards in prose may exclude each other or not.
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
)
def parallel_pair(workflow: Workflow) -> Cases:
    """Does the model know which tasks can run at the same time?

    Hard negatives: tasks on two branches of an exclusive choice, and ordered tasks of which each runs in parallel with
    a third one, such as the first and the last of one branch. For both answers, pairs of which both, one or none stand
    next to a gateway are equally likely, so that a line with a gateway tells nothing.
    """
    tasks = spread(workflow.task_names, len(workflow.tasks), MOST_TASKS)
    pairs = parallel_pairs(workflow, tasks)
    parallel = {name for pair, answer in pairs.items() if answer for name in pair}
    before = {name: frozenset(ancestors(workflow, name)) for name in tasks}
    gateways = {gateway.name for gateway in workflow.gateways}
    ends = [(link.source, link.target) for link in workflow.links]
    beside = {name for pair in ends if gateways.intersection(pair) for name in pair}
    for (a, b), answer in pairs.items():
        ordered = a in before[b] or b in before[a]
        easy = ordered and not answer and not parallel.issuperset((a, b))
        if answer is not None:
            labels = {"pair": "parallel" if answer else "ordered" if ordered else "alternative"}
            stratum = f"{len(beside.intersection((a, b)))} at a gateway"
            yield case(answer, rank=int(easy), stratum=stratum, a=a, b=b, labels=labels)


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
    """Can the model tell where a parallel block begins and ends?

    Only forks with a clear end count, all of whose branches meet at one place (`concurrency.block_after`).
    """
    for task in workflow.task_names:
        if found := block_after(workflow, task, "parallel block"):
            yield _block(found, "parallel block", task)


@pattern(
    "In {{ place }}, which tasks can run in parallel with task '{{ task }}'? That is, which tasks does some run "
    "execute besides '{{ task }}' with neither of the two having to come before the other?" + OWN_LEVEL,
    "List the tasks of {{ place }} for which there is a run that executes both '{{ task }}' and that task, and in "
    "which neither of the two has to wait for the other." + OWN_LEVEL,
    form="task-set",
    needs={"parallel"},
    varies={"inclusive"},
)
def parallel_to_task(workflow: Workflow) -> Cases:
    """Does the model see everything that can happen beside a task?

    Tasks to which nothing is parallel come last.
    """
    for task in spread(workflow.task_names, len(workflow.tasks)):
        found = parallel_to(workflow, task)
        if found is not None:
            yield case(found, rank=int(not found), task=task)


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
    """Does the model find all forks, and keep their tasks apart?

    Left out where a block has no clear end (`concurrency.parallel_blocks`), or nothing forks.
    """
    if found := parallel_blocks(workflow):
        yield case([list(block) for block in map(sorted, found)], labels={"blocks": len(found)})


@pattern(
    "In {{ place }}, which tasks are in the {{ operator }} that starts right after task '{{ task }}'? Name all tasks "
    "{{ extent }}." + OWN_LEVEL,
    "In {{ place }}, {{ article }} {{ operator }} starts right after task '{{ task }}'. Which tasks belong to it? Name "
    "those {{ extent }}." + OWN_LEVEL,
    form="task-set",
    needs={"exclusive", "inclusive", "loop"},
)
def operator_block(workflow: Workflow) -> Cases:
    """Can the model tell where a choice or a loop begins and ends?

    Only choices whose kind is certain and whose branches all lead forward count, and loops that are entered at one
    place, from one task (`concurrency.block_after`).
    """
    for operator in OPERATORS[1:]:
        for task in workflow.task_names:
            if found := block_after(workflow, task, operator):
                yield _block(found, operator, task)


def _block(tasks: tuple[str, ...], operator: str, task: str) -> Case:
    article = "an" if operator[0] in "aeiou" else "a"
    labels: dict[str, str | int] = {"operator": operator, "block": len(tasks)}
    return case(tasks, task=task, operator=operator, article=article, extent=EXTENT.get(operator, ""), labels=labels)
