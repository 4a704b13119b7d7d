"""Procedural graphs as workflows and back: what survives, what is left out, and what can be done with the workflow."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from procedural_graphs import WORDS, graphs

from pytest_taskgraph.benchmarks.understanding.patterns import catalogue
from pytest_taskgraph.benchmarks.understanding.patterns.pattern import Pattern
from pytest_taskgraph.generation.builder import generate
from pytest_taskgraph.generation.recipe import Recipe
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.notations.procedural_text import read_procedural_graph
from pytest_taskgraph.workflow.canonical import canonical
from pytest_taskgraph.workflow.check import check
from pytest_taskgraph.workflow.features import features
from pytest_taskgraph.workflow.model import Link, Parameter, Task, Workflow
from pytest_taskgraph.workflow.procedural_conversion import (
    procedural_graph_of,
    workflow_of,
    workflow_part,
)
from pytest_taskgraph.workflow.procedural_graph import ProceduralGraph
from pytest_taskgraph.workflow.semantics.block_structure import Block, block_tree

SHOP = """
For clerk:
Start -> check the order
DataConstraint(price list) -> check the order
check the order -> DataConstraint(invoice)
ActionConstraint(prices change daily) -> check the order
check the order -> XOR1
XOR1 -> (the price is wrong) End
XOR1 -> (it's right) OR1
OR1 -> (gift wrapping is wanted) wrap
OR1 -> (the customer is abroad) fill in the form
wrap -> OR2
fill in the form -> OR2
OR2 -> AND1
AND1 -> send
AND1 -> customer: pay
fill in the form -> ActionConstraint(in English)
send -> AND2
AND2 -> End

For customer:
DataConstraint(invoice) -> pay
pay -> AND2
"""
LOOP = """
Start -> XOR1
XOR1 -> taste
taste -> XOR2
XOR2 -> (it is bland) add salt
add salt -> XOR1
XOR2 -> (it is fine) End
"""


def graph_of(text: str) -> ProceduralGraph:
    read = read_procedural_graph(text)
    assert read.unread == ()
    return read.graph


def unnamed(graph: ProceduralGraph) -> list[str]:
    """Return the flows as text, without the names of gateways: not every notation keeps these."""
    blank = {node: replace(node, text=".") for node in graph.nodes if node.is_gateway}
    ends = [
        (blank.get(flow.source, flow.source), flow.condition, blank.get(flow.target, flow.target))
        for flow in graph.flows
    ]
    return sorted(map(str, ends))


def links(workflow: Workflow, source: str) -> list[tuple[str, str | None]]:
    return [(link.target, link.guard) for link in workflow.links if link.source == source]


GRAPHS = {"shop": graph_of(SHOP), "loop": graph_of(LOOP), "empty": ProceduralGraph()}
WORKFLOWS = {name: workflow_of(graph, name) for name, graph in GRAPHS.items()}


@pytest.mark.parametrize("name", GRAPHS)
def test_graph_of_its_workflow_is_the_graph(name: str) -> None:
    assert workflow_part(GRAPHS[name]).losses == ()
    assert procedural_graph_of(WORKFLOWS[name]) == GRAPHS[name]


def test_workflow_of_actions_has_tasks_with_actors_and_notices() -> None:
    task = WORKFLOWS["shop"].task("check the order")
    assert task == Task(
        "check the order", parameters=(Parameter("actor", "clerk"), Parameter("notices", ("prices change daily",)))
    )
    assert Parameter("annotations", ("in English",)) in WORKFLOWS["shop"].task("fill in the form").parameters
    assert Parameter("actor", "customer") in WORKFLOWS["shop"].task("pay").parameters


def test_workflow_of_data_constraints_reads_and_writes_data() -> None:
    assert {(link.source, link.target) for link in WORKFLOWS["shop"].data_links} == {
        ("price list", "check the order"), ("check the order", "invoice"), ("invoice", "pay"),
    }  # fmt: skip


def test_workflow_of_gateways_keeps_kinds_and_finds_roles() -> None:
    gateways = {gateway.name: (gateway.kind, gateway.role) for gateway in WORKFLOWS["shop"].gateways}
    assert gateways["XOR1"] == ("exclusive", "split")
    assert gateways["OR2"] == ("inclusive", "join")
    assert gateways["AND1"] == ("parallel", "split")
    assert {gateway.name: gateway.role for gateway in WORKFLOWS["loop"].gateways} == {"XOR1": "join", "XOR2": "split"}


def test_workflow_of_an_exclusive_choice_has_formal_guards() -> None:
    assert links(WORKFLOWS["shop"], "XOR1") == [
        ("END", 'choice_1 = "the price is wrong"'), ("OR1", 'choice_1 = "it\'s right"'),
    ]  # fmt: skip


def test_workflow_of_an_inclusive_choice_has_a_word_for_each_set() -> None:
    both = "gift wrapping is wanted and the customer is abroad"
    assert links(WORKFLOWS["shop"], "OR1") == [
        ("wrap", f'choice_2 = "gift wrapping is wanted" or choice_2 = "{both}"'),
        ("fill in the form", f'choice_2 = "the customer is abroad" or choice_2 = "{both}"'),
    ]


def test_workflow_of_a_loop_keeps_conditions_in_words() -> None:
    assert links(WORKFLOWS["loop"], "XOR2") == [("add salt", "it is bland"), ("END", "it is fine")]
    assert "loop" in features(WORKFLOWS["loop"])


@pytest.mark.parametrize(
    ("flows", "guards"),
    [
        ("XOR1 -> (low) a\nXOR1 -> b", ['choice_1 = "low"', 'choice_1 = "otherwise"']),
        ("XOR1 -> (low) a\nXOR1 -> (otherwise) b", ['choice_1 = "low"', "otherwise"]),
        ("XOR -> (low) a\nXOR -> (high) b", ['choice_1 = "low"', 'choice_1 = "high"']),
        ("OR -> (low) a\nOR -> (otherwise) b", ["low", "otherwise"]),
        ("XOR1 -> (n > 1) a\nXOR1 -> (few) b", ["n > 1", "few"]),
        ("XOR1 -> (low) a\nXOR1 -> (low) b", ["low", "low"]),
        ("XOR1 -> (low) a\nXOR1 -> b\nXOR1 -> c", ["low", None, None]),
        ("OR1 -> (low) a\nOR1 -> b", ["low", None]),
        ("XOR1 -> (low) a", ["low"]),
        (
            "XOR1 -> (low) a\nXOR1 -> (high) b\na -> (choice_1 = up) c",
            ['choice_2 = "low"', 'choice_2 = "high"', "choice_1 = up"],
        ),
        ("AND1 -> (low) a\nAND1 -> b", ["low", None]),
        ("OR1 -> (a) a\nOR1 -> (b) b\nOR1 -> (a and b) c", ["a", "b", "a and b"]),
    ],
)
def test_workflow_of_conditions_has_formal_guards_where_they_hold(flows: str, guards: list[str | None]) -> None:
    graph = graph_of(flows)
    workflow = workflow_of(graph, "W")
    assert [link.guard for link in workflow.links] == guards
    assert procedural_graph_of(workflow) == graph


def kinds(block: Block | None) -> set[str]:
    return set() if block is None else {block.kind}.union(*map(kinds, block.children))


def test_block_tree_of_the_workflow_knows_every_choice() -> None:
    assert kinds(block_tree(WORKFLOWS["shop"])) == {"sequence", "task", "exclusive", "inclusive", "parallel"}


def test_block_tree_of_a_condition_to_the_end_is_a_choice() -> None:
    tree = block_tree(workflow_of(graph_of("Start -> XOR1\nXOR1 -> (a) x\nXOR1 -> (b) End\nx -> End"), "W"))
    assert tree is not None
    assert tree.kind == "exclusive"


def test_workflow_of_clashing_names_gives_tasks_others() -> None:
    graph = graph_of(
        'wait -> XOR1\nFor a:\nwait -> list\nwait -> "START"\nDataConstraint(list) -> list\nFor b:\nwait -> End'
    )
    workflow = workflow_of(graph, "W")
    assert workflow.task_names == ("wait", "wait (a)", "list (a)", "START (a)", "wait (b)")
    assert workflow.task("list (a)").parameters == (Parameter("actor", "a"), Parameter("text", "list"))
    assert procedural_graph_of(workflow) == graph


@pytest.mark.parametrize(
    ("flow", "left", "loss"),
    [
        ("a -> Start", "", "flow from action 'a' to start: left out, for nothing leads into the start"),
        ("End -> a", "", "flow from end to action 'a': left out"),
        ("DataConstraint(d) -> XOR1", "", "for a constraint flow joins a constraint and an action"),
        ("DataConstraint(d) -> ActionConstraint(n)", "", "for a constraint flow joins"),
        ("DataConstraint(d) -> (if) a", "DataConstraint(d) -> a", "its condition is left out"),
    ],
)
def test_workflow_part_of_an_odd_flow_reports_what_is_lost(flow: str, left: str, loss: str) -> None:
    part = workflow_part(graph_of(f"Start -> a\n{flow}"))
    assert part.graph == graph_of(f"Start -> a\n{left}")
    assert len(part.losses) == 1
    assert loss in part.losses[0]


def test_workflow_part_of_names_that_clash_gives_them_numbers() -> None:
    part = workflow_part(graph_of("DataConstraint(XOR1) -> a\na -> XOR1\nDataConstraint(END) -> a"))
    assert part.graph == graph_of("DataConstraint(XOR1 2) -> a\na -> XOR1\nDataConstraint(END 2) -> a")
    assert part.losses == (
        "data 'XOR1': called 'XOR1 2', for another node has its name",
        "data 'END': called 'END 2', for another node has its name",
    )


@given(graph=graphs())
def test_workflow_of_any_graph_is_well_formed_and_leads_back(graph: ProceduralGraph) -> None:
    workflow = workflow_of(graph, "W")
    check(workflow)
    part = workflow_part(graph)
    assert procedural_graph_of(workflow) == part.graph
    assert workflow_part(part.graph).losses == ()


@pytest.mark.parametrize("name", NOTATIONS)
@pytest.mark.parametrize("which", ["shop", "loop"])
def test_notation_of_the_workflow_is_read_back(name: str, which: str) -> None:
    workflow, notation = WORKFLOWS[which], NOTATIONS[name]
    assert not features(workflow) & notation.unsupported
    read = notation.read(notation.write(workflow))
    assert canonical(read) == canonical(workflow)
    assert unnamed(procedural_graph_of(read)) == unnamed(GRAPHS[which])


@settings(max_examples=25)
@given(graph=graphs(WORDS, st.sampled_from(["clerk", "head cook"])), name=st.sampled_from(sorted(NOTATIONS)))
def test_notation_of_any_graph_leads_back_to_it(graph: ProceduralGraph, name: str) -> None:
    workflow = workflow_of(graph, "W")
    read = NOTATIONS[name].read(NOTATIONS[name].write(workflow))
    assert canonical(read) == canonical(workflow)
    assert unnamed(procedural_graph_of(read)) == unnamed(workflow_part(graph).graph)


@pytest.mark.parametrize("pattern", catalogue().values(), ids=lambda pattern: pattern.name)
def test_pattern_about_the_workflow_enumerates_cases(pattern: Pattern) -> None:
    for workflow in WORKFLOWS.values():
        for case in pattern.cases(workflow):
            assert case.answer is not None


def test_patterns_about_the_workflow_find_questions() -> None:
    patterns_with_cases = {name for name, pattern in catalogue().items() if list(pattern.cases(WORKFLOWS["shop"]))}
    assert patterns_with_cases >= {
        "next_tasks", "conditional_links", "all_parallel_tasks", "dependency_list", "data_production", "trace",
        "determine_order_conditional", "every_situation",
    }  # fmt: skip


def test_graph_of_a_generated_workflow_has_its_tasks_and_links() -> None:
    workflow = generate(Recipe(tasks=12, features=frozenset({"exclusive", "parallel", "data", "guards", "kinds"})), 3)
    graph = procedural_graph_of(workflow)
    assert {node.text for node in graph.nodes_of("action")} == set(workflow.task_names)
    assert len([flow for flow in graph.flows if flow.sort != "constraint"]) == len(set(workflow.links))
    assert {flow.condition or None for flow in graph.flows} >= {link.guard for link in workflow.links}


def test_graph_of_links_to_nowhere_leaves_them_out() -> None:
    workflow = Workflow("W", tasks=(Task("a"),), links=(Link("START", "a"), Link("a", "b")))
    assert procedural_graph_of(workflow) == graph_of("Start -> a")
