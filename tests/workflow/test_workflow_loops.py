"""Facts about loops, against counting and against simulation."""

from __future__ import annotations

import operator
from fractions import Fraction
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workflow_builders import level
from workflow_simulation import simulated, some_situation

from pytest_taskgraph.errors import UnknownNameError
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.workflow.guards.cells import Situation
from pytest_taskgraph.workflow.guards.solver import equivalent
from pytest_taskgraph.workflow.model import Domain, Effect, Parameter, Task, Workflow
from pytest_taskgraph.workflow.semantics.execution import Endless, Run, outcome
from pytest_taskgraph.workflow.semantics.loop_nest import loops_in, parts_of
from pytest_taskgraph.workflow.semantics.loops import (
    always_ends,
    execution_count_in,
    exit_condition,
    loop_at,
    loop_ends_in,
)

N = Parameter("n")
SIGNS = {"<": operator.lt, "<=": operator.le, ">": operator.gt, ">=": operator.ge, "=": operator.eq, "!=": operator.ne}
LOOPS = recipes(max_tasks=10, features=["loop", "effects"], among=("parallel", "exclusive", "inclusive", "domains"))


def execution_count(flow: Workflow, task: str, situation: Situation) -> int | None:
    return execution_count_in(task, outcome(flow, situation))


def loop_ends(flow: Workflow, task: str, situation: Situation) -> bool | None:
    return loop_ends_in(flow, task, outcome(flow, situation))


def looping_level(back: str, on: str, effect: str, n: Parameter = N) -> Workflow:
    workflow = level(f"START -> A\nA -> B\nB -> A [{back}]\nB -> C [{on}]\nC -> END")
    tasks = (Task("A", effects=(Effect("n", effect),)), Task("B"), Task("C"))
    return Workflow("W", tasks=tasks, links=workflow.links, parameters=(n,))


@settings(deadline=None)
@given(st.sampled_from(sorted(SIGNS)), st.integers(-3, 3), st.integers(-8, 8), st.sampled_from([1, 2, -1, -2, 0]))
def test_execution_count_of_loop_equals_counting(sign: str, bound: int, start: int, step: int) -> None:
    workflow = looping_level(f"n {sign} {bound}", "otherwise", f"n + {step}" if step >= 0 else f"n - {-step}")
    n, count = start + step, 1
    while SIGNS[sign](n, bound) and count < 50:
        n, count = n + step, count + 1
    assert execution_count(workflow, "B", {"n": start}) == (count if count < 50 else None)
    assert loop_ends(workflow, "A", {"n": start}) == (count < 50)


@given(workflows(LOOPS), st.randoms(use_true_random=False))
def test_execution_count_generated_workflow_agrees_with_tokens(workflow: Workflow, rng: Random) -> None:
    situation = some_situation(workflow, rng)
    traces = simulated(workflow, situation, 14)
    for task in workflow.task_names:
        result = execution_count(workflow, task, situation)
        assert traces is None or {trace.count(task) for trace in traces} == {result}
        if loop_at(workflow, task):
            ended = loop_ends(workflow, task, situation)
            assert ended is not False or traces is None
            assert (ended is None) == (traces is not None and result == 0) or traces is None


@given(workflows(LOOPS), st.randoms(use_true_random=False))
def test_always_ends_loop_ends_in_any_situation(workflow: Workflow, rng: Random) -> None:
    proven = {loop.nodes for loop in loops_in(parts_of(workflow) or ()) if always_ends(workflow, loop)}
    for _ in range(10):
        result = outcome(workflow, some_situation(workflow, rng))
        assert not isinstance(result, Endless) or proven.isdisjoint(result.loops)


