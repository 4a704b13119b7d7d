"""Generated procedural graphs: their structure, their words, their sizes, and that they are always the same."""

from __future__ import annotations

import hashlib
import json
import os
import sys
from collections import Counter
from collections.abc import Iterator
from functools import cache
from itertools import combinations
from pathlib import Path
from random import Random

import bounded_process
import networkx as nx
import pytest

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.families.paged.document_sets.generated_documents import (
    ConditionCounts,
    DomainConditions,
    GeneratedGraph,
    draw_plan,
    generate_graph,
)
from pytest_taskgraph.generation import placement
from pytest_taskgraph.generation.vocabularies import Condition, Vocabulary, domain_names, vocabulary
from pytest_taskgraph.generation.vocabularies.procedure_words import name_phrase
from pytest_taskgraph.workflow.procedural_graph import GATEWAYS, ProceduralGraph, ProceduralNode

PRINT_DIGEST = """
import hashlib, json
from pytest_taskgraph.families.paged.document_sets.generated_documents import generate_graph
made = [generate_graph(7, number) for number in range(20)]
text = json.dumps([[one.domain, one.title, one.graph.to_json()] for one in made])
print(hashlib.sha256(text.encode()).hexdigest())
"""


@cache
def many() -> tuple[GeneratedGraph, ...]:
    """Return graphs whose properties and shares are counted."""
    return tuple(generate_graph(7, number) for number in range(300))


def gateways(graph: ProceduralGraph) -> Iterator[ProceduralNode]:
    yield from graph.nodes_of(*GATEWAYS)


def splits(graph: ProceduralGraph) -> list[ProceduralNode]:
    return [node for node in gateways(graph) if len(graph.outgoing(node)) > 1]


def joins(graph: ProceduralGraph) -> list[ProceduralNode]:
    return [node for node in gateways(graph) if len(graph.incoming(node)) > 1]


def flow_graph(graph: ProceduralGraph) -> nx.DiGraph[ProceduralNode]:
    """The nodes and flows without the constraints."""
    return nx.DiGraph([(flow.source, flow.target) for flow in graph.flows if flow.sort != "constraint"])


def opposites(generated: GeneratedGraph) -> list[set[str]]:
    """The sets of conditions of the domain of which exactly one holds."""
    words = vocabulary(generated.domain)
    return [{condition.holds, condition.fails} for condition in words.conditions] + [
        set(choice) for choice in words.procedure.choices
    ]


def test_generate_graph_same_seed_and_number_returns_same_graph() -> None:
    assert generate_graph(7, 12) == many()[12]
    assert generate_graph(8, 12) != many()[12]
    assert len({generated.graph for generated in many()}) == len(many())


def test_generate_graph_other_hash_seed_returns_same_graphs() -> None:
    graph_data = [[generated.domain, generated.title, generated.graph.to_json()] for generated in many()[:20]]
    digest = hashlib.sha256(json.dumps(graph_data).encode()).hexdigest()
    for hash_seed in ("1", "2"):
        environment = os.environ | {"PYTHONHASHSEED": hash_seed, "PYTHONPATH": str(Path(__file__).parents[2])}
        process = bounded_process.run([sys.executable, "-c", PRINT_DIGEST], env=environment)
        assert process.stdout.strip() == digest, process.stderr


def test_generated_graphs_are_of_all_domains() -> None:
    assert {generated.domain for generated in many()} == set(domain_names())
    for generated in many():
        names = {name_phrase(name).casefold() for name, _ in vocabulary(generated.domain).workflows}
        assert generated.title.casefold() in names
        assert generated.title[0].isupper()


def test_every_node_lies_between_start_and_end() -> None:
    start, end = ProceduralNode("start"), ProceduralNode("end")
    for generated in many():
        flows = flow_graph(generated.graph)
        assert nx.is_directed_acyclic_graph(flows)
        assert {start} | nx.descendants(flows, start) == set(flows)
        assert {end} | nx.ancestors(flows, end) == set(flows)
        assert generated.graph.outgoing(end) == ()


def test_actions_have_different_texts_and_one_flow_out() -> None:
    for generated in many():
        actions = generated.graph.nodes_of("action")
        assert len({action.text for action in actions}) == len(actions)
        for action in actions:
            assert [flow.sort for flow in generated.graph.outgoing(action) if flow.sort != "constraint"] == ["sequence"]
            assert sum(flow.sort != "constraint" for flow in generated.graph.incoming(action)) == 1


