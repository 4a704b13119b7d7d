"""Patterns about conditional links (docs/reference/patterns.md), and sampled situations."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from random import Random
from typing import Final

from .....workflow.graph import task_graph
from .....workflow.guards.cells import Constant
from .....workflow.guards.solver import Comparison, comparisons, exclusive, parse_guard
from .....workflow.model import OTHERWISE, Workflow
from .....workflow.semantics.execution import next_task
from .....workflow.semantics.situations import STEPS, representatives, write_situation
from .....workflow.semantics.variables import Variables, variables_of
from ..pattern import Cases, case, pattern
from ..scope import limit_candidates

MOST_SITUATIONS: Final = 32
"""Maximum number of situations that questions about one level refer to."""

MOST_TASKS: Final = 20
"""Maximum number of tasks of a large level that are asked about in each situation."""

OTHER: Final = "other"
_TRUTH: Final = frozenset({"true", "false"})


@pattern(
    "In {{ place }}, are the conditions of the links that lead directly out of task '{{ task }}' mutually exclusive, "
    "that is, are there no values of the parameters with which two of them hold at once?",
    "Several conditional links lead directly out of task '{{ task }}' in {{ place }}. Is it impossible that the "
    "conditions of two of them hold at once, whatever values the parameters have?",
    form="yes-no",
    needs={"guards"},
    varies={"domains", "exclusive", "inclusive"},
    flaws={"yes": "exclude-guards", "no": "overlap-guards"},
    without_parameters=(
        "In {{ place }}, are the conditions of the links that lead directly out of task '{{ task }}' mutually "
        "exclusive, that is, can no two of them hold at once?",
        "Several conditional links lead directly out of task '{{ task }}' in {{ place }}. Is it impossible that the "
        "conditions of two of them hold at once?",
    ),
    exceptional=True,
)
def mutually_exclusive(workflow: Workflow) -> Cases:
    """Check that the model sees which conditions can hold together.

    Not asked where integers and reals, or guards in prose, leave the answer open. Pairs of links of which one is
    "otherwise" come last.
    """
    level_variables = variables_of(workflow)
    for task in limit_candidates(workflow.task_names, len(workflow.tasks)):
        guards = [link.guard for link in level_variables.flow.out[task] if link.guard is not None]
        answer = exclusive(guards, level_variables.flow.parameters(task)) if len(guards) > 1 else None
        if answer is not None:
            easy = len(guards) == 2 and any(guard.strip().lower() == OTHERWISE for guard in guards)
            yield case(answer, rank=int(easy), task=task, labels={"conditions": len(guards)})


@pattern(
    "In {{ place }}, the parameters have these values at the start: '{{ situation }}'. Which task then comes directly "
    "after task '{{ task }}' in the control flow, with no other task between? A task that merely runs beside it does "
    "not count.",
    "Suppose that {{ place }} is started in the situation '{{ situation }}'. To which task does the control flow then "
    "lead directly from task '{{ task }}', apart from any task that merely runs beside it?",
    form="task",
    needs={"guards"},
    exceptional=True,
)
def next_task_in_situation(workflow: Workflow) -> Cases:
    """Check that the model applies conditions to values.

    Asked where several tasks can come next and, in the situation, always the same one does.
    """
    choices = [task for task, after in task_graph(workflow).items() if len(after) > 1]
    choices = [*limit_candidates(choices, len(workflow.tasks), MOST_TASKS)]
    for situation in sample_situations(workflow) if choices else ():
        text = write_situation(situation)
        for task in choices:
            answer = next_task(workflow, task, situation)
            if answer is not None and text:
                yield case(answer, stratum=_stratum(workflow, task, answer), task=task, situation=text)


def sample_situations(level: Workflow, steps: int = STEPS) -> Iterator[dict[str, Constant]]:
    """Yield at most MOST_SITUATIONS different situations of a level, always the same ones.

    Which ones depends neither on names nor on the order of declaration: a parameter is identified by what it is
    compared with. None is yielded where a parameter is compared with words and numbers. The word for all values that no
    guard names is OTHER, numbered where guards name that.

    Args:
        level: The level that the situations are about.
        steps: Number of steps that a loop can take to its end (`situations.representatives`).
    """
    values = representatives(level, wide=False, steps=steps) or {}
    level_variables = variables_of(level)
    keys = {name: _comparison_key(level_variables, name) for name in values}
    options = {name: _value_options(level_variables, name, constants) for name, constants in values.items()}
    columns = [
        [Random(f"{i}|{keys[name]}").choice(constants) for i in range(MOST_SITUATIONS)]
        for name, constants in options.items()
    ]
    for row in dict.fromkeys(zip(*columns, strict=True)):
        yield dict(zip(options, row, strict=True))


def _comparison_key(level_variables: Variables, name: str) -> str:
    """Return a text for what a parameter is compared with, which depends neither on names nor on declarations."""
    return " ".join(sorted(f"{each.operator}{each.value}" for each in _comparisons_of(level_variables, name)))


def _comparisons_of(level_variables: Variables, name: str) -> list[Comparison]:
    guards = [way.guard for ways in level_variables.ways.values() for way in ways if way.guard is not None]
    return [comparison for guard in guards for comparison in comparisons(guard) if comparison.parameter == name]


def _value_options(level_variables: Variables, name: str, values: Iterable[Constant]) -> list[Constant]:
    """Return the values of a parameter in order, with a readable word for all that no guard names."""
    if level_variables.domains.get(name) is not None:
        return sorted(values, key=_sort_key)
    compared = {comparison.value for comparison in _comparisons_of(level_variables, name)}
    words = (OTHER, *(f"{OTHER}{i}" for i in range(2, len(compared) + 3)))
    other = next(word for word in words if word not in compared)
    readable = (other if isinstance(value, str) and value not in compared | _TRUTH else value for value in values)
    return sorted(readable, key=_sort_key)


def _sort_key(value: Constant) -> tuple[str, float]:
    return (value, 0.0) if isinstance(value, str) else ("", float(value))


def _stratum(level: Workflow, task: str, answer: str) -> str:
    """Return "condition" or "otherwise" as the link to the answer states it; "" where a gateway lies between."""
    guards = [link.guard for link in level.links if (link.source, link.target) == (task, answer)]
    parsed = [parse_guard(guard) for guard in guards if guard]
    return (
        "" if not parsed else "condition" if any(any(comparisons(guard)) for guard in parsed if guard) else "otherwise"
    )
