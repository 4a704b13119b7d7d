from __future__ import annotations

import random
from dataclasses import replace
from itertools import combinations, product

import networkx as nx
import pytest
from hypothesis import given
from hypothesis import strategies as st
from steps import growth
from workflow_builders import a_tree, level, rendered, tasks_of

from pytest_taskgraph.errors import UnknownNameError
from pytest_taskgraph.workflow.model import END, START, Domain, Effect, Gateway, Link, Parameter, Task, Workflow
from pytest_taskgraph.workflow.semantics.block_structure import Block
from pytest_taskgraph.workflow.semantics.concurrency import (
    OPERATORS,
    block_after,
    can_run_in_parallel,
    operators,
    parallel_blocks,
    parallel_pairs,
    parallel_to,
)

N, MODE = (
    Parameter("n", domain=Domain("integer", 0, 4)),
    Parameter("mode", domain=Domain("words", words=("fast", "slow"))),
)
FORK = level("START -> A\nA -> B\nA -> C\nB -> E\nC -> D\nD -> E\nE -> END")
CHOICE = level("START -> A\nA -> B [n > 1]\nA -> C [otherwise]\nB -> D\nC -> D\nD -> END", parameters=(N,))
LOOP = level("START -> A\nA -> B\nB -> C\nC -> B [n > 1]\nC -> D [otherwise]\nD -> END", parameters=(N,))


def test_parallel_branches_of_fork_but_not_steps_of_branch() -> None:
    assert parallel_to(FORK, "B") == ("C", "D")
    assert parallel_to(FORK, "C") == ("B",)
    assert parallel_to(FORK, "A") == parallel_to(FORK, "E") == ()
    assert can_run_in_parallel(FORK, "B", "B") is False


@pytest.mark.parametrize(
    ("first", "second", "answer"),
    [
        ("n > 1", "otherwise", False),
        ("n > 1", "n > 2", True),
        ("n > 3", "n < 9", True),
        ("n > 4", "n < 9", False),  # n is 4 at most
        ("enough", "too much", None),
        ("enough", "enough", True),
        ("enough", "otherwise", False),
    ],
)
def test_parallel_branches_of_choice_if_one_run_takes_both(first: str, second: str, answer: bool | None) -> None:
    workflow = level(f"START -> A\nA -> B [{first}]\nA -> C [{second}]\nB -> END\nC -> END", parameters=(N,))
    assert can_run_in_parallel(workflow, "B", "C") is answer
    assert parallel_to(workflow, "B") == (None if answer is None else ("C",) if answer else ())


def two_choices(guard: str, beside: str) -> Workflow:
    """Two branches, in each of which a guard decides whether B or C is executed at all."""
    text = (
        f"START -> A\nA -> P\nA -> Q\nP -> B [{guard}]\nP -> END [otherwise]\nQ -> C [{beside}]\nQ -> END [otherwise]"
    )
    return level(f"{text}\nB -> END\nC -> END", parameters=(N, MODE))


@pytest.mark.parametrize(
    ("guard", "beside", "answer"),
    [
        ("n > 1", "mode = fast", True),
        ("n > 1", "n > 2", True),
        ("n > 1", "n <= 1", False),
        ("n > 9", "mode = fast", False),
        ("all is well", "it rains", True),
        ("all is well", "all is well", True),
    ],
)
def test_parallel_guards_of_two_choices_must_hold_together(guard: str, beside: str, answer: bool) -> None:
    assert can_run_in_parallel(two_choices(guard, beside), "B", "C") is answer


def test_parallel_changing_parameter_is_undecided() -> None:
    workflow = two_choices("n > 1", "n <= 1")
    changing = tuple(
        replace(task, effects=(Effect("n", "n + 1"),)) if task.name == "A" else task for task in workflow.tasks
    )
    assert can_run_in_parallel(replace(workflow, tasks=changing), "B", "C") is None


def test_parallel_same_prose_later_is_undecided() -> None:
    text = "START -> A\nA -> P\nA -> Q\nP -> B [ok]\nP -> END [otherwise]\nQ -> END [ok]\nQ -> C [otherwise]"
    assert can_run_in_parallel(level(f"{text}\nB -> END\nC -> END"), "B", "C") is None


