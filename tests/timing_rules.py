"""How often questions about times are answered by rules that add up or compare durations, and look at no waiting.

They stand beside the rules of `surface_rules.py`: of a number pattern, the share of questions that a rule answers.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Final

from surface_rules import drawn_questions

from pytest_taskgraph.families.understanding.patterns.pattern import Pattern
from pytest_taskgraph.workflow.graph import task_graph
from pytest_taskgraph.workflow.model import SECONDS, Workflow
from pytest_taskgraph.workflow.references import expand

Fields = Mapping[str, object]
Rule = Callable[[Workflow, Fields], int]  # of a level without references, and of the question's words: seconds


def _atomic(level: Workflow) -> list[int]:
    """Return the lengths of all tasks that state one, those inside composite tasks too."""
    lengths = [task.duration.seconds for task in level.tasks if task.duration]
    return lengths + [length for task in level.tasks if task.subworkflow for length in _atomic(task.subworkflow)]


def _length(level: Workflow, name: str) -> int:
    """Return the length of a task; of a composite task, the sum of what is inside."""
    task = level.task(name)
    return task.duration.seconds if task.duration else sum(_atomic(task.subworkflow)) if task.subworkflow else 0


def _longest_chain(level: Workflow, end: str = "") -> int:
    """Return the length of a path with the most tasks, up to a task and without it; of several, the first declared."""
    graph = task_graph(level)
    paths: dict[str, list[str]] = {}

    def path_to(name: str, seen: frozenset[str]) -> list[str]:
        if name not in paths:
            before = [other for other in graph if name in graph[other] and other not in seen]
            chains = [path_to(other, seen | {name}) for other in before]
            paths[name] = [*max(chains, key=len, default=[]), name]
        return paths[name]

    if end:
        return sum(_length(level, name) for name in path_to(end, frozenset())[:-1])
    return sum(_length(level, name) for name in max((path_to(name, frozenset()) for name in graph), key=len))


def _before(level: Workflow, name: str) -> int:
    """Return the sum of all tasks from which links lead to a task."""
    graph, found = task_graph(level), {name}
    for _ in graph:
        found |= {other for other, after in graph.items() if found.intersection(after)}
    return sum(_length(level, other) for other in found - {name})


def _extra(level: Workflow, fields: Fields) -> int:
    amount, unit = str(fields["extra"]).split(" ")
    return int(amount) * next(seconds for name, seconds in SECONDS.items() if name.startswith(unit.rstrip("s")))


RULES: Final[Mapping[str, Rule]] = {
    "sum of all durations": lambda level, fields: sum(_atomic(level)),
    "longest single task": lambda level, fields: max(_atomic(level)),
    "path with most tasks": lambda level, fields: _longest_chain(level),
}
RULES_OF_TASK: Final[Mapping[str, Rule]] = {
    "path with most tasks before": lambda level, fields: _longest_chain(level, str(fields["task"])),
    "sum of all before": lambda level, fields: _before(level, str(fields["task"])),
    "its own duration": lambda level, fields: _length(level, str(fields["task"])),
}
RULES_OF_DELAY: Final[Mapping[str, Rule]] = {
    "path with most tasks and the delay": lambda level, fields: _longest_chain(level) + _extra(level, fields),
    "sum of all and the delay": lambda level, fields: sum(_atomic(level)) + _extra(level, fields),
}
RULES_OF_WORKERS: Final[Mapping[str, Rule]] = {
    "sum of all, shared out": lambda level, fields: -(-sum(_atomic(level)) // int(str(fields["workers"]))),
}


def shares(pattern: Pattern, count: int, tasks: int = 12, seed: int = 0) -> dict[str, float]:
    """Return the share of the questions of a number pattern that each rule answers."""
    drawn = drawn_questions(pattern, count, tasks, "", seed)
    fields = drawn[0].case.fields
    rules = {**RULES, **(RULES_OF_TASK if "task" in fields else {}), **(RULES_OF_DELAY if "extra" in fields else {})}
    rules |= RULES_OF_WORKERS if "workers" in fields else {}
    right = dict.fromkeys(rules, 0)
    for question in drawn:
        level, unit = expand(question.scope.workflow), SECONDS[question.case.fields["unit"]]
        for name, rule in rules.items():
            right[name] += rule(level, question.case.fields) == question.case.answer * unit  # type: ignore[operator]
    return {name: number / len(drawn) for name, number in right.items()}
