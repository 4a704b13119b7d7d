"""Patterns about the end of loops: whether, when and after how many passes (docs/reference/patterns.md)."""

from __future__ import annotations

from typing import Final

from .....scoring.condition_meaning import condition_reference
from .....workflow.guards.solver import comparisons, read_guard
from .....workflow.model import Parameter, Workflow
from .....workflow.semantics.execution import outcome
from .....workflow.semantics.loops import execution_count_in, exit_condition, loop_at, loop_ends_in, looping_tasks
from .....workflow.semantics.situations import write_situation
from ..pattern import Cases, case, pattern
from ..scope import limit_candidates
from .conditional_links import MOST_TASKS, sample_situations

MOST_COUNTED: Final = 12
"""Largest number of executions of a task that is asked for."""

MOST_STEPS: Final = 12  # of a loop to its end


@pattern(
    "In {{ place }}, the parameters have these values at the start: '{{ situation }}'; tasks change them as their "
    "effects say. Does the loop that task '{{ task }}' is in ever end?",
    "Suppose that {{ place }} is started in the situation '{{ situation }}', and its tasks have the effects that are "
    "stated. Is the loop around task '{{ task }}' left at some time, rather than repeated for ever?",
    form="yes-no",
    needs={"loop", "effects"},
    exceptional=True,
)
def loop_ends(workflow: Workflow) -> Cases:
    """Check that the model sees where the changes in a loop lead.

    Loops that end without being repeated are asked about as often as other loops that end: some of them move away from
    their end, as loops that never end do.
    """
    inside = limit_candidates(_tasks_in_one_loop(workflow), len(workflow.tasks), MOST_TASKS)
    for situation in sample_situations(workflow, MOST_STEPS) if inside else ():
        text, run_outcome = write_situation(situation), outcome(workflow, situation)
        for task in inside:
            answer = loop_ends_in(workflow, task, run_outcome)
            if answer is not None:
                passes = execution_count_in(task, run_outcome) if answer else None
                stratum = "" if passes is None else "at once" if passes < 2 else "repeated"
                yield case(answer, stratum=stratum, task=task, situation=text)


@pattern(
    "In {{ place }}, task '{{ task }}' is in a loop. Under which condition does that loop end, at the place where it "
    "is decided whether to repeat it?",
    "In {{ place }}, under which condition is the loop around task '{{ task }}' left, and not gone through once more?",
    form="condition",
    needs={"loop"},
    exceptional=True,
)
def loop_exit_condition(workflow: Workflow) -> Cases:
    """Check that the model finds where a loop is left, and the condition for it.

    Loops that are left by "otherwise", so that the condition is the opposite of one that is shown, come first.
    """
    guards = {" ".join(link.guard.split()) for link in workflow.links if link.guard}
    for task in limit_candidates(_tasks_in_one_loop(workflow), len(workflow.tasks)):
        condition = exit_condition(workflow, task)
        parameters = _parameters(workflow, task, condition) if condition else None
        if condition and parameters is not None:
            yield case(condition_reference(condition, parameters), rank=int(condition in guards), task=task)


@pattern(
    "In {{ place }}, the parameters have these values at the start: '{{ situation }}'; tasks change them as their "
    "effects say. How many times does task '{{ task }}' run in all?",
    "Suppose that {{ place }} is started in the situation '{{ situation }}', and its tasks have the effects that are "
    "stated. How often is task '{{ task }}' executed until the end is reached?",
    form="number",
    needs={"loop", "effects"},
    exceptional=True,
)
def loop_count(workflow: Workflow) -> Cases:
    """Check that the model executes a loop.

    Each number of executions that a workflow has a case for is equally likely, up to MOST_COUNTED: zero where the loop
    lies on a branch that is not taken, and a single pass too. A loop that no known situation repeats is not asked
    about, because its answer would always be one.
    """
    inside = limit_candidates(looping_tasks(workflow), len(workflow.tasks), MOST_TASKS)
    situations = list(sample_situations(workflow, MOST_STEPS)) if inside else []
    texts = [write_situation(situation) for situation in situations]
    outcomes = [outcome(workflow, situation) for situation in situations]
    for task in inside:
        counts = [execution_count_in(task, run_outcome) for run_outcome in outcomes]
        if any(count is not None and count > 1 for count in counts):
            for text, count in zip(texts, counts, strict=True):
                if count is not None and count <= MOST_COUNTED:
                    yield case(count, stratum=str(count), task=task, situation=text)


def _tasks_in_one_loop(workflow: Workflow) -> list[str]:
    """Return the tasks that are in exactly one loop."""
    return [task for task in workflow.task_names if loop_at(workflow, task)]


def _parameters(workflow: Workflow, task: str, condition: str) -> list[Parameter] | None:
    """Return the parameters that a condition reads: of the level, else of the only task of the loop that has them.

    Returns:
        None where several tasks of the loop have a parameter of that name.
    """
    shared = {parameter.name: parameter for parameter in workflow.parameters}
    inner = loop_at(workflow, task) or ()
    parameters: list[Parameter] = []
    for name in sorted({comparison.parameter for comparison in comparisons(read_guard(condition))}):
        own = [each for step in inner for each in workflow.task(step).parameters if each.name == name]
        if name not in shared and len(own) > 1:
            return None
        parameters.append(shared.get(name) or (own[0] if own else Parameter(name)))
    return parameters