def test_parallel_situations_with_no_way_open_are_ignored() -> None:
    text = "START -> A\nA -> P\nA -> Q\nP -> B [n > 1]\nP -> END [otherwise]\nQ -> C [n = 0]\nQ -> D [n = 1]"
    workflow = level(f"{text}\nB -> END\nC -> END\nD -> END", parameters=(N,))
    assert can_run_in_parallel(workflow, "B", "Q") is None  # no run holds B: at n > 1 there is no way on from Q
    assert can_run_in_parallel(workflow, "P", "C") is True


@pytest.mark.parametrize("guards", [("n > 3", "n < 2"), ("n > 9", "mode = fast")])
def test_parallel_without_run_to_end_is_undecided(guards: tuple[str, str]) -> None:
    text = f"START -> A\nA -> B\nA -> C\nB -> D [{guards[0]}]\nC -> D [{guards[1]}]\nD -> END"
    assert can_run_in_parallel(level(text, parameters=(N, MODE)), "B", "C") is None


def test_parallel_two_branches_at_exclusive_join_are_undecided() -> None:
    text = "START -> A\nSTART -> B\nA -> M\nB -> M\nM -> C\nC -> END"
    workflow = level(text, Gateway("M", "exclusive", "join"))
    assert parallel_pairs(workflow) == dict.fromkeys([("A", "B"), ("A", "C"), ("B", "C")])


def test_parallel_tasks_of_loop_only_if_loop_forks() -> None:
    text = "START -> A\nA -> B\nA -> C\nB -> D\nC -> D\nD -> A [n > 1]\nD -> E [otherwise]\nE -> END"
    workflow = level(text)
    assert [pair for pair, answer in parallel_pairs(workflow).items() if answer] == [("B", "C")]
    assert None not in parallel_pairs(workflow).values()


def test_parallel_loop_beside_branch_is_true() -> None:
    workflow = level("START -> A\nSTART -> B\nA -> A [n > 1]\nA -> C [otherwise]\nC -> D\nB -> D\nD -> END")
    assert parallel_to(workflow, "B") == ("A", "C")


def test_parallel_cross_links_order_tasks() -> None:
    workflow = level("START -> A\nSTART -> B\nA -> C\nB -> D\nA -> D\nC -> END\nD -> END")
    assert [pair for pair, answer in parallel_pairs(workflow).items() if answer] == [("A", "B"), ("B", "C"), ("C", "D")]


@pytest.mark.parametrize(
    "text",
    [
        "START -> A\nA -> B\nB -> A [x]\nB -> C [y]\nA -> C\nC -> END",  # leaves a loop beside its decision
        "START -> A\nA -> B\nB -> C [again]\nB -> A\nC -> END",
    ],
)
def test_parallel_unstructured_loop_is_undecided(text: str) -> None:
    assert None in parallel_pairs(level(text)).values()


def test_parallel_unreachable_task_is_undecided() -> None:
    workflow = level("START -> A\nA -> END\nX -> END")
    assert parallel_pairs(workflow) == {("A", "X"): None}


@pytest.mark.parametrize("guards", [("", "", " [rare]"), ("", " [special]", " [rare]"), ("", "", " [n > 1]")])
def test_parallel_exclusive_gateway_takes_one_of_guarded_and_unguarded_links(guards: tuple[str, ...]) -> None:
    b, c, d = guards
    links = f"START -> A\nA -> g\ng -> B{b}\ng -> C{c}\ng -> D{d}\nB -> END\nC -> END\nD -> END"
    gateways = (Gateway("g", "exclusive", "split"),)
    workflow = level(links, *gateways, parameters=(N,))
    assert set(parallel_pairs(workflow).values()) == {False}
    assert all(parallel_to(workflow, task) == () for task in "ABCD")


def test_parallel_too_many_runs_are_undecided() -> None:
    lines = ["START -> S", "S -> A0", "S -> B0", "A12 -> END", "B12 -> END"]
    for i in range(12):
        lines += [f"A{i} -> A{i + 1}", f"B{i} -> B{i + 1}", f"A{i} -> B{i + 1} [p{i} > 0]"]
    assert can_run_in_parallel(level("\n".join(lines)), "A5", "B5") is None
    assert can_run_in_parallel(level("\n".join(line for line in lines if "[" not in line)), "A5", "B5") is True


