"""Orders and what holds of all runs, against the traces of a simulation in many situations."""

from __future__ import annotations

from dataclasses import replace
from fractions import Fraction
from itertools import permutations
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from workflow_builders import level
from workflow_simulation import a_level, linear_extensions, simulated, some_situation

from pytest_taskgraph.errors import UnknownNameError
from pytest_taskgraph.generation.builder import generate
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.workflow.model import Effect, Parameter, Task, Workflow
from pytest_taskgraph.workflow.semantics.all_runs import always_before, executed_in_every_situation, some_run_in_order
from pytest_taskgraph.workflow.semantics.execution import (
    Endless,
    Run,
    allows,
    allows_among_others,
    can_occur,
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


def looping(effect: str, repeat: str = "n < 3") -> Workflow:
    found = level(f"START -> A\nA -> B\nB -> A [{repeat}]\nB -> C [otherwise]\nC -> END", parameters=N)
    tasks = (Task("A", effects=(Effect("n", effect),)), Task("B"), Task("C"))
    return Workflow("W", tasks=tasks, links=found.links, parameters=N)


def setting(found: Workflow, task: str, n: str) -> Workflow:
    """The level, the task of it made to set n."""
    effects = (Effect("n", n),)
    return replace(found, tasks=tuple(replace(one, effects=effects * (one.name == task)) for one in found.tasks))


def inside(trace: tuple[str, ...], tasks: tuple[str, ...]) -> bool:
    steps = iter(trace)
    return all(task in steps for task in tasks)


def brute(workflow: Workflow, rng: Random, situations: int = 25) -> list[set[tuple[str, ...]] | None]:
    return [simulated(workflow, some_situation(workflow, rng), 14) for _ in range(situations)]


@settings(max_examples=60, deadline=None)
@given(workflows(FLOWS), RANDOMS)
def test_no_answer_about_all_runs_is_contradicted_by_a_trace(workflow: Workflow, rng: Random) -> None:
    found = brute(workflow, rng)
    traces = [trace for some in found for trace in some or ()]
    for a in workflow.task_names:
        told = executed_in_every_situation(workflow, a)
        assert told is not True or all(a in trace for trace in traces)
        for b in workflow.task_names:
            both = [trace for trace in traces if a in trace and b in trace and a != b]
            last = [len(trace) - 1 - trace[::-1].index(a) for trace in both]
            if always_before(workflow, a, b):
                assert all(i < trace.index(b) for i, trace in zip(last, both, strict=True))
    for _ in range(10):
        tasks = tuple(rng.sample(workflow.task_names, min(len(workflow.tasks), 2 + rng.randrange(3))))
        if some_run_in_order(workflow, tasks) is False:
            assert not any(inside(trace, tasks) for trace in traces)


@settings(max_examples=40, deadline=None)
@given(RANDOMS)
def test_no_answer_about_all_runs_of_any_level_is_contradicted_by_a_run(rng: Random) -> None:
    found = a_level(rng)
    told = [outcome(found, {"n": Fraction(n, 2), "m": m}) for n in range(-5, 11) for m in range(-1, 4)]
    runs = [one for one in dict.fromkeys(told) if isinstance(one, Run) and len(one.tasks) < 30]
    decided = [one for one in told if isinstance(one, (Run, Endless))]
    for a in found.task_names:
        assert executed_in_every_situation(found, a) is not True or all(a in one.tasks for one in decided)
        for b in found.task_names:
            if a != b and always_before(found, a, b):
                assert not any(allows_among_others(one, (b, a)) for one in runs)
            if some_run_in_order(found, (a, b)) is False:
                assert not any(allows_among_others(one, (a, b)) for one in runs)


def test_generated_workflows_leave_little_undecided() -> None:
    counts = {True: 0, False: 0, None: 0}
    for seed in range(20):
        features = frozenset({"exclusive", "inclusive", "loop", "effects", "parallel"})
        found = generate(Recipe(tasks=14, features=features), seed)
        for task in found.task_names:
            counts[executed_in_every_situation(found, task)] += 1
        for pair in permutations(Random(seed).sample(found.task_names, 4), 2):
            counts[some_run_in_order(found, pair)] += 1
    assert counts[None] < 0.02 * sum(counts.values())
    assert min(counts[True], counts[False]) > 50


@settings(max_examples=60, deadline=None)
@given(workflows(FLOWS), RANDOMS)
def test_a_trace_can_occur_just_if_tokens_make_it(workflow: Workflow, rng: Random) -> None:
    situation = some_situation(workflow, rng)
    told = outcome(workflow, situation)
    if not isinstance(told, Run) or len(told.tasks) > 12:
        return
    traces = simulated(workflow, situation, 14) or set()
    for trace in sorted(traces)[:5]:
        assert can_occur(workflow, situation, trace)
        for _ in range(4):
            i = rng.randrange(len(trace))
            swapped = list(trace)
            swapped[i - 1], swapped[i] = swapped[i], swapped[i - 1]
            for other in (tuple(swapped), trace[:i] + trace[i + 1 :], (*trace, trace[i]), trace[:i] + trace[i - 1 : i]):
                assert can_occur(workflow, situation, other) == (other in traces)


@settings(max_examples=60, deadline=None)
@given(RANDOMS)
def test_tasks_can_run_in_an_order_among_others_just_if_a_trace_holds_it(rng: Random) -> None:
    told = outcome(a_level(rng), {"n": 1, "m": rng.randrange(3)})
    if not isinstance(told, Run) or len(told.tasks) > 9:
        return
    traces = linear_extensions(told)
    for _ in range(8):
        tasks = tuple(rng.choice(told.tasks) for _ in range(1 + rng.randrange(4)))
        assert allows_among_others(told, tasks) == any(inside(trace, tasks) for trace in traces)
        assert allows(told, tasks) == (tasks in traces)


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
def test_the_next_task_hangs_on_the_situation(task: str, n: float, after: str | None) -> None:
    assert next_task(CHOICE, task, {"n": n}) == after


def test_the_next_task_in_a_loop_is_told_only_if_it_is_always_the_same() -> None:
    found = looping("n + 1")
    assert [next_task(found, task, {"n": 0}) for task in "ABC"] == ["B", None, None]
    assert next_task(found, "B", {"n": 2}) == "C"
    assert next_task(looping("n - 1"), "A", {"n": 0}) is None  # it never ends


@pytest.mark.parametrize(
    ("tasks", "answer"),
    [
        ("ABD", True), ("AFE", True), ("AEF", True), ("BC", False), ("CB", False), ("GA", False),
        ("EGF", False), ("AA", False), ("A", True), ("", True), ("CFG", True),
    ],
)  # fmt: skip
def test_some_run_may_hold_an_order(tasks: str, answer: bool) -> None:
    assert some_run_in_order(CHOICE, tuple(tasks)) is answer


def test_a_loop_lets_later_tasks_come_before_earlier_ones() -> None:
    assert some_run_in_order(looping("n + 1"), ("B", "A")) is True
    assert some_run_in_order(looping("n + 1"), ("A", "A", "B", "C")) is True
    assert some_run_in_order(looping("n + 1"), ("C", "A")) is False
    assert always_before(looping("n + 1"), "A", "B") is None
    assert always_before(looping("n + 1"), "A", "C") is True
    assert always_before(looping("n + 1"), "B", "A") is False


def test_a_task_behind_a_loop_may_run_before_one_that_the_last_pass_still_runs() -> None:
    links = "START -> A\nA -> B\nA -> C\nB -> A [n > 0]\nB -> END [otherwise]\nC -> END"
    assert some_run_in_order(level(links, parameters=N), ("C", "B")) is True
    assert some_run_in_order(level(links, parameters=N), ("C", "A")) is False


def test_a_task_behind_the_outer_loop_may_run_before_one_in_the_inner_loop() -> None:
    links = "START -> A\nA -> B\nA -> C\nB -> D [n = 0]\nD -> B\nB -> A [n = 5]\nB -> END [otherwise]\nC -> END"
    found = setting(level(links, parameters=N), "D", "1")
    assert [some_run_in_order(found, ("C", task)) for task in "ABD"] == [False, True, True]
    assert some_run_in_order(found, ("D", "C")) is True


def test_an_order_that_no_run_is_found_to_hold_is_undecided() -> None:
    links = "START -> A\nA -> B [n < 3]\nA -> C [otherwise]\nB -> C\nC -> END"
    found = setting(level(links, parameters=N), "A", "5")
    assert some_run_in_order(found, ("A", "B")) is None
    assert some_run_in_order(found, ("A", "C")) is True


@pytest.mark.parametrize(
    ("a", "b", "answer"),
    [("A", "B", True), ("B", "G", True), ("G", "B", False), ("E", "F", False), ("B", "C", None), ("A", "A", False)],
)
def test_a_task_may_always_be_before_another(a: str, b: str, answer: bool | None) -> None:
    assert always_before(CHOICE, a, b) is answer


@pytest.mark.parametrize(
    ("found", "task", "answer"),
    [
        (CHOICE, "D", True),
        (CHOICE, "B", False),
        (GAP, "A", True),
        (GAP, "B", False),
        (GAP, "D", None),  # no way is open for n = 2.5
        (looping("n + 1"), "C", True),
        (looping("n - 1"), "C", False),
        (looping("n - 1"), "B", True),
        (looping("n + 1", "n != 3"), "C", False),
        (looping("n * 2"), "C", False),
        (looping("m + 1"), "C", False),
    ],
)
def test_a_task_may_be_executed_in_every_situation(found: Workflow, task: str, answer: bool | None) -> None:
    assert executed_in_every_situation(found, task) is answer


@pytest.mark.parametrize(("value", "answer"), [("n + 1", True), ("n - 1", None)])
def test_executed_beside_a_loop_only_if_the_loop_ends(value: str, answer: bool | None) -> None:
    links = "START -> S\nS -> A\nS -> T\nA -> A [n < 3]\nA -> END [otherwise]\nT -> END"
    found = setting(level(links, parameters=N), "A", value)
    assert executed_in_every_situation(found, "T") is answer


def test_names_must_be_known() -> None:
    for ask in (
        lambda: next_task(CHOICE, "X", {}),
        lambda: can_occur(CHOICE, {}, ["X"]),
        lambda: some_run_in_order(CHOICE, ["X"]),
        lambda: always_before(CHOICE, "A", "X"),
        lambda: executed_in_every_situation(CHOICE, "X"),
    ):
        with pytest.raises(UnknownNameError):
            ask()
