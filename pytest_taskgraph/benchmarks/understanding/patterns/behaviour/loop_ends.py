"""Patterns about loops: whether, when and after how many passes they end (specs/patterns.md, B9 and B10)."""

from __future__ import annotations

from typing import Final

from .....scoring.condition_meaning import condition_reference
from .....workflow.guards.solver import comparisons, read_guard
from .....workflow.model import Parameter, Workflow
from .....workflow.semantics.execution import outcome
from .....workflow.semantics.loops import execution_count_in, exit_condition, loop_at, loop_ends_in, looping_tasks
from .....workflow.semantics.situations import write_situation
from ..pattern import Cases, case, pattern
from ..scope import spread
from .conditional_links import MOST_TASKS, asked_situations

MOST_COUNTED: Final = 12
"""How often a task is executed at most, where that is asked."""

MOST_STEPS: Final = 12  # that a loop may take to its end


@pattern(
    "In {{ place }}, the parameters have these values at the start: '{{ situation }}'; tasks change them as their "
    "effects say. Does the loop that task '{{ task }}' is in ever end?",
    "Suppose that {{ place }} is started in the situation '{{ situation }}', and its tasks have the effects that are "
    "stated. Is the loop around task '{{ task }}' left at some time, rather than repeated for ever?",
    form="yes-no",
    needs={"loop", "effects"},
)
def loop_ends(workflow: Workflow) -> Cases:
    """Does the model see where the changes in a loop lead?

    Loops that end without being repeated are asked about as often as others that end: some of them move away from
    their end, as those do that never end.
    """
    inside = spread(_in_one_loop(workflow), len(workflow.tasks), MOST_TASKS)
    for situation in asked_situations(workflow, MOST_STEPS) if inside else ():
        text, told = write_situation(situation), outcome(workflow, situation)
        for task in inside:
            answer = loop_ends_in(workflow, task, told)
            if answer is not None:
                passes = execution_count_in(task, told) if answer else None
                stratum = "" if passes is None else "at once" if passes < 2 else "repeated"
                yield case(answer, stratum=stratum, task=task, situation=text)


@pattern(
    "In {{ place }}, task '{{ task }}' is in a loop. Under which condition does that loop end, at the place where it "
    "is decided whether to repeat it?",
    "In {{ place }}, under which condition is the loop around task '{{ task }}' left, and not gone through once more?",
    form="condition",
    needs={"loop"},
)
def loop_exit_condition(workflow: Workflow) -> Cases:
    """Does the model find where a loop is left, and what must hold there?

    Loops whose way out is "otherwise", so that the condition is the opposite of one that is shown, come first.
    """
    shown = {" ".join(link.guard.split()) for link in workflow.links if link.guard}
    for task in spread(_in_one_loop(workflow), len(workflow.tasks)):
        condition = exit_condition(workflow, task)
        parameters = _parameters(workflow, task, condition) if condition else None
        if condition and parameters is not None:
            yield case(condition_reference(condition, parameters), rank=int(condition in shown), task=task)


@pattern(
    "In {{ place }}, the parameters have these values at the start: '{{ situation }}'; tasks change them as their "
    "effects say. How many times does task '{{ task }}' run in all?",
    "Suppose that {{ place }} is started in the situation '{{ situation }}', and its tasks have the effects that are "
    "stated. How often is task '{{ task }}' executed until the end is reached?",
    form="number",
    needs={"loop", "effects"},
)
def loop_count(workflow: Workflow) -> Cases:
    """Can the model carry a loop out?

    Each number of executions that a workflow has a case for is as likely as any other, up to MOST_COUNTED: none where
    the loop lies on a branch that is not taken, and one pass too. But of a loop that no situation is known to repeat,
    nothing is asked, for always one pass is no number to find.
    """
    inside = spread(looping_tasks(workflow), len(workflow.tasks), MOST_TASKS)
    situations = list(asked_situations(workflow, MOST_STEPS)) if inside else []
    texts = [write_situation(one) for one in situations]
    outcomes = [outcome(workflow, one) for one in situations]
    for task in inside:
        counts = [execution_count_in(task, told) for told in outcomes]
        if any(count is not None and count > 1 for count in counts):
            for text, count in zip(texts, counts, strict=True):
                if count is not None and count <= MOST_COUNTED:
                    yield case(count, stratum=str(count), task=task, situation=text)


def _in_one_loop(workflow: Workflow) -> list[str]:
    """The tasks that are in exactly one loop."""
    return [task for task in workflow.task_names if loop_at(workflow, task)]


def _parameters(workflow: Workflow, task: str, condition: str) -> list[Parameter] | None:
    """What the condition reads: parameters of the level, else of the one task of the loop that has them.

    None where several tasks of the loop have one of that name.
    """
    shared = {one.name: one for one in workflow.parameters}
    inner = loop_at(workflow, task) or ()
    found: list[Parameter] = []
    for name in sorted({one.parameter for one in comparisons(read_guard(condition))}):
        own = [one for step in inner for one in workflow.task(step).parameters if one.name == name]
        if name not in shared and len(own) > 1:
            return None
        found.append(shared.get(name) or (own[0] if own else Parameter(name)))
    return found
