"""The parallel verifier of PAGED: the objects of actions, and the feedback on parallel and sequential ones."""

from __future__ import annotations

from itertools import pairwise

import pytest

from pytest_taskgraph.families.paged.refinement.verifier_feedback import order_feedback
from pytest_taskgraph.families.paged.refinement.verifiers import find_objects, verify_parallel, verify_sequences
from pytest_taskgraph.notations.procedural_text import read_procedural_graph
from pytest_taskgraph.workflow.procedural_graph import ProceduralGraph


def graph_of(text: str) -> ProceduralGraph:
    return read_procedural_graph(text).graph


def parallel_text(*actions: str) -> str:
    branches = [f"AND1 -> {action}\n{action} -> AND2" for action in actions]
    return "\n".join(["Start -> AND1", *branches, "AND2 -> End"])


@pytest.mark.parametrize(
    ("action", "objects"),
    [
        ("create the profile", {"profile"}),
        ("send the profile to the client", {"profile"}),
        ("carefully check the signed forms with a lamp", {"signed form"}),
        ("wash and peel the carrots and the apples", {"carrot", "apple"}),
        ("look for a taxi", {"taxi"}),
        ("fill in the form", {"form"}),
        ("bake two batches of bread", {"batch"}),
        ("send it to the customer", set()),
        ("wait", set()),
        ("", set()),
    ],
)
def test_find_objects_of_action_are_noun_phrases_behind_verb(action: str, objects: set[str]) -> None:
    assert find_objects(action) == objects


def test_verify_parallel_of_one_object_gives_feedback() -> None:
    text = parallel_text("create the profile", "send the profile", "call the client")
    feedback = [(entry.kind, entry.gateway, entry.join, entry.phrases) for entry in verify_parallel(graph_of(text))]
    assert feedback == [("parallel", "AND1", "AND2", ("create the profile", "send the profile"))]


def test_verify_parallel_of_different_objects_gives_none() -> None:
    assert verify_parallel(graph_of(parallel_text("prepare the meal", "prepare the tableware"))) == []


def test_verify_parallel_of_one_object_within_branch_gives_none() -> None:
    text = """\
Start -> AND1
AND1 -> bake the cake
bake the cake -> ice the cake
ice the cake -> AND2
AND1 -> set the table
set the table -> AND2
AND2 -> End
"""
    assert verify_parallel(graph_of(text)) == []


def test_verify_parallel_without_join_compares_first_actions() -> None:
    text = """\
Start -> AND1
AND1 -> bake the cake
AND1 -> set the table
set the table -> eat the cake
eat the cake -> End
"""
    assert verify_parallel(graph_of(text)) == []
    assert [entry.join for entry in verify_parallel(graph_of(text.replace("set the table", "cut the cake")))] == [""]


def test_verify_sequences_of_different_objects_gives_feedback() -> None:
    text = "Start -> prepare the meal\nprepare the meal -> prepare the tableware\nprepare the tableware -> End"
    feedback = [(entry.kind, entry.gateway, entry.phrases) for entry in verify_sequences(graph_of(text))]
    assert feedback == [("sequential", "", ("prepare the meal", "prepare the tableware"))]


@pytest.mark.parametrize(
    "text",
    [
        "Start -> write the letter\nwrite the letter -> send the letter\nsend the letter -> End",
        "write the letter -> put a stamp on the letter",
        "check the list -> XOR1\nXOR1 -> (it is long) buy bags",
        "write the list -> DataConstraint(list)\nDataConstraint(list) -> buy bags\nwrite the list -> buy bags",
        "wait -> buy bags",
    ],
)
def test_verify_sequences_of_dependent_actions_gives_none(text: str) -> None:
    assert verify_sequences(graph_of(text)) == []


def test_verify_sequences_of_long_chain_gives_two_disjoint_pairs() -> None:
    things = ["tent", "stove", "map", "rope", "lamp", "soap"]
    text = "\n".join(f"buy the {first} -> buy the {second}" for first, second in pairwise(things))
    assert [entry.phrases for entry in verify_sequences(graph_of(text))] == [
        ("buy the tent", "buy the stove"),
        ("buy the map", "buy the rope"),
    ]


def test_order_feedback_puts_gateways_before_sequences() -> None:
    text = parallel_text("create the profile", "send the profile") + "\nbuy the tent -> buy the map"
    graph = graph_of(text)
    assert [entry.kind for entry in order_feedback([*verify_sequences(graph), *verify_parallel(graph)])] == [
        "parallel",
        "sequential",
    ]
