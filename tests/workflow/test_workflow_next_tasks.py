"""What can run after a beginning of a run, against all traces of levels played in every situation and interleaving."""

from __future__ import annotations

from collections import Counter
from random import Random

import pytest
from brute_force_beginnings import Trace, all_prefixes, all_traces, allowed_later, allowed_next
from brute_force_game import TooMuchError
from drawn_workflows import generate
from hypothesis import assume, given
from hypothesis import strategies as st
from workflow_builders import level
from workflow_simulation import a_level, linear_extensions, simulated, some_situation

from pytest_taskgraph.errors import UnknownNameError
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.workflow.model import Domain, Gateway, Parameter, Workflow
from pytest_taskgraph.workflow.semantics.all_runs import why_not_next
from pytest_taskgraph.workflow.semantics.execution import Run, outcome, run, tasks_after

AMONG = ("guards", "exclusive", "inclusive", "mixed", "parallel", "domains", "effects")
SMALL = recipes(max_tasks=8, among=AMONG, avoid=("loop",), max_cross_links=2)
LOOPING = recipes(max_tasks=9, among=(*AMONG, "loop"), max_cross_links=2)
RANDOMS = st.randoms(use_true_random=False)
N = (Parameter("n", domain=Domain("integer", 0, 9)),)
FORK = level("START -> A\nA -> B\nA -> C\nB -> D\nC -> D\nD -> END")
LOOP = level("START -> A\nA -> B\nB -> C\nC -> A [n < 3]\nC -> D [otherwise]\nD -> END", parameters=N)
TWICE = level(
    """
    START -> A
    A -> B [n > 4]
    A -> C [n <= 4]
    B -> D
    C -> D
    D -> E [n > 4]
    D -> F [n <= 4]
    E -> G
    F -> G
    G -> END
    """,
    parameters=N,
)


def played(workflow: Workflow) -> set[Trace]:
    """Return the traces of a level; reject it if there are too many to be listed."""
    try:
        return all_traces(workflow)
    except TooMuchError:
        assume(False)
        raise


@given(workflows(SMALL))
def test_why_not_next_contradicts_no_trace(workflow: Workflow) -> None:
    traces = played(workflow)
    prefixes = all_prefixes(traces)
    for prefix in Random(len(prefixes)).sample(prefixes, min(25, len(prefixes))):
        following, later = allowed_next(traces, prefix), allowed_later(traces, prefix)
        for task in workflow.task_names:
            why = why_not_next(workflow, prefix, task)
            assert not (why and task in following)
            assert not (why == "excluded" and task in later)
            assert (why == "done") is (task in prefix)


@given(workflows(LOOPING), RANDOMS)
def test_why_not_next_contradicts_no_trace_with_loops(workflow: Workflow, rng: Random) -> None:
    found = [simulated(workflow, some_situation(workflow, rng), 14) for _ in range(25)]
    for trace in {trace for traces in found for trace in traces or ()}:
        for at, task in enumerate(trace):
            assert why_not_next(workflow, trace[:at], task) == ""


@given(RANDOMS)
def test_why_not_next_of_any_level_contradicts_no_run(rng: Random) -> None:
    workflow = a_level(rng)
    results = [outcome(workflow, {"n": n, "m": m}) for n in range(-2, 6) for m in range(-1, 4)]
    for result in dict.fromkeys(each for each in results if isinstance(each, Run) and len(each.tasks) < 30):
        for at, task in enumerate(result.tasks):
            assert why_not_next(workflow, result.tasks[:at], task) == ""


def test_why_not_next_generated_workflows_are_mostly_decided() -> None:
    counts = Counter[str]()
    for seed in range(12):
        workflow = generate(Recipe(tasks=9, features=frozenset({"exclusive", "inclusive", "parallel"})), seed)
        traces = all_traces(workflow)
        for prefix in all_prefixes(traces):
            following = allowed_next(traces, prefix)
            counts.update(why_not_next(workflow, prefix, task) for task in workflow.task_names if task not in following)
    assert counts[""] < 0.05 * counts.total()
    assert min(counts["later"], counts["excluded"], counts["done"]) > 50


@pytest.mark.parametrize(
    ("workflow", "done", "reasons"),
    [
        (FORK, "A", {"A": "done", "B": "", "C": "", "D": "later"}),
        (FORK, "AC", {"B": "", "C": "done", "D": "later"}),
        (TWICE, "ABD", {"C": "excluded", "E": "", "F": "excluded", "G": "later"}),
        (TWICE, "ACD", {"B": "excluded", "E": "excluded", "F": ""}),
        (LOOP, "AB", {"A": "done", "B": "done", "C": "", "D": "later"}),
        (LOOP, "ABC", {"A": "", "D": ""}),
        (LOOP, "ABCD", {"D": "done"}),
    ],
)
def test_why_not_next_names_reason(workflow: Workflow, done: str, reasons: dict[str, str]) -> None:
    assert {task: why_not_next(workflow, tuple(done), task) for task in reasons} == reasons


def test_why_not_next_takes_way_past_task_that_has_not_run() -> None:
    text = "START -> A\nA -> X\nX -> U\nX -> J\nU -> J\nJ -> G\nG -> T\nG -> W\nT -> K\nW -> K\nK -> END"
    gateways = [Gateway("X", "exclusive", "split"), Gateway("J", "exclusive", "join")]
    gateways += [Gateway("G", "inclusive", "split"), Gateway("K", "inclusive", "join")]
    workflow = level(text, *gateways)
    assert [why_not_next(workflow, "A", task) for task in "UTW"] == ["", "", ""]
    assert [why_not_next(workflow, "AT", task) for task in "UTW"] == ["excluded", "done", ""]


def test_why_not_next_unknown_task_raises() -> None:
    with pytest.raises(UnknownNameError, match="'Z'"):
        why_not_next(FORK, ["A"], "Z")


@given(RANDOMS)
def test_tasks_after_agrees_with_linear_extensions(rng: Random) -> None:
    workflow = a_level(rng)
    result = run(workflow, {"n": rng.randrange(-2, 6), "m": rng.randrange(-1, 4)})
    assume(result is not None and len(result.tasks) < 9)
    assert result is not None
    orders = linear_extensions(result)
    for prefix in Random(1).sample(all_prefixes(orders), min(20, len(all_prefixes(orders)))):
        assert tasks_after(result, prefix) == allowed_next(orders, prefix)


def test_tasks_after_what_no_order_begins_with_are_none() -> None:
    only_run = run(FORK, {})
    assert only_run is not None
    assert (
        tasks_after(only_run, ["A", "D"]) == tasks_after(only_run, ["A", "A"]) == tasks_after(only_run, "ABCD") == set()
    )
