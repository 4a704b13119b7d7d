"""Orders and what holds of all runs, against the traces of a simulation in many situations."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from random import Random

import pytest
from drawn_workflows import generate
from hypothesis import given
from hypothesis import strategies as st
from workflow_builders import level
from workflow_simulation import a_level, linear_extensions, simulated, some_situation

from pytest_taskgraph.errors import UnknownNameError
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.workflow.model import Effect, Parameter, Task, Workflow
from pytest_taskgraph.workflow.semantics.all_runs import always_before, executed_in_every_situation, some_run_in_order
from pytest_taskgraph.workflow.semantics.execution import (
    Endless,
    Run,
    allows,
    allows_among_others,
    next_task,
    outcome,
)

AMONG = ("guards", "exclusive", "inclusive", "loop", "effects", "domains", "mixed", "parallel")
FLOWS = recipes(max_tasks=9, among=AMONG, max_cross_links=2)
RANDOMS = st.randoms(use_true_random=False)
N = (Parameter("n"),)
CHOICE = level(
    "START -> A\nA -> B [n > 1]\nA -> C [n <= 1]\nB -> D\nC -> D\nD -> E\nD -> F\nE -> G\nF -> G\nG -> END",
    parameters=N,
)
GAP = level("START -> A\nA -> B [n > 3]\nA -> C [n < 2]\nB -> D\nC -> D\nD -> END", parameters=N)


def looping_level(effect: str, repeat: str = "n < 3") -> Workflow:
    workflow = level(f"START -> A\nA -> B\nB -> A [{repeat}]\nB -> C [otherwise]\nC -> END", parameters=N)
    tasks = (Task("A", effects=(Effect("n", effect),)), Task("B"), Task("C"))
    return Workflow("W", tasks=tasks, links=workflow.links, parameters=N)


def with_effects(workflow: Workflow, task: str, n: str) -> Workflow:
    """The level, the task of it made to set n."""
    effects = (Effect("n", n),)
    return replace(
        workflow,
        tasks=tuple(replace(task_found, effects=effects * (task_found.name == task)) for task_found in workflow.tasks),
    )


def inside(trace: tuple[str, ...], tasks: tuple[str, ...]) -> bool:
    steps = iter(trace)
    return all(task in steps for task in tasks)


def brute(workflow: Workflow, rng: Random, situations: int = 25) -> list[set[tuple[str, ...]] | None]:
    return [simulated(workflow, some_situation(workflow, rng), 14) for _ in range(situations)]


@given(workflows(FLOWS), RANDOMS)
def test_all_runs_answers_agree_with_traces(workflow: Workflow, rng: Random) -> None:
    traces = [trace for traces in brute(workflow, rng) for trace in traces or ()]
    for a in workflow.task_names:
        result = executed_in_every_situation(workflow, a)
        assert result is not True or all(a in trace for trace in traces)
        for b in workflow.task_names:
            both = [trace for trace in traces if a in trace and b in trace and a != b]
            last = [len(trace) - 1 - trace[::-1].index(a) for trace in both]
            if always_before(workflow, a, b):
                assert all(i < trace.index(b) for i, trace in zip(last, both, strict=True))
    for _ in range(10):
        tasks = tuple(rng.sample(workflow.task_names, min(len(workflow.tasks), 2 + rng.randrange(3))))
        if some_run_in_order(workflow, tasks) is False:
            assert not any(inside(trace, tasks) for trace in traces)


@given(RANDOMS)
def test_all_runs_answers_of_any_level_agree_with_runs(rng: Random) -> None:
    workflow = a_level(rng)
    results = [outcome(workflow, {"n": Fraction(n, 2), "m": m}) for n in range(-5, 11) for m in range(-1, 4)]
    runs = [result for result in dict.fromkeys(results) if isinstance(result, Run) and len(result.tasks) < 30]
    decided = [result for result in results if isinstance(result, (Run, Endless))]
    for a in workflow.task_names:
        assert executed_in_every_situation(workflow, a) is not True or all(a in result.tasks for result in decided)
        for b in workflow.task_names:
            if a != b and always_before(workflow, a, b):
                assert not any(allows_among_others(result, (b, a)) for result in runs)
            if some_run_in_order(workflow, (a, b)) is False:
                assert not any(allows_among_others(result, (a, b)) for result in runs)


def test_all_runs_generated_workflow_is_mostly_decided() -> None:
    counts = {True: 0, False: 0, None: 0}
    for seed in range(20):
        features = frozenset({"exclusive", "inclusive", "loop", "effects", "parallel"})
        workflow = generate(Recipe(tasks=14, features=features), seed)
        for task in workflow.task_names:
            counts[executed_in_every_situation(workflow, task)] += 1
        for pair in permutations(Random(seed).sample(workflow.task_names, 4), 2):
            counts[some_run_in_order(workflow, pair)] += 1
    assert counts[None] < 0.02 * sum(counts.values())
    assert min(counts[True], counts[False]) > 50


@given(workflows(FLOWS), RANDOMS)
def test_allows_agrees_with_tokens(workflow: Workflow, rng: Random) -> None:
    situation = some_situation(workflow, rng)
    result = outcome(workflow, situation)
    if not isinstance(result, Run) or len(result.tasks) > 12:
        return
    traces = simulated(workflow, situation, 14) or set()
    for trace in sorted(traces)[:5]:
        assert allows(result, trace)
        for _ in range(4):
            i = rng.randrange(len(trace))
            swapped = list(trace)
            swapped[i - 1], swapped[i] = swapped[i], swapped[i - 1]
            for other in (tuple(swapped), trace[:i] + trace[i + 1 :], (*trace, trace[i]), trace[:i] + trace[i - 1 : i]):
                assert allows(result, other) == (other in traces)


@given(RANDOMS)
def test_allows_among_others_agrees_with_traces(rng: Random) -> None:
    result = outcome(a_level(rng), {"n": 1, "m": rng.randrange(3)})
    if not isinstance(result, Run) or len(result.tasks) > 9:
        return
    traces = linear_extensions(result)
    for _ in range(8):
        tasks = tuple(rng.choice(result.tasks) for _ in range(1 + rng.randrange(4)))
        assert allows_among_others(result, tasks) == any(inside(trace, tasks) for trace in traces)
        assert allows(result, tasks) == (tasks in traces)


@pytest.mark.parametrize(
    ("task", "n", "after"),
    [
        ("A", 2, "B"),
        ("A", 1.5, "B"),
        ("A", 1, "C"),
        ("B", 2, "D"),
        ("B", 1, None),
        ("D", 1, None),
        ("E", 1, "G"),
        ("G", 1, None),
    ],
)
def test_next_task_depends_on_situation(task: str, n: float, after: str | None) -> None:
    assert next_task(CHOICE, task, {"n": n}) == after


def test_next_task_in_loop_must_always_be_the_same() -> None:
    workflow = looping_level("n + 1")
    assert [next_task(workflow, task, {"n": 0}) for task in "ABC"] == ["B", None, None]
    assert next_task(workflow, "B", {"n": 2}) == "C"
    assert next_task(looping_level("n - 1"), "A", {"n": 0}) is None  # it never ends


@pytest.mark.parametrize(
    ("tasks", "answer"),
    [
        ("ABD", True), ("AFE", True), ("AEF", True), ("BC", False), ("CB", False), ("GA", False),
        ("EGF", False), ("AA", False), ("A", True), ("", True), ("CFG", True),
    ],
)  # fmt: skip
def test_some_run_in_order_is_decided(tasks: str, answer: bool) -> None:
    assert some_run_in_order(CHOICE, tuple(tasks)) is answer


def test_some_run_in_order_loop_reverses_tasks() -> None:
    assert some_run_in_order(looping_level("n + 1"), ("B", "A")) is True
    assert some_run_in_order(looping_level("n + 1"), ("A", "A", "B", "C")) is True
    assert some_run_in_order(looping_level("n + 1"), ("C", "A")) is False
    assert always_before(looping_level("n + 1"), "A", "B") is None
    assert always_before(looping_level("n + 1"), "A", "C") is True
    assert always_before(looping_level("n + 1"), "B", "A") is False


def test_some_run_in_order_task_behind_loop_may_be_first() -> None:
    links = "START -> A\nA -> B\nA -> C\nB -> A [n > 0]\nB -> END [otherwise]\nC -> END"
    assert some_run_in_order(level(links, parameters=N), ("C", "B")) is True
    assert some_run_in_order(level(links, parameters=N), ("C", "A")) is False


def test_some_run_in_order_behind_outer_loop_may_be_first() -> None:
    links = "START -> A\nA -> B\nA -> C\nB -> D [n = 0]\nD -> B\nB -> A [n = 5]\nB -> END [otherwise]\nC -> END"
    workflow = with_effects(level(links, parameters=N), "D", "1")
    assert [some_run_in_order(workflow, ("C", task)) for task in "ABD"] == [False, True, True]
    assert some_run_in_order(workflow, ("D", "C")) is True


def test_some_run_in_order_without_run_is_undecided() -> None:
    links = "START -> A\nA -> B [n < 3]\nA -> C [otherwise]\nB -> C\nC -> END"
    workflow = with_effects(level(links, parameters=N), "A", "5")
    assert some_run_in_order(workflow, ("A", "B")) is None
    assert some_run_in_order(workflow, ("A", "C")) is True


@pytest.mark.parametrize(
    ("a", "b", "answer"),
    [("A", "B", True), ("B", "G", True), ("G", "B", False), ("E", "F", False), ("B", "C", None), ("A", "A", False)],
)
def test_always_before_is_decided(a: str, b: str, answer: bool | None) -> None:
    assert always_before(CHOICE, a, b) is answer


@pytest.mark.parametrize(
    ("workflow", "task", "answer"),
    [
        (CHOICE, "D", True),
        (CHOICE, "B", False),
        (GAP, "A", True),
        (GAP, "B", False),
        (GAP, "D", None),  # no way is open for n = 2.5
        (looping_level("n + 1"), "C", True),
        (looping_level("n - 1"), "C", False),
        (looping_level("n - 1"), "B", True),
        (looping_level("n + 1", "n != 3"), "C", False),
        (looping_level("n * 2"), "C", False),
        (looping_level("m + 1"), "C", False),
    ],
)
def test_executed_in_every_situation_is_decided(workflow: Workflow, task: str, answer: bool | None) -> None:
    assert executed_in_every_situation(workflow, task) is answer


@pytest.mark.parametrize(("value", "answer"), [("n + 1", True), ("n - 1", None)])
def test_executed_beside_loop_only_if_loop_ends(value: str, answer: bool | None) -> None:
    links = "START -> S\nS -> A\nS -> T\nA -> A [n < 3]\nA -> END [otherwise]\nT -> END"
    workflow = with_effects(level(links, parameters=N), "A", value)
    assert executed_in_every_situation(workflow, "T") is answer


def test_all_runs_unknown_name_raises_error() -> None:
    for ask in (
        lambda: next_task(CHOICE, "X", {}),
        lambda: some_run_in_order(CHOICE, ["X"]),
        lambda: always_before(CHOICE, "A", "X"),
        lambda: executed_in_every_situation(CHOICE, "X"),
    ):
        with pytest.raises(UnknownNameError):
            ask()
