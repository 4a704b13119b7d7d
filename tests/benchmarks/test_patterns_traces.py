from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Any

from workflow_simulation import simulated

from pytest_taskgraph.benchmarks.understanding.patterns.behaviour.conditional_order import (
    determine_order_conditional,
    every_situation,
    order_of_many_conditional,
    order_of_two_conditional,
    trace,
)
from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Case, Pattern
from pytest_taskgraph.benchmarks.understanding.patterns.scope import cases, scopes
from pytest_taskgraph.benchmarks.understanding.questions.sample import draw
from pytest_taskgraph.scoring.partial_order import linear_extension
from pytest_taskgraph.workflow.model import Workflow
from pytest_taskgraph.workflow.semantics.situations import read_situation, situations

ALL = (order_of_two_conditional, order_of_many_conditional, determine_order_conditional, trace, every_situation)
LONGEST = 60  # executions of a trace
SIZE = 9  # small enough to simulate every interleaving


def drawn(pattern: Pattern, size: int = SIZE) -> Iterator[tuple[Workflow, list[Case]]]:
    for ordinal in range(6):
        for scope in scopes(draw(pattern, size, 5, ordinal).project):
            yield scope.workflow, list(cases(pattern, scope))


def all_traces(workflow: Workflow) -> list[set[tuple[str, ...]]]:
    """The traces of every situation."""
    return [simulated(workflow, one, LONGEST) or set() for one in situations(workflow)]


def sequence(case: Case) -> tuple[str, ...]:
    return tuple(name.strip("'") for name in str(case.fields["listed"]).split(", "))


def _last(found: tuple[str, ...], task: str) -> int:
    return len(found) - 1 - found[::-1].index(task)


def in_order(tasks: tuple[str, ...], found: tuple[str, ...]) -> bool:
    return any(one == tasks for one in combinations(found, len(tasks)))


def test_a_pair_is_in_order_if_it_is_in_all_traces_that_hold_both() -> None:
    for workflow, found in drawn(order_of_two_conditional):
        traces = [one for some in all_traces(workflow) for one in some]
        for case in found:
            a, b = case.fields["a"], case.fields["b"]
            both = [one for one in traces if a in one and b in one]
            assert both
            in_order = all(_last(one, a) < one.index(b) for one in both)
            assert case.answer == ("yes" if in_order else "no")


def test_a_sequence_is_right_if_one_trace_holds_it() -> None:
    kinds = set()
    for workflow, found in drawn(order_of_many_conditional):
        traces = [one for some in all_traces(workflow) for one in some]
        for case in found:
            kinds.add((case.answer, case.stratum))
            assert case.answer == ("yes" if any(in_order(sequence(case), one) for one in traces) else "no")
    assert kinds >= {("yes", "kept"), ("no", "moved"), ("no", "excluded")}


def test_the_order_asked_for_is_that_of_the_simulation() -> None:
    for workflow, found in drawn(determine_order_conditional):
        for case in found:
            traces = simulated(workflow, read_situation(case.fields["situation"]), LONGEST)
            reference: Any = case.answer
            names = reference["tasks"]
            assert traces
            assert tuple(linear_extension(reference)) in traces
            assert all(sorted(one) == names for one in traces)
            held = {(names[i], names[j]) for i, j in reference["before"] if names.count(names[i]) == 1}
            assert all(one.index(a) < one.index(b) for one in traces for a, b in held)


def test_a_trace_can_occur_if_the_simulation_has_it() -> None:
    kinds = set()
    for workflow, found in drawn(trace, 11):  # with room for a loop
        for case in found:
            kinds.add((case.answer, case.stratum))
            traces = simulated(workflow, read_situation(case.fields["situation"]), LONGEST)
            assert traces
            assert case.answer == ("yes" if sequence(case) in traces else "no")
    assert kinds == {
        ("yes", "kept"), ("yes", "swapped"), ("no", "swapped"), ("no", "dropped"), ("no", "put in"), ("no", "repeated"),
    }  # fmt: skip


def test_a_task_is_executed_in_every_situation_if_all_traces_hold_it() -> None:
    ranks = set()
    for workflow, found in drawn(every_situation):
        every = all_traces(workflow)
        for case in found:
            ranks.add((case.answer, case.rank))
            held = all(case.fields["task"] in one for some in every for one in some)
            if all(every):
                assert case.answer == ("yes" if held else "no")
            else:  # a run that never ends has no trace here, and may not come to the task
                assert held or case.answer == "no"
    assert {answer for answer, _ in ranks} == {"yes", "no"}
    assert {rank for _, rank in ranks} >= {0, 2, 3}