def test_gateway_is_either_split_or_join() -> None:
    for generated in many():
        assert not set(splits(generated.graph)) & set(joins(generated.graph))
        assert {*splits(generated.graph), *joins(generated.graph)} == set(gateways(generated.graph))


def test_inclusive_and_parallel_gateways_come_in_pairs() -> None:
    for generated in many():
        opened, closed = (
            Counter(node.sort for node in gateways_of(generated.graph)) for gateways_of in (splits, joins)
        )
        assert (opened["inclusive"], opened["parallel"]) == (closed["inclusive"], closed["parallel"])
        assert opened["exclusive"] >= closed["exclusive"]


def test_split_and_its_join_have_as_many_branches() -> None:
    for generated in many():
        reached = flow_graph(generated.graph)
        for join in joins(generated.graph):
            above = nx.immediate_dominators(reached, ProceduralNode("start"))[join]
            assert above.sort == join.sort
            assert len(generated.graph.outgoing(above)) == len(generated.graph.incoming(join))


def test_unpaired_exclusive_split_ends_the_procedure_by_one_branch() -> None:
    bare = 0
    for generated in many():
        paired = Counter(
            nx.immediate_dominators(flow_graph(generated.graph), ProceduralNode("start"))[join]
            for join in joins(generated.graph)
        )
        unpaired = [node for node in splits(generated.graph) if node not in paired]
        for node in unpaired:
            leaving, staying = (flow.target for flow in generated.graph.outgoing(node))
            assert node.sort == "exclusive"
            assert ProceduralNode("end") in {leaving, *(flow.target for flow in generated.graph.outgoing(leaving))}
            assert staying.sort != "end"
            bare += leaving.sort == "end"
    assert bare > 50


def test_conditions_of_exclusive_gateway_exclude_each_other() -> None:
    for generated in many():
        for node in splits(generated.graph):
            if node.sort == "exclusive":
                assert {flow.condition for flow in generated.graph.outgoing(node)} in opposites(generated)


def test_conditions_of_inclusive_gateway_are_about_different_things() -> None:
    compared = 0
    for generated in many():
        for node in splits(generated.graph):
            if node.sort == "inclusive":
                conditions = [flow.condition for flow in generated.graph.outgoing(node)]
                assert not any(
                    set(pair) <= opposite_pair
                    for pair in combinations(conditions, 2)
                    for opposite_pair in opposites(generated)
                )
                compared += 1
    assert compared > 30


def test_conditions_stand_at_choices_alone_and_once_in_a_graph() -> None:
    for generated in many():
        conditions = [flow.condition for flow in generated.graph.flows if flow.condition]
        assert len(set(conditions)) == len(conditions)
        choosing = [node for node in splits(generated.graph) if node.sort != "parallel"]
        assert {flow.source for flow in generated.graph.flows if flow.condition} == set(choosing)
        assert all(flow.condition for node in choosing for flow in generated.graph.outgoing(node))


def test_gateways_are_named_by_sort_and_number_in_order() -> None:
    for generated in many():
        for sort, prefix in (("exclusive", "XOR"), ("inclusive", "OR"), ("parallel", "AND")):
            gateway_names = [node.text for node in generated.graph.nodes if node.sort == sort]
            assert sorted(gateway_names) == sorted(f"{prefix}{number}" for number in range(1, len(gateway_names) + 1))


def test_actions_and_constraints_are_in_the_words_of_the_domain() -> None:
    for generated in many():
        words = vocabulary(generated.domain)
        tasks = {words.procedure.actions[task.name]: task for task in words.tasks}
        for flow in generated.graph.flows:
            if flow.sort == "constraint" and flow.source.sort == "data":
                task = tasks[flow.target.text]
                assert flow.source.text in map(name_phrase, task.reads)
            elif flow.sort == "constraint" and flow.target.sort == "data":
                task = tasks[flow.source.text]
                assert flow.target.text in map(name_phrase, task.writes)
            elif flow.sort == "constraint":
                task = tasks[flow.source.text]
                assert flow.target.text == words.procedure.notices[task.name]


def test_every_action_of_a_graph_has_its_actor_or_none_has() -> None:
    acted = 0
    for generated in many():
        words = vocabulary(generated.domain).procedure
        actors = {phrase: words.actors[task] for task, phrase in words.actions.items()}
        actions = generated.graph.nodes_of("action")
        acted += bool(actions[0].actor)
        assert all(action.actor == (actors[action.text] if actions[0].actor else "") for action in actions)
    assert 0.5 < acted / len(many()) < 0.75


