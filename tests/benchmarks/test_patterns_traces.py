from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from situation_families import read_situation, situations
from workflow_simulation import simulated

from pytest_taskgraph.families.understanding.patterns.behaviour.conditional_order import (
    determine_order_conditional,
    every_situation,
    order_of_many_conditional,
    order_of_two_conditional,
    trace,
)
from pytest_taskgraph.families.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.families.understanding.patterns.scope import cases, scopes
from pytest_taskgraph.families.understanding.questions.sample import draw
from pytest_taskgraph.scoring.partial_order import linear_extension
from pytest_taskgraph.workflow.model import Workflow

PATTERNS = (order_of_two_conditional, order_of_many_conditional, determine_order_conditional, trace, every_situation)
LONGEST = 60  # executions of a trace
SIZE = 9  # small enough to simulate every interleaving


def draw_cases(pattern: Pattern, size: int = SIZE) -> Iterator[tuple[Workflow, list[Case]]]:
    for ordinal in range(4):
        for scope in scopes(draw(pattern, size, 5, ordinal).project):
            yield scope.workflow, list(cases(pattern, scope))


def all_traces(workflow: Workflow) -> list[set[tuple[str, ...]]]:
    """Return the traces of every situation."""
    return [simulated(workflow, situation, LONGEST) or set() for situation in situations(workflow)]


def sequence(case: Case) -> tuple[str, ...]:
    return tuple(name.strip("'") for name in str(case.fields["listed"]).split(", "))


def _last(executions: tuple[str, ...], task: str) -> int:
    return len(executions) - 1 - executions[::-1].index(task)


def in_order(tasks: tuple[str, ...], executions: tuple[str, ...]) -> bool:
    return any(chosen == tasks for chosen in combinations(executions, len(tasks)))


def test_order_of_two_conditional_equals_simulation() -> None:
    for workflow, listed_cases in draw_cases(order_of_two_conditional):
        traces = [each for group in all_traces(workflow) for each in group]
        for case in listed_cases:
            a, b = case.fields["a"], case.fields["b"]
            both = [each for each in traces if a in each and b in each]
            assert both
            in_order = all(_last(each, a) < each.index(b) for each in both)
            assert case.answer == ("yes" if in_order else "no")


def test_order_of_many_conditional_equals_simulation() -> None:
    kinds = set()
    for workflow, listed_cases in draw_cases(order_of_many_conditional):
        traces = [each for group in all_traces(workflow) for each in group]
        for case in listed_cases:
            kinds.add((case.answer, case.stratum))
            assert case.answer == ("yes" if any(in_order(sequence(case), each) for each in traces) else "no")
    assert kinds >= {("yes", "kept"), ("no", "moved"), ("no", "excluded")}


def test_determine_order_conditional_equals_simulation() -> None:
    for workflow, listed_cases in draw_cases(determine_order_conditional):
        for case in listed_cases:
            traces = simulated(workflow, read_situation(case.fields["situation"]), LONGEST)
            reference: Any = case.answer
            names = reference["tasks"]
            assert traces
            assert tuple(linear_extension(reference)) in traces
            assert all(sorted(each) == names for each in traces)
            pairs = {(names[i], names[j]) for i, j in reference["before"] if names.count(names[i]) == 1}
            assert all(each.index(a) < each.index(b) for each in traces for a, b in pairs)


def test_trace_equals_simulation() -> None:
    kinds = set()
    for workflow, listed_cases in draw_cases(trace, 11):  # with room for a loop
        for case in listed_cases:
            kinds.add((case.answer, case.stratum))
            traces = simulated(workflow, read_situation(case.fields["situation"]), LONGEST)
            assert traces
            assert case.answer == ("yes" if sequence(case) in traces else "no")
    assert kinds == {
        ("yes", "kept"), ("yes", "swapped"), ("no", "swapped"), ("no", "dropped"), ("no", "put in"), ("no", "repeated"),
    }  # fmt: skip


def test_every_situation_equals_simulation() -> None:
    ranks = set()
    for workflow, listed_cases in draw_cases(every_situation):
        traces_by_situation = all_traces(workflow)
        for case in listed_cases:
            ranks.add((case.answer, case.rank))
            held = all(case.fields["task"] in each for group in traces_by_situation for each in group)
            if all(traces_by_situation):
                assert case.answer == ("yes" if held else "no")
            else:  # an endless run has no trace here, and need not reach the task
                assert held or case.answer == "no"
    assert {answer for answer, _ in ranks} == {"yes", "no"}
    assert {rank for _, rank in ranks} == {0, 1}
