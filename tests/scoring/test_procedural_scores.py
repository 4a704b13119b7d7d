"""Elements of procedural graphs against gold ones: worked numbers, laws, and another way to compute the same."""

from __future__ import annotations

from itertools import pairwise, product

import pytest
from hypothesis import given
from hypothesis import strategies as st
from procedural_builders import END, START, action, gateway, graph, procedural_graphs

from pytest_taskgraph.scoring.procedural_graphs.graph_scores import (
    ELEMENTS,
    ElementCounts,
    Part,
    pool_counts,
    score_procedure,
)
from pytest_taskgraph.scoring.procedural_graphs.node_matches import bleu1
from pytest_taskgraph.workflow.procedural_graph import (
    GATEWAYS,
    ProceduralFlow,
    ProceduralGraph,
    ProceduralNode,
)


def chain(*texts: str) -> ProceduralGraph:
    """Return the graph of actions one after another."""
    nodes = [START, *map(action, texts), END]
    return graph(*pairwise(nodes))


def choice(split: str, join: str, first: str = "dirty", second: str = "still clean") -> ProceduralGraph:
    """Return the graph of a choice between two actions, with one before and one behind it."""
    split_node, join_node = gateway(split), gateway(join)
    look, wash, wax, drive = map(action, ("inspect the car", "wash it", "wax it", "drive off"))
    return graph(
        (START, look), (look, split_node), (split_node, wash, first), (split_node, wax, second), (wash, join_node),
        (wax, join_node), (join_node, drive), (drive, END),
    )  # fmt: skip


def rounded(counts: ElementCounts) -> tuple[float | None, ...]:
    values = (counts.precision, counts.recall, counts.f1)
    return tuple(None if value is None else round(value, 4) for value in values)


def test_score_procedure_of_the_reworded_ledger_gives_the_worked_numbers() -> None:
    gold = chain("open the books", "post entries", "close the ledger", "file the report")
    extracted = chain("open the books", "post entries", "close the big ledger", "file the report")
    scores = score_procedure(extracted, gold)
    assert rounded(scores["action"]) == (0.9167, 0.9016, 0.9091)
    assert rounded(scores["sequence"]) == (1.0, 1.0, 1.0)


def test_score_procedure_inclusive_for_exclusive_gives_worked_numbers() -> None:
    scores = score_procedure(choice("OR1", "OR2"), choice("XOR1", "XOR2"))
    assert [scores[name].f1 for name in ("exclusive", "inclusive", "condition")] == [0.0, 0.0, 0.0]
    assert scores["sequence"] == ElementCounts((2.0, 6), (2.0, 6))
    assert rounded(scores["sequence"]) == (0.3333, 0.3333, 0.3333)
    assert scores["exclusive"] == ElementCounts((0.0, 0), (0.0, 2))
    assert scores["parallel"].f1 is None


def test_score_procedure_of_reworded_conditions_gives_the_worked_numbers() -> None:
    extracted = choice("XOR1", "XOR2", "the car is dirty", "clean")
    scores = score_procedure(extracted, choice("XOR1", "XOR2"))
    # (0.1353 + 0.5) / 2 = 0.31765, for each BLEU is rounded
    assert rounded(scores["condition"]) == pytest.approx((0.3506, 0.3177, 0.3333), abs=1e-4)
    assert rounded(scores["exclusive"]) == (1.0, 1.0, 1.0)


def test_actor_scores_are_those_of_the_most_similar_action() -> None:
    gold = graph(
        (action("check the order", "clerk"), action("ship the goods", "the night porter")), (action("rest"), END)
    )
    extracted = graph(
        (action("check order", "clerk"), action("ship goods quickly", "porter")), (action("sing", "bird"), END)
    )
    scores = score_procedure(extracted, gold)
    # clerk 1, porter for night porter e^-1, and bird for the actor of the first action: clerk, 0
    assert rounded(scores["actor"])[:2] == (round((1 + 0.3679) / 3, 4), round((1 + 0.5) / 2, 4))


def test_actor_scores_of_equally_similar_actions_take_the_first() -> None:
    gold = graph((action("check order", "clerk"), action("order check", "boss")))
    assert score_procedure(graph((action("check the big order", "boss"), END)), gold)["actor"].extracted == (0.0, 1)
    assert score_procedure(graph((action("check the big order", "clerk"), END)), gold)["actor"].extracted == (1.0, 1)


def test_actor_scores_of_one_action_by_two_actors_are_one_against_itself() -> None:
    gold = graph((action("sign", "clerk"), action("sign", "boss")))
    assert score_procedure(gold, gold)["actor"] == ElementCounts((2.0, 2), (2.0, 2))


