from __future__ import annotations

import random
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st
from steps import growth
from workflow_builders import a_tree, level, rendered

from pytest_taskgraph.workflow.model import START, Gateway, GatewayKind, Link, Task, Workflow
from pytest_taskgraph.workflow.semantics.block_structure import MAX_NESTING, Block, block_tree
from pytest_taskgraph.workflow.semantics.control_flow import ControlFlow


def shown(block: Block | None) -> str:
    if block is None:
        return "none"
    return block.task or f"{block.kind}({' '.join(map(shown, block.children))})"


def test_branches_of_a_fork_meet_in_a_task_in_a_join_or_at_the_end() -> None:
    expected = "sequence(A parallel(B sequence(C D)) E)"
    fork, join = Gateway("F", "parallel", "split"), Gateway("J", "parallel", "join")
    implicit = level("START -> A\nA -> B\nA -> C\nB -> E\nC -> D\nD -> E\nE -> END")
    explicit = level("START -> A\nA -> F\nF -> B\nF -> C\nB -> J\nC -> D\nD -> J\nJ -> E\nE -> END", fork, join)
    assert shown(block_tree(implicit)) == shown(block_tree(explicit)) == expected
    assert shown(block_tree(level("START -> A\nSTART -> B\nA -> END\nB -> END"))) == "parallel(A B)"


def test_some_branches_of_a_fork_may_meet_before_the_others() -> None:
    found = level("START -> A\nA -> B\nA -> C\nA -> D\nB -> E\nC -> E\nD -> F\nE -> F\nF -> END")
    assert shown(block_tree(found)) == "sequence(A parallel(sequence(parallel(B C) E) D) F)"


@pytest.mark.parametrize(
    ("first", "second", "kind"),
    [
        ("n > 1", "n <= 1", "exclusive"),
        ("enough", "otherwise", "exclusive"),
        ("n > 1", "n > 2", "inclusive"),
        ("enough", "too much", "choice"),
    ],
)
def test_guards_tell_the_kind_of_a_choice(first: str, second: str, kind: str) -> None:
    found = level(f"START -> A\nA -> B [{first}]\nA -> C [{second}]\nB -> D\nC -> D\nD -> END")
    assert shown(block_tree(found)) == f"sequence(A {kind}(B C) D)"


def test_a_guarded_link_beside_an_unguarded_one_is_an_inclusive_split() -> None:
    found = level("START -> A\nA -> B\nA -> C [n > 1]\nB -> END\nC -> END")
    assert shown(block_tree(found)) == "sequence(A inclusive(B C))"
    assert ControlFlow(found).split("A") == "mixed"


def test_a_branch_may_be_empty() -> None:
    found = level("START -> A\nA -> B [n > 1]\nA -> END [otherwise]\nB -> C\nC -> END")
    assert shown(block_tree(found)) == "sequence(A exclusive(sequence() sequence(B C)))"


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
def test_a_guarded_way_back_beside_a_guarded_way_out_is_a_loop(text: str, tree: str) -> None:
    assert shown(block_tree(level(text))) == tree


def test_loops_nest_and_may_begin_with_the_same_task() -> None:
    found = level("START -> A\nA -> A [x]\nA -> B [otherwise]\nB -> A [y]\nB -> END [otherwise]")
    assert shown(block_tree(found)) == "loop(sequence(loop(A) B))"


@pytest.mark.parametrize(
    "text",
    [
        "START -> A\nA -> END\nB -> END",  # never begun
        "START -> A\nA -> B\nA -> END",  # never ended
        "START -> A\nA -> B [n > 1]\nB -> END",  # what if not?
        "START -> A\nSTART -> B\nA -> C\nB -> C\nB -> D\nC -> END\nD -> END",  # a link across
    ],
)
def test_other_levels_have_no_block_structure(text: str) -> None:
    assert block_tree(level(text)) is None


def test_a_level_without_tasks_is_an_empty_sequence() -> None:
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
def test_a_gateways_own_word_counts_where_guards_leave_it_open(
    kind: GatewayKind, guards: tuple[str, str], split: str
) -> None:
    links = (Link(START, "G"), Link("G", "A", guards[0] or None), Link("G", "B", guards[1] or None))
    found = Workflow("W", tasks=(Task("A"), Task("B")), gateways=(Gateway("G", kind, "split"),), links=links)
    assert ControlFlow(found).split("G") == split


def test_directly_after_a_task_prose_leaves_a_gateways_kind_open() -> None:
    gateway = Gateway("G", "exclusive", "split")
    found = level("START -> A\nA -> G\nG -> B [x]\nG -> C [y]\nB -> END\nC -> END", gateway)
    assert ControlFlow(found).split("G") == "choice"


def test_no_fork_ends_at_a_gateway_that_awaits_one_branch() -> None:
    found = level("START -> A\nSTART -> B\nA -> M\nB -> M\nM -> END", Gateway("M", "exclusive", "join"))
    assert block_tree(found) is None


def test_deeper_nesting_than_the_bound_is_no_block_structure() -> None:
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
    assert all(block_tree(one) is not None for one in levels.values())
    assert growth(lambda number: block_tree(levels[number]), 50) < 3


@given(st.randoms(use_true_random=False), st.integers(1, 12))
def test_a_rendered_tree_is_found_again(rng: random.Random, size: int) -> None:
    names = [f"T{i}" for i in range(size)]
    rng.shuffle(names)
    tree = a_tree(rng, names)
    assert block_tree(rendered(tree, rng)) == tree


@given(st.randoms(use_true_random=False), st.integers(2, 10))
def test_the_tree_does_not_depend_on_the_order_of_declaration(rng: random.Random, size: int) -> None:
    found = rendered(a_tree(rng, [f"T{i}" for i in range(size)]), rng)
    turned = replace(found, tasks=found.tasks[::-1], links=found.links[::-1], gateways=found.gateways[::-1])
    assert block_tree(found) == block_tree(turned)
