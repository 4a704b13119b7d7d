"""What runs begin with, against all traces of levels that are played in every situation and interleaving."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from brute_force_beginnings import Trace, all_prefixes, all_traces, allowed_later, allowed_next, block_traces
from brute_force_game import TooMuchError
from drawn_workflows import generate
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from workflow_builders import level, rendered, tasks_of

from pytest_taskgraph.benchmarks.steps.workflows import beginning_search
from pytest_taskgraph.benchmarks.steps.workflows.run_beginnings import RunBeginnings
from pytest_taskgraph.errors import NoCaseError
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.generation.strategies import recipes, workflows
from pytest_taskgraph.workflow.bounds import reached_bounds
from pytest_taskgraph.workflow.model import Domain, Effect, Gateway, Parameter, Task, Workflow
from pytest_taskgraph.workflow.semantics.block_structure import Block

AMONG = ("guards", "exclusive", "inclusive", "mixed", "parallel", "domains", "hierarchy", "effects")
SMALL = recipes(max_tasks=8, among=AMONG, avoid=("loop",))
CROSSED = recipes(max_tasks=8, among=("guards", "exclusive", "parallel"), avoid=("loop",), max_cross_links=2)
RANDOMS = st.randoms(use_true_random=False)
N = (Parameter("n", domain=Domain("integer", 0, 9)),)
FORK = level("START -> A\nA -> B\nA -> C\nB -> D\nC -> D\nD -> END")
TWICE = """
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
"""


def played(workflow: Workflow) -> set[Trace]:
    """Return the traces of a level; reject it if there are too many to be listed."""
    try:
        return all_traces(workflow)
    except TooMuchError:
        assume(False)
        raise


def beginnings_of(workflow: Workflow) -> RunBeginnings:
    """Return the beginnings of a level; reject it if they are not known exactly."""
    try:
        return RunBeginnings(workflow)
    except NoCaseError:
        assume(False)
        raise


def differences(
    beginnings: RunBeginnings, traces: set[Trace], undecided: bool = False
) -> list[tuple[Trace, str, object]]:
    """Return the answers that contradict the traces, for every prefix of a trace, at most 25, and every task."""
    mismatches: list[tuple[Trace, str, object]] = []
    prefixes = all_prefixes(traces)
    for prefix in Random(len(prefixes)).sample(prefixes, min(25, len(prefixes))):
        following, later = allowed_next(traces, prefix), allowed_later(traces, prefix)
        for task in beginnings.level.task_names:
            for answer, true in (
                (beginnings.allow_next(prefix, task), task in following),
                (beginnings.allow_later(prefix, task), task in later),
            ):
                if answer is not true and not (undecided and answer is None):
                    mismatches.append((prefix, task, answer))
    return mismatches


@settings(max_examples=60, deadline=None)
@given(workflows(SMALL))
def test_beginnings_of_generated_workflows_are_those_of_all_traces(workflow: Workflow) -> None:
    assert differences(beginnings_of(workflow), played(workflow)) == []


@settings(max_examples=40, deadline=None)
@given(workflows(CROSSED))
def test_beginnings_with_cross_links_contradict_no_trace(workflow: Workflow) -> None:
    assert differences(beginnings_of(workflow), played(workflow), undecided=True) == []


@settings(max_examples=40, deadline=None)
@given(workflows(SMALL), RANDOMS)
def test_allow_next_after_a_drawn_sequence_agrees_with_all_traces(workflow: Workflow, rng: Random) -> None:
    traces, beginnings = played(workflow), beginnings_of(workflow)
    for _ in range(20):
        *prefix, task = rng.sample(workflow.task_names, rng.randint(1, len(workflow.tasks)))
        assert beginnings.allow_next(prefix, task) is (task in allowed_next(traces, tuple(prefix)))


@settings(max_examples=40, deadline=None)
@given(workflows(SMALL), st.integers(0, 99))
def test_draw_from_a_generated_workflow_returns_one_of_its_traces(workflow: Workflow, seed: int) -> None:
    assert beginnings_of(workflow).draw(Random(seed)) in played(workflow)


def blocks(names: list[str], rng: Random) -> Block:
    """Return a random block over some tasks, without loops."""
    if len(names) == 1:
        return Block("task", names[0])
    kind = rng.choice(["sequence", "parallel", "exclusive", "inclusive"])
    cuts = sorted(rng.sample(range(1, len(names)), rng.randint(1, min(2, len(names) - 1))))
    children = [blocks(names[a:b], rng) for a, b in zip([0, *cuts], [*cuts, len(names)], strict=True)]
    if kind == "exclusive" and rng.random() < 0.4:
        children.append(Block("sequence"))
    return Block(kind, "", tuple(children))  # type: ignore[arg-type]


@settings(max_examples=60, deadline=None)
@given(st.integers(2, 7), RANDOMS)
def test_beginnings_with_gateways_without_conditions_are_those_of_blocks(count: int, rng: Random) -> None:
    block = blocks([f"T{number}" for number in range(count)], rng)
    closed = rendered(block, rng)
    workflow = replace(closed, links=tuple(replace(link, guard=None) for link in closed.links), parameters=())

    assert len(workflow.tasks) == len(tasks_of(block))
    assert differences(RunBeginnings(workflow), block_traces(block)) == []


def test_allow_next_in_a_fork_returns_both_branches_and_not_the_join() -> None:
    beginnings = RunBeginnings(FORK)

    assert [beginnings.allow_next(["A"], task) for task in "ABCD"] == [False, True, True, False]
    assert [beginnings.allow_next(["A", "C"], task) for task in "ABCD"] == [False, True, False, False]
    assert [beginnings.allow_later(["A", "C"], task) for task in "ABCD"] == [False, True, False, True]


def test_allow_next_at_a_choice_that_an_earlier_one_decides_is_exact() -> None:
    beginnings = RunBeginnings(level(TWICE, parameters=N))

    assert [beginnings.allow_next(["A", "B", "D"], task) for task in "EF"] == [True, False]
    assert [beginnings.allow_next(["A", "C", "D"], task) for task in "EF"] == [False, True]
    assert beginnings.allow_later(["A", "B"], "F") is False


def test_allow_next_without_domain_decides_what_all_numbers_agree_on() -> None:
    text = (
        TWICE.replace("n > 4", "n > 3").replace("D -> E [n > 3]", "D -> E [n < 4]").replace("[n <= 4]", "[otherwise]")
    )
    beginnings = RunBeginnings(level(text, parameters=(Parameter("n"),)))

    assert beginnings.allow_next(["A", "B", "D"], "E") is None  # n = 3.5, but no integer
    assert beginnings.allow_next(["A", "B", "D"], "F") is True
    assert beginnings.allow_next(["A", "C", "D"], "F") is False


def test_allow_next_where_no_way_is_open_has_no_run() -> None:
    gap = level("START -> A\nA -> B [n > 6]\nA -> C [n < 2]\nB -> D\nC -> D [n > 6]\nD -> END", parameters=N)

    assert [RunBeginnings(gap).allow_next(["A"], task) for task in "BC"] == [True, False]


def test_allow_next_with_prose_at_the_only_choice_takes_either_way() -> None:
    text = "START -> A\nA -> B [the customer agrees]\nA -> C [otherwise]\nB -> D\nC -> D\nD -> END"
    beginnings = RunBeginnings(level(text))

    assert [beginnings.allow_next(["A"], task) for task in "BCD"] == [True, True, False]
    assert [beginnings.allow_next(["A", "B"], task) for task in "CD"] == [False, True]


PROSE_TWICE = """
    START -> A
    A -> B [it is late]
    A -> C [otherwise]
    B -> D
    C -> D
    D -> E [it is very late]
    D -> F [otherwise]
    E -> END
    F -> END