def test_concurrency_unknown_name_raises_error() -> None:
    with pytest.raises(UnknownNameError, match=r"'X'.*A, B"):
        can_run_in_parallel(FORK, "A", "X")
    with pytest.raises(UnknownNameError, match="operator"):
        block_after(FORK, "A", "fork")


def expected_relation(tree: Block) -> set[frozenset[str]]:
    """The pairs that can run in parallel, derived from the tree alone."""
    pairs = {pair for child in tree.children for pair in expected_relation(child)}
    if tree.kind in ("parallel", "inclusive"):
        for first, second in combinations(tree.children, 2):
            pairs |= {frozenset(pair) for pair in product(tasks_of(first), tasks_of(second))}
    return pairs


@given(st.randoms(use_true_random=False), st.integers(2, 12))
def test_parallel_lowest_common_block_decides(rng: random.Random, size: int) -> None:
    tree = a_tree(rng, [f"T{i}" for i in range(size)])
    answers = parallel_pairs(rendered(tree, rng))
    assert answers == {pair: frozenset(pair) in expected_relation(tree) for pair in answers}


TRUTH = {  # guards with their truth, for an oracle that reads no guards
    "n < 2": lambda n, mode: n < 2,
    "n >= 2": lambda n, mode: n >= 2,
    "n > 1 or mode = slow": lambda n, mode: n > 1 or mode == "slow",
    "n = 3": lambda n, mode: n == 3,
    "mode = fast": lambda n, mode: mode == "fast",
    "mode != fast": lambda n, mode: mode != "fast",
}


def an_acyclic_level(rng: random.Random, size: int, total: bool) -> Workflow:
    """Tasks in a row, each linked to some of the next; where it is not `total`, a choice may have no way open."""
    names = [f"T{i}" for i in range(size)]
    links = [Link(START, name) for name in names[: rng.randint(1, 2)]]
    for i, name in enumerate(names):
        near = [*names[i + 1 : i + 4], END][: 4 if rng.random() < 0.2 else 3]
        targets = rng.sample(near, min(len(near), rng.choice([1, 1, 2, 2, 3])))
        guards: list[str | None] = [*rng.sample(sorted(TRUTH), len(targets))]
        how = rng.choice(["fork", "otherwise", "mixed"] if total else ["fork", "otherwise", "mixed", "choice"])
        if how == "fork" or (total and len(targets) == 1):
            guards = [None] * len(targets)
        elif how != "choice":
            guards[0] = "otherwise" if how == "otherwise" and len(targets) > 1 else None
        links += [Link(name, target, guard) for target, guard in zip(targets, guards, strict=True)]
    rng.shuffle(links)
    rng.shuffle(names)
    return Workflow("W", tasks=tuple(map(Task, names)), links=tuple(links), parameters=(N, MODE))


def run(workflow: Workflow, n: int, mode: str) -> nx.DiGraph[str] | None:
    """The links taken in a situation; None where a task has no way open."""
    taken: nx.DiGraph[str] = nx.DiGraph()
    waiting, seen = [START], {START}
    while waiting:
        name = waiting.pop()
        out = [link for link in workflow.links if link.source == name]
        ways = [link for link in out if link.guard in TRUTH and TRUTH[link.guard](n, mode)]
        ways = [link for link in out if link.guard is None] + (
            ways or [link for link in out if link.guard == "otherwise"]
        )
        if out and not ways:
            return None
        taken.add_edges_from((link.source, link.target) for link in ways)
        waiting += {link.target for link in ways} - seen
        seen |= {link.target for link in ways}
    return taken


def unordered(workflow: Workflow) -> set[tuple[str, str]]:
    """The pairs of tasks that some run holds unordered, found by trying every situation."""
    pairs = set()
    for n, mode in product(range(5), ("fast", "slow")):
        taken = run(workflow, n, mode)
        if taken is not None:
            order = nx.transitive_closure(taken)
            both = combinations((name for name in workflow.task_names if name in taken), 2)
            pairs |= {(a, b) for a, b in both if not order.has_edge(a, b) and not order.has_edge(b, a)}
    return pairs


@given(st.randoms(use_true_random=False), st.integers(2, 8))
def test_parallel_agrees_with_trying_every_situation(rng: random.Random, size: int) -> None:
    workflow = an_acyclic_level(rng, size, total=False)
    expected = unordered(workflow)
    assert all(answer in (None, pair in expected) for pair, answer in parallel_pairs(workflow).items())


