"""The condition verifier of PAGED: which gateways have conditions of the other type, and the feedback on them."""

from __future__ import annotations

import pytest

from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.families.paged.refinement.conflict_rules import (
    ConflictVerdict,
    LexicalConflictRule,
    find_guard_conflict,
    read_number_range,
)
from pytest_taskgraph.families.paged.refinement.verifier_feedback import feedback_message, feedback_template
from pytest_taskgraph.families.paged.refinement.verifiers import find_gateway_conflict, verify_gateways
from pytest_taskgraph.notations.procedural_text import read_procedural_graph

RULE = LexicalConflictRule()


def split_text(gateway: str, *conditions: str) -> str:
    """Return a graph with one split and join, an action on each branch."""
    lines = [f"Start -> {gateway}1"]
    for number, condition in enumerate(conditions):
        lines += [f"{gateway}1 -> ({condition}) do task {number}" if condition else f"{gateway}1 -> do task {number}"]
        lines += [f"do task {number} -> {gateway}2"]
    return "\n".join([*lines, f"{gateway}2 -> End"])


def kinds(text: str) -> list[tuple[str, str, str, tuple[str, ...]]]:
    feedback = verify_gateways(read_procedural_graph(text).graph, RULE)
    return [(entry.kind, entry.gateway, entry.join, entry.phrases) for entry in feedback if entry is not None]


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("need dishes", "need drinks", "no conflict"),
        ("want some crispy texture", "enjoy the fruity flavor", "no conflict"),
        ("the stock is low", "the stock is not low", "conflict"),
        ("the form is valid", "the form is invalid", "conflict"),
        ("the customer pays by card", "the customer pays by cash", "conflict"),
        ("the parcel is heavy", "otherwise", "conflict"),
        ("the parcel is heavy", "if not", "conflict"),
        ("if drinks are needed", "when dishes are needed", "no conflict"),
        ("the order is urgent", "The order is urgent.", "no conflict"),
        ("the delay is more than 5 days", "the delay is at most 5 days", "conflict"),
        ("the delay is at least 5 days", "the delay is at most 5 days", "no conflict"),
        ("the price exceeds $1,000", "the price is 500 or less", "conflict"),
        ("the order exceeds 100 euros", "the parcel is over 20 kilos", "no conflict"),
        ("credit is granted", "the application is rejected", "unknown"),
        ("pizza is chosen", "pasta is chosen", "unknown"),
    ],
)
def test_lexical_rule_of_two_conditions_gives_verdict(first: str, second: str, verdict: ConflictVerdict) -> None:
    assert RULE.find_conflict(first, second) == verdict
    assert RULE.find_conflict(second, first) == verdict


@pytest.mark.parametrize(
    ("first", "second", "verdict"),
    [
        ("n > 5", "n <= 5", "conflict"),
        ("n > 5", "n > 3", "no conflict"),
        ("n > 5", "m > 5", "no conflict"),
        ('mode = "fast"', 'mode = "slow"', "conflict"),
        ("n > 5", "otherwise", "conflict"),
        ("n > 5", "the stock is low", None),
        (" or ".join(f"n = {number}" for number in range(6)), "n > 3", "unknown"),
    ],
)
def test_guard_conflict_of_formal_guards_is_exact(first: str, second: str, verdict: ConflictVerdict | None) -> None:
    assert find_guard_conflict(first, second) == verdict


@pytest.mark.parametrize(
    ("text", "low", "high"),
    [
        ("between 10 and 20 items", 10, 20),
        ("more than 5 days", 5, None),
        ("no more than 5 days", None, 5),
        ("5 days or more", 5, None),
        ("exactly 3 guests", 3, 3),
    ],
)
def test_number_range_of_words_has_its_ends(text: str, low: int | None, high: int | None) -> None:
    number_range = read_number_range(text)
    assert number_range is not None
    assert (number_range.low, number_range.high) == (low, high)


def test_number_range_of_further_numbers_is_none() -> None:
    assert read_number_range("more than 5 of 10 votes") is None
    assert read_number_range("the stock is low") is None


def test_verify_conditions_of_exclusive_without_conflict_gives_feedback() -> None:
    feedback = kinds(split_text("XOR", "need dishes", "need drinks"))
    assert feedback == [("exclusive", "XOR1", "XOR2", ("need dishes", "need drinks"))]


def test_verify_conditions_of_inclusive_with_conflict_gives_feedback() -> None:
    feedback = kinds(split_text("OR", "the form is valid", "the form is invalid"))
    assert feedback == [("inclusive", "OR1", "OR2", ("the form is valid", "the form is invalid"))]


def test_verify_conditions_of_formal_guards_decides_exactly() -> None:
    assert [feedback[:2] for feedback in kinds(split_text("XOR", "n > 5", "n > 3"))] == [("exclusive", "XOR1")]
    assert kinds(split_text("XOR", "n > 5", "n <= 5")) == []


@pytest.mark.parametrize(
    "text",
    [
        split_text("XOR", "the form is valid", "the form is invalid"),
        split_text("OR", "need dishes", "need drinks"),
        split_text("OR", "need dishes", "need drinks", "otherwise"),
        split_text("XOR", "the parcel is heavy", ""),
        split_text("OR", "the parcel is heavy", ""),
        split_text("XOR", "pizza is chosen", "pasta is chosen"),
        split_text("AND", "need dishes", "need drinks"),
    ],
)
def test_verify_conditions_of_right_or_unknown_gateways_gives_none(text: str) -> None:
    assert kinds(text) == []


def test_find_gateway_conflict_of_three_needs_every_pair() -> None:
    colours = ["the light is red", "the light is green", "the light is yellow"]
    assert find_gateway_conflict(colours, RULE) == ("conflict", tuple(colours))
    assert find_gateway_conflict([*colours[:2], "dishes are needed"], RULE) == (
        "no conflict",
        ("the light is red", "dishes are needed"),
    )
    assert find_gateway_conflict(["the parcel is heavy", "otherwise"], RULE)[0] == "conflict"


def test_find_gateway_conflict_with_other_rule_asks_it() -> None:
    class Never:
        def find_conflict(self, first: str, second: str) -> ConflictVerdict:
            return "no conflict"

    assert find_gateway_conflict(["it is valid", "it is invalid"], Never())[0] == "no conflict"
    assert find_gateway_conflict(["n > 5", "n <= 5"], Never())[0] == "conflict"


def test_verify_conditions_of_nested_gateways_puts_shortest_slab_first() -> None:
    text = """\
Start -> XOR1
XOR1 -> (need food) XOR2
XOR1 -> (need drinks) buy wine
XOR2 -> (want cake) bake a cake
XOR2 -> (need bread) bake bread
bake a cake -> XOR3
bake bread -> XOR3
XOR3 -> XOR4
buy wine -> XOR4
XOR4 -> End
"""
    assert [feedback[1:3] for feedback in kinds(text)] == [("XOR2", "XOR3"), ("XOR1", "XOR4")]


def test_feedback_message_tells_gateway_conditions_and_answer() -> None:
    graph = read_procedural_graph(split_text("XOR", "need dishes", "need drinks")).graph
    template = feedback_template(Settings())
    message = feedback_message([entry for entry in verify_gateways(graph, RULE) if entry is not None], template)
    assert (
        '- XOR1 with its join XOR2 is an exclusive gateway, but its conditions do not conflict: "need dishes"'
        in message
    )
    assert '"need drinks" can hold at the same time' in message
    assert "Final answer:" not in message
    assert "Final answer:" in feedback_message([], template, with_marker=True)