"""
LEFT_OUT = {
    "has a loop": level("START -> A\nA -> B\nB -> A [n < 3]\nB -> C [otherwise]\nC -> END", parameters=N),
    "may depend on each other": level(PROSE_TWICE),
    "ways out of 'A' may exclude": level("START -> A\nA -> B [n > 3]\nA -> C [n < 4]\nB -> END\nC -> END"),
    "may come to 'J', which awaits one": level(
        "START -> A\nA -> B\nA -> C\nB -> J\nC -> J\nJ -> D\nD -> END", Gateway("J", "exclusive", "join")
    ),
    "not on a path": replace(FORK, tasks=(*FORK.tasks, Task("Lost"))),
    "a task changes 'n'": replace(
        level(TWICE, parameters=N),
        tasks=tuple(Task(name, effects=(Effect("n", "n + 1"),) * (name == "B")) for name in "ABCDEFG"),
    ),
    "with words and with numbers": level(TWICE.replace("n > 4", "n = high", 1).replace("n <= 4", "otherwise", 1)),
}


@pytest.mark.parametrize("reason", LEFT_OUT)
def test_run_beginnings_of_a_level_that_is_not_exact_says_why(reason: str) -> None:
    with pytest.raises(NoCaseError, match=reason):
        RunBeginnings(LEFT_OUT[reason])


def test_open_inclusive_choice_with_many_ways_is_left_out() -> None:
    ways = "\n".join(f"G -> T{number}\nT{number} -> J" for number in range(6))
    many = level(f"START -> G\n{ways}\nJ -> END", Gateway("G", "inclusive", "split"), Gateway("J", "inclusive", "join"))

    with pytest.raises(NoCaseError, match="has 6 ways; at most 5"):
        RunBeginnings(many)


def test_allow_next_beyond_the_bound_is_undecided_and_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(beginning_search, "MOST_VISITS", 3)
    with reached_bounds() as bounds:
        answer = RunBeginnings(level(TWICE, parameters=N)).allow_next(["A", "B"], "D")

    assert answer is None
    assert bounds == {"steps"}


def test_allow_next_takes_the_way_past_a_task_that_is_not_in_the_prefix() -> None:
    text = "START -> A\nA -> X\nX -> U\nX -> J\nU -> J\nJ -> G\nG -> T\nG -> W\nT -> K\nW -> K\nK -> END"
    gateways = [Gateway("X", "exclusive", "split"), Gateway("J", "exclusive", "join")]
    gateways += [Gateway("G", "inclusive", "split"), Gateway("K", "inclusive", "join")]
    beginnings = RunBeginnings(level(text, *gateways))

    assert [beginnings.allow_next(["A"], task) for task in "UTW"] == [True, True, True]
    assert [beginnings.allow_next(["A", "T"], task) for task in "UTW"] == [False, False, True]


def test_allow_next_before_choice_without_open_way_finds_whole_run() -> None:
    gap = level("START -> A\nA -> B\nB -> C\nC -> D [n > 6]\nC -> E [n = 5]\nD -> END\nE -> END", parameters=N)

    assert RunBeginnings(gap).allow_next(["A"], "B") is True


def test_allow_next_behind_join_of_branch_not_taken_is_undecided() -> None:
    text = "START -> A\nA -> X\nX -> B\nX -> C\nB -> J\nC -> J\nJ -> D\nD -> END"
    beginnings = RunBeginnings(level(text, Gateway("X", "exclusive", "split"), Gateway("J", "parallel", "join")))

    assert beginnings.allow_next(["A", "B"], "D") is None
    assert beginnings.allow_next(["A", "B"], "C") is False


def test_allow_next_where_a_number_opens_both_exclusive_ways_is_undecided() -> None:
    text = "START -> G\nG -> A [n > 3]\nG -> B [n < 4]\nA -> J\nB -> J\nJ -> H\n"
    text += "H -> E [n > 3]\nH -> F [n < 4]\nE -> END\nF -> END"
    gateways = (Gateway(name, "exclusive", "join" if name == "J" else "split") for name in "GHJ")
    beginnings = RunBeginnings(level(text, *gateways, parameters=(Parameter("n"),)))

    assert beginnings.allow_next(["A"], "E") is True
    assert beginnings.allow_next(["A"], "F") is None  # n = 3.5


def test_exclusive_join_behind_a_choice_inside_a_fork_is_exact() -> None:
    text = "START -> A\nA -> B\nA -> X\nX -> C\nX -> D\nC -> J\nD -> J\nJ -> E\nB -> F\nE -> F\nF -> END"
    beginnings = RunBeginnings(level(text, Gateway("X", "exclusive", "split"), Gateway("J", "exclusive", "join")))

    assert [beginnings.allow_next(["A", "C"], task) for task in "BDEF"] == [True, False, True, False]


@pytest.mark.parametrize("seed", range(2))
def test_beginnings_of_a_workflow_of_200_tasks_are_all_decided(seed: int) -> None:
    features = frozenset({"parallel", "exclusive", "inclusive", "mixed"})
    workflow = generate(Recipe(tasks=200, features=features, avoid=frozenset({"loop"})), seed)
    beginnings, rng = RunBeginnings(workflow), Random(seed)
    order = beginnings.draw(rng)
    for place in rng.sample(range(len(order)), 4):
        assert beginnings.allow_next(order[:place], order[place]) is True
        answers = [beginnings.allow_next(order[:place], task) for task in rng.sample(workflow.task_names, 8)]
        assert None not in answers
        assert False in answers