@given(st.randoms(use_true_random=False), st.integers(2, 8))
def test_parallel_with_way_always_open_is_decided(rng: random.Random, size: int) -> None:
    workflow = an_acyclic_level(rng, size, total=True)
    behind = nx.descendants(nx.DiGraph([(link.source, link.target) for link in workflow.links]), START)
    expected = unordered(workflow)
    answers = {pair: answer for pair, answer in parallel_pairs(workflow).items() if behind.issuperset(pair)}
    assert answers == {pair: pair in expected for pair in answers}


def forks(number: int) -> Workflow:
    lines = ["START -> A0", f"A{number} -> END"]
    for i in range(number):
        lines += [f"A{i} -> B{i}", f"A{i} -> C{i} [n > {i}]", f"B{i} -> D{i}", f"C{i} -> A{i + 1}", f"D{i} -> A{i + 1}"]
    return level("\n".join(lines))


def test_parallel_pairs_of_many_tasks_takes_few_calls_a_pair() -> None:
    assert sum(answer is True for answer in parallel_pairs(forks(49)).values()) == 2 * 49
    assert growth(lambda number: parallel_pairs(forks(number)), 24) < 6  # the number of pairs grows fourfold


@pytest.mark.parametrize(
    ("text", "blocks"),
    [
        ("START -> A\nA -> B\nA -> C\nB -> E\nC -> D\nD -> E\nE -> END", (("B", "C", "D"),)),
        ("START -> A\nA -> B\nA -> C\nB -> END\nC -> D\nD -> END", (("B", "C", "D"),)),
        ("START -> A\nSTART -> B\nA -> END\nB -> END", (("A", "B"),)),
        ("START -> A\nA -> B\nA -> C\nB -> D\nB -> E\nC -> F\nD -> F\nE -> F\nF -> END", (("B", "C", "D", "E"),)),
        ("START -> A\nA -> B\nA -> C\nB -> D\nC -> D\nD -> E\nD -> F\nE -> END\nF -> END", (("B", "C"), ("E", "F"))),
        ("START -> A\nA -> B\nA -> C\nB -> D\nC -> E\nB -> E\nD -> F\nE -> F\nF -> END", (("B", "C", "D", "E"),)),
        ("START -> A\nA -> B [x]\nA -> C [otherwise]\nB -> END\nC -> D\nC -> E\nD -> END\nE -> END", (("D", "E"),)),
        ("START -> A\nA -> B\nB -> END", ()),
        ("START -> A\nA -> B [n > 1]\nA -> C [n > 2]\nB -> END\nC -> END", ()),  # inclusive, and no fork
        ("START -> A\nA -> B\nA -> C\nB -> C\nC -> END", None),  # a link that passes over B
        ("START -> A\nA -> B\nA -> C [x]\nB -> END\nC -> END", None),
        ("START -> A\nA -> B\nA -> C\nB -> D [x]\nB -> END [otherwise]\nC -> D\nD -> END", None),  # passes the join by
        ("START -> A\nA -> B\nA -> C\nB -> D\nD -> END", None),  # C leads nowhere
        ("START -> A\nA -> B\nA -> C\nB -> A [x]\nB -> END [otherwise]\nC -> END", None),
    ],
)
def test_parallel_blocks_are_the_outermost_forks(text: str, blocks: tuple[tuple[str, ...], ...] | None) -> None:
    assert parallel_blocks(level(text)) == blocks


def test_parallel_blocks_fork_joining_at_end_is_block() -> None:
    gateways = (Gateway("F", "parallel", "split"), Gateway("J", "parallel", "join"))
    workflow = level("START -> A\nA -> F\nF -> B\nF -> C\nC -> D\nB -> J\nD -> J\nJ -> END", *gateways)
    assert parallel_blocks(workflow) == (("B", "C", "D"),)
    assert block_after(workflow, "A", "parallel block") == ("B", "C", "D")


def test_parallel_blocks_fork_without_tasks_is_no_block() -> None:
    passed = (Gateway("G", "exclusive", "split"), Gateway("H", "exclusive", "split"))
    gateways = (Gateway("F", "parallel", "split"), *passed, Gateway("J", "parallel", "join"))
    workflow = level("START -> A\nA -> F\nF -> G\nF -> H\nG -> J\nH -> J\nJ -> B\nB -> END", *gateways)
    assert parallel_blocks(workflow) == ()