def test_actor_scores_of_partner_without_actor_or_action_are_zero() -> None:
    extracted = graph((action("sign", "clerk"), END))
    assert score_procedure(extracted, graph((action("sign"), END)))["actor"] == ElementCounts((0.0, 1), (0.0, 0))
    assert score_procedure(extracted, graph((START, END)))["actor"] == ElementCounts((0.0, 1), (0.0, 0))


def test_gateway_scores_of_a_split_that_is_a_join_in_gold_are_zero() -> None:
    split, join = gateway("AND1"), gateway("AND2")
    gold = graph((split, action("pack")), (action("weigh"), join))
    assert score_procedure(graph((action("pack"), split)), gold)["parallel"] == ElementCounts((0.0, 1), (0.0, 2))
    assert score_procedure(graph((split, action("pack"))), gold)["parallel"] == ElementCounts((1.0, 1), (1.0, 2))


def test_gateway_scores_count_several_gateways_by_the_same_one() -> None:
    gold = graph((gateway("AND1"), action("pack")))
    twice = graph((gateway("AND1"), action("pack")), (gateway("AND2"), action("pack it")))
    assert score_procedure(twice, gold)["parallel"] == ElementCounts((2.0, 2), (1.0, 1))


def test_gateway_scores_of_a_neighbour_too_unlike_are_zero() -> None:
    gold = graph((gateway("AND1"), action("pack the large parcel")))
    assert score_procedure(graph((gateway("AND1"), action("pack parcel"))), gold)["parallel"].f1 == 1.0
    assert score_procedure(graph((gateway("AND1"), action("pack bags"))), gold)["parallel"].f1 == 0.0


def test_gateway_scores_among_gateways_alone_go_by_their_types() -> None:
    gold = graph((gateway("XOR1"), gateway("AND1")), (gateway("AND1"), action("pack")))
    nested = graph((gateway("XOR7"), gateway("AND9")))
    assert score_procedure(nested, gold)["exclusive"] == ElementCounts((1.0, 1), (1.0, 1))
    assert score_procedure(nested, gold)["parallel"] == ElementCounts((1.0, 1), (0.0, 1))
    assert score_procedure(graph((gateway("XOR7"), gateway("OR9"))), gold)["exclusive"].f1 == 0.0


def test_gateway_scores_with_another_neighbour_pass_over_gateways() -> None:
    gold = graph((gateway("XOR1"), gateway("AND1")))
    mixed = graph((gateway("XOR1"), gateway("AND1")), (action("sing"), gateway("XOR1")))
    assert score_procedure(mixed, gold)["exclusive"] == ElementCounts((0.0, 1), (1.0, 1))


def test_flow_scores_of_constraints_need_their_type_and_both_ends() -> None:
    sheet, note = ProceduralNode("data", "price list"), ProceduralNode("notice", "price list")
    gold = graph((sheet, action("order more")))
    assert score_procedure(graph((sheet, action("order much more"))), gold)["constraint"].f1 == 1.0
    assert score_procedure(graph((note, action("order more"))), gold)["constraint"].f1 == 0.0
    assert score_procedure(graph((action("order more"), sheet)), gold)["constraint"].f1 == 0.0


def test_flow_scores_of_a_condition_on_a_constraint_do_not_ask_for_it() -> None:
    sheet = ProceduralNode("data", "price list")
    scores = score_procedure(graph((sheet, action("order"), "new")), graph((sheet, action("order"), "old")))
    assert (scores["constraint"].f1, scores["condition"].f1) == (1.0, None)


def test_flow_scores_of_several_matching_flows_take_the_best_condition() -> None:
    gold = graph((gateway("XOR1"), END, "it rains"), (gateway("XOR2"), END, "it snows"))
    scores = score_procedure(graph((gateway("XOR9"), END, "it snows")), gold)
    assert scores["condition"].extracted == (1.0, 1)


def test_score_procedure_names_the_elements_in_the_order_of_the_paper() -> None:
    assert tuple(score_procedure(ProceduralGraph(), ProceduralGraph())) == ELEMENTS
    assert ELEMENTS == (
        "actor", "action", "data", "notice", "exclusive", "inclusive", "parallel",
        "sequence", "condition", "constraint",
    )  # fmt: skip


@given(procedural_graphs())
def test_score_procedure_of_a_graph_against_itself_is_one_or_undefined(gold: ProceduralGraph) -> None:
    for counts in score_procedure(gold, gold).values():
        assert counts.extracted == counts.gold
        assert counts.f1 in (1.0, None)
        assert (counts.f1 is None) == (counts.gold[1] == 0)


