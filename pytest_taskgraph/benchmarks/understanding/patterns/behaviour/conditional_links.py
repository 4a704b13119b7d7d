"""Patterns about conditional links (specs/patterns.md, B4 and B7), and the situations that questions are put in."""

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
from ..scope import spread

MOST_SITUATIONS: Final = 32
"""In how many situations, at most, questions about one level are put."""

MOST_TASKS: Final = 20
"""Of how many tasks of a large level it is asked what happens at them in a situation."""

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
)
def mutually_exclusive(workflow: Workflow) -> Cases:
    """Does the model see which conditions can hold together?

    Where integers and reals, or prose, leave it open, nothing is asked. What one of two links says "otherwise" about
    comes last.
    """
    known = variables_of(workflow)
    for task in spread(workflow.task_names, len(workflow.tasks)):
        guards = [link.guard for link in known.flow.out[task] if link.guard is not None]
        answer = exclusive(guards, known.flow.parameters(task)) if len(guards) > 1 else None
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
)
def next_task_in_situation(workflow: Workflow) -> Cases:
    """Can the model apply conditions to values?

    Asked where several tasks may come next and, in the situation, one and the same always does.
    """
    choices = [task for task, after in task_graph(workflow).items() if len(after) > 1]
    choices = [*spread(choices, len(workflow.tasks), MOST_TASKS)]
    for situation in asked_situations(workflow) if choices else ():
        text = write_situation(situation)
        for task in choices:
            answer = next_task(workflow, task, situation)
            if answer is not None and text:
                yield case(answer, stratum=_stratum(workflow, task, answer), task=task, situation=text)


def asked_situations(level: Workflow, steps: int = STEPS) -> Iterator[dict[str, Constant]]:
    """At most MOST_SITUATIONS different situations of a level, drawn once and for all from those that stand for all.

    Which ones depends neither on names nor on the order of declaration: a parameter is told by what it is compared
    with. None is drawn where a parameter is compared with words and numbers. The word for all that no guard names is
    OTHER, numbered where guards name that. `steps` are those that a loop may take to its end (`situations`).
    """
    values = representatives(level, wide=False, steps=steps) or {}
    known = variables_of(level)
    shapes = {name: _shape(known, name) for name in values}
    options = {name: _options(known, name, found) for name, found in values.items()}
    seen: set[tuple[Constant, ...]] = set()
    for i in range(MOST_SITUATIONS if values else 0):
        drawn = {name: Random(f"{i}|{shapes[name]}").choice(found) for name, found in options.items()}
        if tuple(drawn.values()) not in seen:
            seen.add(tuple(drawn.values()))
            yield drawn


def _shape(known: Variables, name: str) -> str:
    return " ".join(sorted(f"{one.operator}{one.value}" for one in _compared(known, name)))


def _compared(known: Variables, name: str) -> list[Comparison]:
    guards = [way.guard for ways in known.ways.values() for way in ways if way.guard is not None]
    return [one for guard in guards for one in comparisons(guard) if one.parameter == name]


def _options(known: Variables, name: str, values: Iterable[Constant]) -> list[Constant]:
    """The values of a parameter in order; the word that stands for all that no guard names is one to be read."""
    if known.domains.get(name) is not None:
        return sorted(values, key=_place)
    named = {one.value for one in _compared(known, name)}
    other = next(word for word in (OTHER, *(f"{OTHER}{i}" for i in range(2, len(named) + 3))) if word not in named)
    return sorted((other if isinstance(one, str) and one not in named | _TRUTH else one for one in values), key=_place)


def _place(value: Constant) -> tuple[str, float]:
    return (value, 0.0) if isinstance(value, str) else ("", float(value))


def _stratum(level: Workflow, task: str, answer: str) -> str:
    """Whether the link to the answer says its condition itself; "" where a gateway lies between."""
    guards = [link.guard for link in level.links if (link.source, link.target) == (task, answer)]
    parsed = [parse_guard(guard) for guard in guards if guard]
    return "" if not parsed else "condition" if any(any(comparisons(one)) for one in parsed if one) else "otherwise"
