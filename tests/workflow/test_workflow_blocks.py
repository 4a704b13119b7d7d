from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from steps import growth
from workflow_builders import a_tree, block_tree, level, rendered

from pytest_taskgraph.workflow.model import START, Gateway, GatewayKind, Link, Task, Workflow
from pytest_taskgraph.workflow.semantics.block_structure import MAX_NESTING, Block
from pytest_taskgraph.workflow.semantics.control_flow import ControlFlow


def describe_block(block: Block | None) -> str:
    if block is None:
        return "none"
    return block.task or f"{block.kind}({' '.join(map(describe_block, block.children))})"


def test_block_tree_fork_branches_meet_in_task_join_or_end() -> None:
    expected = "sequence(A parallel(B sequence(C D)) E)"
    fork, join = Gateway("F", "parallel", "split"), Gateway("J", "parallel", "join")
    implicit = level("START -> A\nA -> B\nA -> C\nB -> E\nC -> D\nD -> E\nE -> END")
    explicit = level("START -> A\nA -> F\nF -> B\nF -> C\nB -> J\nC -> D\nD -> J\nJ -> E\nE -> END", fork, join)
    assert describe_block(block_tree(implicit)) == describe_block(block_tree(explicit)) == expected
    assert describe_block(block_tree(level("START -> A\nSTART -> B\nA -> END\nB -> END"))) == "parallel(A B)"


def test_block_tree_branches_that_meet_early_are_nested() -> None:
    workflow = level("START -> A\nA -> B\nA -> C\nA -> D\nB -> E\nC -> E\nD -> F\nE -> F\nF -> END")
    assert describe_block(block_tree(workflow)) == "sequence(A parallel(sequence(parallel(B C) E) D) F)"


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("n > 1", "n <= 1", "exclusive"),
        ("enough", "otherwise", "exclusive"),
        ("n > 1", "n > 2", "inclusive"),
        ("enough", "too much", "choice"),
    ],
)
def test_block_tree_guards_decide_kind_of_choice(first: str, second: str, kind: str) -> None:
    workflow = level(f"START -> A\nA -> B [{first}]\nA -> C [{second}]\nB -> D\nC -> D\nD -> END")
    assert describe_block(block_tree(workflow)) == f"sequence(A {kind}(B C) D)"


def test_block_tree_guarded_beside_unguarded_is_inclusive() -> None:
    workflow = level("START -> A\nA -> B\nA -> C [n > 1]\nB -> END\nC -> END")
    assert describe_block(block_tree(workflow)) == "sequence(A inclusive(B C))"
    assert ControlFlow(workflow).split("A") == "mixed"


def test_block_tree_empty_branch_is_empty_sequence() -> None:
    workflow = level("START -> A\nA -> B [n > 1]\nA -> END [otherwise]\nB -> C\nC -> END")
    assert describe_block(block_tree(workflow)) == "sequence(A exclusive(sequence() sequence(B C)))"


@pytest.mark.parametrize(
    ("text", "tree"),
    [
        ("START -> A\nA -> B\nB -> A [n < 3]\nB -> C [n >= 3]\nC -> END", "sequence(loop(sequence(A B)) C)"),
        ("START -> A\nA -> A [again]\nA -> END [otherwise]", "loop(A)"),
        ("START -> A\nA -> B [again]\nB -> A\nA -> END [otherwise]", "loop(A B)"),
        ("START -> A\nA -> B\nB -> A [x]\nB -> C [y]\nC -> END", "none"),  # x and y may both hold
        ("START -> A\nA -> B\nB -> A [n < 3]\nB -> C\nC -> END", "none"),  # an unguarded way out
        ("START -> A\nA -> B\nB -> A", "none"),
        ("START -> A\nA -> B\nA -> C\nB -> A [n < 3]\nB -> END [n >= 3]\nC -> END", "none"),
    ],
)
def test_block_tree_guarded_way_back_is_loop(text: str, tree: str) -> None:
    assert describe_block(block_tree(level(text))) == tree


def test_block_tree_nested_loops_may_share_first_task() -> None:
    workflow = level("START -> A\nA -> A [x]\nA -> B [otherwise]\nB -> A [y]\nB -> END [otherwise]")
    assert describe_block(block_tree(workflow)) == "loop(sequence(loop(A) B))"


