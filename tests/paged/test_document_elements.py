"""Elements that a model extracts: how replies are read, and which graph the rules build of them."""

from __future__ import annotations

import json
from typing import get_args

import pytest
from drawn_graphs import graph_of_lines, same
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.families.paged.extraction_rules.document_elements import (
    FORMAT,
    ElementKind,
    ExtractedElement,
    cue_of,
    graph_of_elements,
    read_elements,
    write_elements,
)
from pytest_taskgraph.notations.procedural_text import write_procedural_graph

WORDS = st.from_regex(r"[a-z]{2,8}( [a-z]{2,8}){0,3}", fullmatch=True).filter(lambda text: text not in ("none", "null"))
KINDS: tuple[ElementKind, ...] = get_args(ElementKind)
ELEMENTS = st.lists(
    st.builds(ExtractedElement, st.just("activity"), WORDS, WORDS | st.just(""))
    | st.builds(ExtractedElement, st.sampled_from([kind for kind in KINDS if kind not in ("activity", "end")]), WORDS)
    | st.just(ExtractedElement("end"))
)


@pytest.mark.parametrize(
    ("line", "element"),
    [
        ("activity: pack the parcel | customer", ExtractedElement("activity", "pack the parcel", "customer")),
        ("- **Activity:** pack the parcel", ExtractedElement("activity", "pack the parcel")),
        ("3. Action: Pack the parcel. | none", ExtractedElement("activity", "Pack the parcel")),
        ("* gateway: `otherwise`", ExtractedElement("gateway", "otherwise")),
        ("Condition 2: it is wet", ExtractedElement("condition", "it is wet")),
        ("needs = the list", ExtractedElement("needs", "the list")),
        ("output: a receipt", ExtractedElement("produces", "a receipt")),
        ("note: it is wet", ExtractedElement("notice", "it is wet")),
        ("The procedure ends.", ExtractedElement("end")),
        ("END", ExtractedElement("end")),
    ],
)
def test_read_elements_reads_lines_as_models_write_them(line: str, element: ExtractedElement) -> None:
    assert read_elements(line).elements == (element,)


def test_read_elements_keeps_other_lines_apart_and_skips_talk() -> None:
    read = read_elements("Sure, here they are:\n```\nactivity: go\nThat is all\ncolour: red\nactivity: |\n```\n")
    assert read.elements == (ExtractedElement("activity", "go"),)
    assert read.unread == ("That is all", "colour: red", "activity: |")


def test_read_elements_reads_a_json_array() -> None:
    objects = [
        {"kind": "Activity", "text": "go", "actor": "Ada"},
        {"kind": "condition", "text": "it rains", "actor": None},
        {"kind": "colour", "text": "red"},
        {"kind": "end"},
    ]
    read = read_elements(f"Here:\n```json\n{json.dumps(objects)}\n```")
    assert [element.kind for element in read.elements] == ["activity", "condition", "end"]
    assert read.elements[0].actor == "Ada"


def test_read_elements_reads_the_format_that_prompts_show() -> None:
    read = read_elements(FORMAT)
    assert sorted({element.kind for element in read.elements}) == sorted(KINDS)
    assert read.unread == ()


@given(ELEMENTS)
def test_elements_survive_lines(elements: list[ExtractedElement]) -> None:
    assert list(read_elements(write_elements(elements)).elements) == elements


@given(ELEMENTS)
def test_graph_of_elements_of_any_order_can_be_written(elements: list[ExtractedElement]) -> None:
    graph = graph_of_elements(elements)
    assert graph == graph_of_elements(elements)
    write_procedural_graph(graph)


@pytest.mark.parametrize(
    "reply",
    ["", "[{", "[[" * 60_000, "activity: a\n" * 500_000, "condition: " * 500_000, "end\n" * 1_000_000, "\x00\ud800"],
)
def test_graph_of_elements_of_hostile_replies_is_bounded(reply: str) -> None:
    read = read_elements(reply)
    assert len(read.elements) <= 1_000
    graph_of_elements(read.elements)


@pytest.mark.parametrize(
    ("phrase", "cue"),
    [
        ("Otherwise", "otherwise"),
        ("at the same time", "parallel"),
        ("one or more of", "inclusive"),
        ("in either case", "join"),
        ("after that", "join"),
        ("either", "exclusive"),
        ("or", "or"),
        ("and then", "next"),
        ("purple", ""),
    ],
)
def test_cue_of_phrase_says_what_it_means(phrase: str, cue: str) -> None:
    assert cue_of(phrase) == cue


RETURN = """\
activity: pack the parcel | customer
needs: delivery note
activity: inspect the goods | clerk
condition: the goods are damaged
activity: reject the return | clerk
end
gateway: otherwise
activity: refund the price | clerk
gateway: then
activity: put the goods back | clerk
end
"""
CONCERT = """\
gateway: in the beginning
activity: book the hall | organiser
activity: set up the stage | technician
notice: the exits stay free
gateway: at the same time
activity: print the posters | volunteers
gateway: once both are done
activity: open the doors | organiser
"""
BREAKFAST = """\
activity: choose a table
condition: the guest wants a hot drink
activity: order coffee
condition: the guest wants food
activity: fetch a plate
gateway: after that
activity: write the bill
produces: receipt
gateway: either
activity: pay at the counter
gateway: or
activity: sign the bill
gateway: in any case
activity: leave
"""


@pytest.mark.parametrize(
    ("reply", "graph"),
    [
        (
            RETURN,
            """
            Start -> customer: pack the parcel
            data: delivery note -> customer: pack the parcel
            customer: pack the parcel -> clerk: inspect the goods
            clerk: inspect the goods -> XOR1
            XOR1 -> (the goods are damaged) clerk: reject the return
            clerk: reject the return -> End
            XOR1 -> (the goods are not damaged) clerk: refund the price
            clerk: refund the price -> clerk: put the goods back
            clerk: put the goods back -> End
            """,
        ),
        (
            CONCERT,
            """
            Start -> organiser: book the hall
            organiser: book the hall -> AND1
            AND1 -> technician: set up the stage
            technician: set up the stage -> notice: the exits stay free
            technician: set up the stage -> AND2
            AND1 -> volunteers: print the posters
            volunteers: print the posters -> AND2
            AND2 -> organiser: open the doors
            organiser: open the doors -> End
            """,
        ),
        (
            BREAKFAST,
            """
            Start -> choose a table
            choose a table -> OR1
            OR1 -> (the guest wants a hot drink) order coffee
            OR1 -> (the guest wants food) fetch a plate
            order coffee -> OR2
            fetch a plate -> OR2
            OR2 -> write the bill
            write the bill -> data: receipt
            write the bill -> XOR1
            XOR1 -> pay at the counter
            XOR1 -> sign the bill
            pay at the counter -> XOR2
            sign the bill -> XOR2
            XOR2 -> leave
            leave -> End
            """,
        ),
    ],
)
def test_graph_of_elements_follows_the_rules(reply: str, graph: str) -> None:
    graph_read = graph_of_elements(read_elements(reply).elements)
    assert same(graph_read, graph_of_lines(graph)), write_procedural_graph(graph_read)