@given(procedural_graphs(), procedural_graphs())
def test_score_procedure_of_swapped_graphs_swaps_precision_and_recall(
    extracted: ProceduralGraph, gold: ProceduralGraph
) -> None:
    swapped = score_procedure(gold, extracted)
    for name, counts in score_procedure(extracted, gold).items():
        assert counts == ElementCounts(swapped[name].gold, swapped[name].extracted)
        assert all(0 <= score <= count for score, count in (counts.extracted, counts.gold))


@given(procedural_graphs(), procedural_graphs(), st.randoms(use_true_random=False))
def test_score_procedure_does_not_depend_on_the_order_of_flows(
    extracted: ProceduralGraph, gold: ProceduralGraph, random: object
) -> None:
    shuffled = [*extracted.flows]
    random.shuffle(shuffled)  # type: ignore[attr-defined]
    scores = score_procedure(extracted, gold)
    again = score_procedure(ProceduralGraph.of(shuffled), gold)
    for name in set(ELEMENTS) - {"actor"}:  # the first of equally similar actions
        assert again[name] == scores[name]


def by_brute_force(scored: ProceduralGraph, partner: ProceduralGraph) -> dict[str, Part]:
    """Return what the elements of a graph score, from the flows of both alone: every pair is tried."""

    def match(one: ProceduralNode, other: ProceduralNode) -> bool:
        alike = one.sort not in ("action", "data", "notice") or bleu1(one.text, other.text) >= 0.5
        return one.sort == other.sort and alike

    def nodes(of: ProceduralGraph, sort: str) -> list[ProceduralNode]:
        return [*dict.fromkeys(end for flow in of.flows for end in (flow.source, flow.target) if end.sort == sort)]

    def is_right(one: ProceduralNode) -> bool:
        ends = [(flow.source, flow.target) for flow in scored.flows if one in (flow.source, flow.target)]
        lonely = all(end.sort in GATEWAYS for pair in ends for end in pair)
        for (source, target), flow in product(ends, partner.flows):
            counted = lonely or target.sort not in GATEWAYS
            if source == one and counted and flow.source.sort == one.sort and match(target, flow.target):
                return True
            counted = lonely or source.sort not in GATEWAYS
            if target == one and counted and flow.target.sort == one.sort and match(source, flow.source):
                return True
        return False

    def flow_score(one: ProceduralFlow) -> float:
        scores = [
            bleu1(one.condition, other.condition) if one.sort == "condition" else 1.0
            for other in partner.flows
            if other.sort == one.sort and match(one.source, other.source) and match(one.target, other.target)
        ]
        return max(scores, default=0.0)

    parts: dict[str, Part] = {}
    for sort in ("action", "data", "notice"):
        mine, theirs = nodes(scored, sort), nodes(partner, sort)
        parts[sort] = sum(max([bleu1(a.text, b.text) for b in theirs] or [0.0]) for a in mine), len(mine)
    for sort in GATEWAYS:
        parts[sort] = float(sum(map(is_right, nodes(scored, sort)))), len(nodes(scored, sort))
    for kind in ("sequence", "condition", "constraint"):
        flows = [flow for flow in scored.flows if flow.sort == kind]
        parts[kind] = sum(map(flow_score, flows)), len(flows)
    return parts


@given(procedural_graphs(), procedural_graphs())
def test_score_procedure_is_what_brute_force_finds(extracted: ProceduralGraph, gold: ProceduralGraph) -> None:
    scores = score_procedure(extracted, gold)
    for name, part in by_brute_force(extracted, gold).items():
        assert scores[name].extracted == pytest.approx(part)
    for name, part in by_brute_force(gold, extracted).items():
        assert scores[name].gold == pytest.approx(part)


def test_pooled_counts_are_summed_before_they_are_divided() -> None:
    counts = pool_counts([ElementCounts((1.0, 1), (1.0, 4)), ElementCounts((1.0, 3), (0.0, 0))])
    assert counts == ElementCounts((2.0, 4), (1.0, 4))
    assert counts.f1 == pytest.approx(1 / 3)
    assert pool_counts([]).f1 is None


def test_element_counts_of_one_side_alone_have_an_f1_of_zero() -> None:
    assert rounded(ElementCounts((0.0, 2), (0.0, 0))) == (0.0, None, 0.0)
    assert rounded(ElementCounts((0.0, 0), (0.0, 2))) == (None, 0.0, 0.0)