@pytest.mark.parametrize(
    "text",
    [
        "START -> A\nA -> END\nB -> END",  # never begun
        "START -> A\nA -> B\nA -> END",  # never ended
        "START -> A\nA -> B [n > 1]\nB -> END",  # what if not?
        "START -> A\nSTART -> B\nA -> C\nB -> C\nB -> D\nC -> END\nD -> END",  # a link across
    ],
)
def test_block_tree_unstructured_level_is_none(text: str) -> None:
    assert block_tree(level(text)) is None


def test_block_tree_without_tasks_is_empty_sequence() -> None:
    assert block_tree(level("START -> END")) == Block("sequence")


@pytest.mark.parametrize(
    ("kind", "guards", "split"),
    [
        ("exclusive", ("n > 1", "n <= 1"), "exclusive"),
        ("exclusive", ("n > 1", "n > 2"), "unclear"),
        ("exclusive", ("n > 1", ""), "unclear"),
        ("exclusive", ("", ""), "exclusive"),
        ("exclusive", ("x", "y"), "exclusive"),
        ("inclusive", ("n > 1", "n > 2"), "inclusive"),
        ("inclusive", ("n > 1", "n <= 1"), "choice"),
        ("inclusive", ("x", "y"), "inclusive"),
        ("parallel", ("", ""), "parallel"),
        ("parallel", ("x", "y"), "unclear"),
    ],
)
def test_block_tree_open_guards_use_declared_kind(kind: GatewayKind, guards: tuple[str, str], split: str) -> None:
    links = (Link(START, "G"), Link("G", "A", guards[0] or None), Link("G", "B", guards[1] or None))
    workflow = Workflow("W", tasks=(Task("A"), Task("B")), gateways=(Gateway("G", kind, "split"),), links=links)
    assert ControlFlow(workflow).split("G") == split


def test_block_tree_prose_after_task_leaves_kind_open() -> None:
    gateway = Gateway("G", "exclusive", "split")
    workflow = level("START -> A\nA -> G\nG -> B [x]\nG -> C [y]\nB -> END\nC -> END", gateway)
    assert ControlFlow(workflow).split("G") == "choice"


def test_block_tree_exclusive_join_ends_no_fork() -> None:
    workflow = level("START -> A\nSTART -> B\nA -> M\nB -> M\nM -> END", Gateway("M", "exclusive", "join"))
    assert block_tree(workflow) is None


def test_block_tree_nesting_beyond_bound_is_none() -> None:
    def nested(depth: int) -> Workflow:
        lines = ["START -> A0", f"A{depth} -> B{depth}", "B0 -> END"]
        for i in range(depth):
            lines += [f"A{i} -> A{i + 1}", f"A{i} -> C{i}", f"C{i} -> B{i}", f"B{i + 1} -> B{i}"]
        return level("\n".join(lines))

    assert block_tree(nested(MAX_NESTING)) is not None
    assert block_tree(nested(MAX_NESTING + 1)) is None
    assert block_tree(nested(1500)) is None


def choices(number: int) -> Workflow:
    lines = ["START -> A0", f"A{number} -> END"]
    for i in range(number):
        lines += [f"A{i} -> B{i} [n > {i}]", f"A{i} -> C{i} [otherwise]", f"B{i} -> D{i}", f"C{i} -> D{i}"]
        lines += [f"D{i} -> A{i} [m > 1]", f"D{i} -> A{i + 1} [m <= 1]"]
    return level("\n".join(lines))


def test_block_tree_of_many_tasks_takes_few_calls() -> None:
    levels = {number: choices(number) for number in (12, 50, 100)}
    assert all(block_tree(workflow) is not None for workflow in levels.values())
    assert growth(lambda number: block_tree(levels[number]), 50) < 3


@given(st.randoms(use_true_random=False), st.integers(1, 12))
def test_block_tree_of_rendered_tree_is_the_tree(rng: random.Random, size: int) -> None:
    names = [f"T{i}" for i in range(size)]
    rng.shuffle(names)
    tree = a_tree(rng, names)
    assert block_tree(rendered(tree, rng)) == tree


@given(st.randoms(use_true_random=False), st.integers(2, 10))
def test_block_tree_other_declaration_order_is_equal(rng: random.Random, size: int) -> None:
    workflow = rendered(a_tree(rng, [f"T{i}" for i in range(size)]), rng)
    turned = replace(workflow, tasks=workflow.tasks[::-1], links=workflow.links[::-1], gateways=workflow.gateways[::-1])
    assert block_tree(workflow) == block_tree(turned)