def test_constraint_has_one_flow() -> None:
    for generated in many():
        constraints = generated.graph.nodes_of("data", "notice")
        assert len(constraints) == sum(flow.sort == "constraint" for flow in generated.graph.flows)


def test_actions_stand_in_an_order_that_the_domain_allows() -> None:
    for generated in many():
        words = vocabulary(generated.domain)
        tasks = {words.procedure.actions[task.name]: task for task in words.tasks}
        flows = flow_graph(generated.graph)
        for action in generated.graph.nodes_of("action"):
            later = {tasks[node.text].name for node in nx.descendants(flows, action) if node.sort == "action"}
            assert not later & set(tasks[action.text].follows)


def test_parallel_actions_are_in_a_free_order() -> None:
    for generated in many():
        words = vocabulary(generated.domain)
        tasks = {words.procedure.actions[task.name]: task for task in words.tasks}
        flows = flow_graph(generated.graph)
        for node in splits(generated.graph):
            if node.sort == "exclusive":
                continue
            join = nx.immediate_dominators(flows.reverse(), ProceduralNode("end"))[node]
            inside = [
                {flow.target, *nx.descendants(flows, flow.target)} - {join, *nx.descendants(flows, join)}
                for flow in generated.graph.outgoing(node)
            ]
            for left, right in combinations(inside, 2):
                for first in (tasks[action.text] for action in left if action.sort == "action"):
                    names = {tasks[action.text].name for action in right if action.sort == "action"}
                    assert not names & set(first.follows)


@pytest.mark.parametrize(
    ("sort", "mean", "tolerance"),
    [
        ("action", 10.8, 0.6), ("exclusive", 2.1, 0.3), ("inclusive", 0.35, 0.2), ("parallel", 0.6, 0.2),
        ("data", 1.0, 0.15), ("notice", 0.7, 0.15), ("condition", 3.1, 0.4), ("constraint", 1.7, 0.25),
    ],
)  # fmt: skip
def test_generated_graphs_have_the_sizes_of_table_4(sort: str, mean: float, tolerance: float) -> None:
    count = sum(node.sort == sort for generated in many() for node in generated.graph.nodes)
    count += sum(flow.sort == sort for generated in many() for flow in generated.graph.flows)
    assert count / len(many()) == pytest.approx(mean, abs=tolerance)


def test_generated_graphs_nest_gateways_and_skip_branches() -> None:
    between = Counter(
        (flow.source in splits(generated.graph), flow.target in splits(generated.graph), flow.sort)
        for generated in many()
        for flow in generated.graph.flows
        if flow.source.is_gateway and flow.target.is_gateway
    )
    assert between[True, True, "condition"] > 5  # a split in a branch
    assert between[True, False, "condition"] > 5  # an empty branch
    assert between[False, True, "sequence"] > 5  # a join and a split in a row
    assert between[False, False, "sequence"] > 5  # two joins in a row


def test_draw_plan_without_conditions_has_no_choice() -> None:
    for seed in range(40):
        whole = draw_plan(Random(str(seed)), ConditionCounts(0, 0))
        assert {block.sort for run in whole.below() for block in run.blocks} <= {"action", "parallel"}


def test_draw_plan_never_takes_more_conditions_than_there_are() -> None:
    for seed in range(200):
        whole = draw_plan(Random(str(seed)), ConditionCounts(2, 0))
        blocks = [block for run in whole.below() for block in run.blocks]
        needed = sum(len(block.branches) if block.sort == "inclusive" else 1 for block in blocks if block.branches)
        needed -= sum(block.sort == "parallel" for block in blocks)
        assert needed <= 2
        assert all(len(block.branches) == 2 for block in blocks if block.sort == "exclusive")


def test_condition_without_words_is_said_with_its_limit() -> None:
    words = Vocabulary("own", (("Whole", "It."),), (Condition("freeBeds", limit=4),), (), ())
    conditions = DomainConditions(words, Random("1"))
    assert conditions.counts == ConditionCounts(1, 0)
    assert set(conditions.conflicting(2)) == {"the free beds is 4 or more", "the free beds is less than 4"}


def test_generate_graph_without_order_that_makes_sense_says_what_to_do(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(placement, "TRIES", 0)
    with pytest.raises(UsageError, match=r"PAGED: no graph 3 found for the seed 1; choose another --taskgraph-seed"):
        generate_graph(1, 3)