@pytest.mark.parametrize(
    ("back", "effect", "domain", "proven"),
    [
        ("n < 5", "n + 1", None, True),
        ("n < 5", "1 + n + 0.5", None, True),
        ("n < 5", "n - 1", None, False),
        ("n != 5", "n + 1", None, False),  # it may begin past 5
        ("n = 5", "n + 1", None, True),
        ("n > 5 and n < 9", "n + 1", None, True),
        ("n > 5 or m = 1", "n - 1", None, False),
        ("n > 5 and m = 1", "n - 1", None, True),
        ("n > 5", "n * 2", None, False),
        ("n > 5", "n - n", None, False),
        ("n < 5", "n + 1", Domain("integer", 0, None), True),
        ("n < 5", "n + 1", Domain("integer", 0, 5), False),
    ],
)
def test_always_ends_is_proven(back: str, effect: str, domain: Domain | None, proven: bool) -> None:
    workflow = looping_level(back, "otherwise", effect, Parameter("n", domain=domain))
    (loop,) = loops_in(parts_of(workflow) or ())
    assert always_ends(workflow, loop) is proven


@pytest.mark.parametrize(
    ("back", "on", "condition"),
    [
        ("n < 5", "n >= 5", "n >= 5"),
        ("n < 5", "otherwise", "n >= 5"),
        ("otherwise", "n = 5", "n = 5"),
        ("n < 5 and not n = 2", "otherwise", "n >= 5 or n = 2"),
        ("n < 5", "n > 7", "n > 7"),
        ("n < 5", "n > 3", None),
        ("not yet good", "otherwise", None),
    ],
)
def test_exit_condition_is_way_out_or_no_way_back(back: str, on: str, condition: str | None) -> None:
    workflow = looping_level(back, on, "n + 1")
    assert loop_at(workflow, "A") == loop_at(workflow, "B") == ("A", "B")
    assert exit_condition(workflow, "A") == condition
    if on == "otherwise" and condition is not None:
        assert equivalent(condition, f"not ({back})", [N])


def test_loop_at_task_in_no_or_two_loops_is_none() -> None:
    nested = level(
        "START -> A\nA -> B\nB -> B [m < 2]\nB -> C [m >= 2]\nC -> A [n < 2]\nC -> D [n >= 2]\nD -> END",
        parameters=(N, Parameter("m")),
    )
    assert [loop_at(nested, task) for task in "ABCD"] == [("A", "B", "C"), None, ("A", "B", "C"), None]
    assert [exit_condition(nested, task) for task in "ABCD"] == ["n >= 2", None, "n >= 2", None]
    assert loop_ends(nested, "D", {"n": 5, "m": 5}) is None
    assert execution_count(nested, "B", {"n": 5, "m": 5}) == 1


def test_loop_ends_not_entered_is_none() -> None:
    workflow = level("START -> A\nA -> B [n > 1]\nA -> C [otherwise]\nB -> B [n > 9]\nB -> C [n <= 9]\nC -> END")
    assert (loop_ends(workflow, "B", {"n": 0}), execution_count(workflow, "B", {"n": 0})) == (None, 0)
    assert (loop_ends(workflow, "B", {"n": Fraction(5)}), execution_count(workflow, "B", {"n": 5})) == (True, 1)
    assert isinstance(outcome(workflow, {"n": 5}), Run)
    with pytest.raises(UnknownNameError):
        loop_ends(workflow, "X", {"n": 5})


def test_loop_ends_behind_endless_loop_is_none() -> None:
    workflow = level("START -> A\nA -> A [n < 5]\nA -> B [otherwise]\nB -> B [m < 5]\nB -> C [otherwise]\nC -> END")
    changing = Task("A", effects=(Effect("n", "n - 1"),))
    whole = Workflow("W", tasks=(changing, Task("B"), Task("C")), links=workflow.links)
    assert outcome(whole, {"n": 0, "m": 9}) == Endless(frozenset("A"), (frozenset("A"),))
    assert [loop_ends(whole, task, {"n": 0, "m": 9}) for task in "AB"] == [False, None]


def test_exit_condition_two_exits_is_none() -> None:
    workflow = level("START -> A\nA -> B [n < 9]\nA -> C [n >= 9]\nB -> A [n < 5]\nB -> C [n >= 5]\nC -> END")
    assert loop_at(workflow, "A") == ("A", "B")
    assert exit_condition(workflow, "A") is None