@pytest.mark.parametrize(
    ("workflow", "task", "operator", "tasks"),
    [
        (FORK, "A", "parallel block", ("B", "C", "D")),
        (FORK, "A", "exclusive choice", None),
        (FORK, "C", "parallel block", None),
        (CHOICE, "A", "exclusive choice", ("B", "C")),
        (CHOICE, "A", "inclusive choice", None),
        (CHOICE, "A", "parallel block", None),
        (LOOP, "A", "loop", ("B", "C")),
        (LOOP, "C", "exclusive choice", None),
        (LOOP, "D", "loop", None),
        (level("START -> A\nA -> B [n > 1]\nA -> C [n > 2]\nB -> END\nC -> END"), "A", "inclusive choice", ("B", "C")),
        (level("START -> A\nA -> B [x]\nA -> C [y]\nB -> END\nC -> END"), "A", "exclusive choice", None),
        (level("START -> A\nA -> B\nA -> C [x]\nB -> END\nC -> END"), "A", "inclusive choice", None),
        (level("START -> A\nA -> B [x]\nA -> END [otherwise]\nB -> C\nC -> END"), "A", "exclusive choice", ("B", "C")),
        (level("START -> A\nA -> B\nB -> B [x]\nB -> END [otherwise]"), "A", "loop", ("B",)),
        (level("START -> A\nSTART -> C\nA -> B\nC -> B\nB -> B [x]\nB -> END [otherwise]"), "A", "loop", None),
        (
            level("START -> A\nA -> B\nB -> B [x]\nB -> C [otherwise]\nC -> B [y]\nC -> END [otherwise]"),
            "A",
            "loop",
            None,
        ),
        (level("START -> A\nA -> B\nB -> C [x]\nC -> B\nB -> D [otherwise]\nD -> END"), "A", "loop", ("B", "C")),
    ],
)
def test_block_after_task_returns_its_tasks(
    workflow: Workflow, task: str, operator: str, tasks: tuple[str, ...] | None
) -> None:
    assert block_after(workflow, task, operator) == tasks


def test_block_after_own_gateways_between_are_passed() -> None:
    fork, merge = Gateway("F", "parallel", "split"), Gateway("M", "exclusive", "join")
    text = "START -> A\nA -> B [n > 1]\nA -> C [otherwise]\nB -> M\nC -> M\nM -> F\nF -> D\nF -> E\nD -> END\nE -> END"
    assert block_after(level(text, fork, merge), "B", "parallel block") is None


@pytest.mark.parametrize(
    ("workflow", "answers"),
    [
        (FORK, (True, False, False, False)),
        (CHOICE, (False, True, False, False)),
        (LOOP, (False, None, False, True)),
        (level("START -> A\nA -> B [n > 1]\nA -> C [n > 2]\nB -> END\nC -> END"), (False, False, True, False)),
        (level("START -> A\nA -> B [x]\nA -> C [y]\nB -> END\nC -> END"), (False, None, None, False)),
        (level("START -> A\nA -> B\nA -> C [x]\nB -> END\nC -> END"), (None, None, None, False)),
        (level("START -> A\nA -> B [x]\nB -> END"), (False, None, None, False)),
        (level("START -> A\nA -> B\nB -> A"), (False, False, False, True)),
        (level("START -> A\nA -> B\nA -> C\nB -> C\nC -> END"), (None, False, False, False)),
        (level("START -> A\nA -> END"), (False, False, False, False)),
    ],
)
def test_operators_of_level_are_found(workflow: Workflow, answers: tuple[bool | None, ...]) -> None:
    assert operators(workflow) == dict(zip(OPERATORS, answers, strict=True))


@given(st.randoms(use_true_random=False), st.integers(2, 12))
def test_parallel_blocks_of_tree_are_outermost(rng: random.Random, size: int) -> None:
    def outermost(block: Block) -> list[set[str]]:
        if block.kind == "parallel":
            return [set(tasks_of(block))]
        return [nested for child in block.children for nested in outermost(child)]

    tree = a_tree(rng, [f"T{i}" for i in range(size)])
    blocks = parallel_blocks(rendered(tree, rng))
    assert blocks is not None
    assert sorted(map(sorted, blocks)) == sorted(map(sorted, outermost(tree)))
