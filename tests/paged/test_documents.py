from __future__ import annotations

import json
import os
import sys
from collections.abc import Sequence

import bounded_process
import pytest
from document_graphs import graph_of, nested_graphs, untidy_graphs
from hypothesis import given

from pytest_taskgraph.errors import UnknownNameError
from pytest_taskgraph.families.paged.documents import (
    QUALITIES,
    SPOKEN,
    DocumentQuality,
    Unit,
    UnitGroup,
    decompose,
    fragment_text,
    group_by_part,
    write_document,
)
from pytest_taskgraph.workflow.procedural_graph import ProceduralGraph

RESTAURANT = """
Start -> enter the restaurant
enter the restaurant -> OR1
OR1 -> (the guest needs dishes) choose the desired dishes
OR1 -> (the guest needs drinks) order drinks
choose the desired dishes -> specify the taste
data(menu) -> choose the desired dishes
specify the taste -> OR2
order drinks -> OR2
OR2 -> AND1
AND1 -> cook the dishes
AND1 -> mix the drinks
cook the dishes -> serve the dishes
cook the dishes -> notice(the oven must be hot)
serve the dishes -> AND2
mix the drinks -> AND2
AND2 -> XOR1
XOR1 -> (the food is cold) XOR3
XOR3 -> (the cook is in) reheat the food
XOR3 -> (the cook is out) fetch bread
reheat the food -> XOR4
fetch bread -> XOR4
XOR4 -> XOR2
XOR1 -> (the food is warm) eat the food
XOR1 -> (the guest has left) End
eat the food -> XOR2
XOR2 -> pay
pay -> data(receipt)
pay -> End
"""
ACTORS = {"enter": "guest", "choose": "guest", "specify": "guest", "order": "guest", "eat": "guest", "pay": "guest"} | {
    "cook": "kitchen",
    "serve": "kitchen",
    "mix": "Anna",
    "reheat": "IT support",
    "fetch": "",
}


def restaurant() -> ProceduralGraph:
    return graph_of(RESTAURANT, **ACTORS)


def missing_texts(graph: ProceduralGraph, text: str) -> list[str]:
    """Return the texts and actors of a graph that do not stand in a document, the case of the first letter aside."""
    nodes = [node for node in graph.nodes if not node.is_gateway]
    texts = [node.text for node in nodes] + [node.actor for node in nodes] + [flow.condition for flow in graph.flows]
    forms = {text: {text, text[:1].lower() + text[1:], text[:1].upper() + text[1:]} for text in texts}
    return [text for text in texts if not any(form in text for form in forms[text])]


def sentences(text: str, **actors: str) -> list[str]:
    return [sentence.text for sentence in write_document(graph_of(text, **actors)).sentences]


def test_write_document_restaurant_tells_part_by_part() -> None:
    assert [sentence.text for sentence in write_document(restaurant()).sentences] == [
        "In the beginning, the guest must enter the restaurant.",
        "Next, if the guest needs dishes, then the guest must choose the desired dishes, then specify the taste.",
        "“Choose the desired dishes” requires access to the menu.",
        "In addition, if the guest needs drinks, then the guest must order drinks.",
        "Once all that applies is done, the kitchen must cook the dishes, then serve the dishes; at the same "
        "time, Anna must mix the drinks.",
        "To cook the dishes, note that the oven must be hot.",
        "When both are done, if the guest has left, then the procedure ends.",
        "Otherwise, if the food is warm, then the guest must eat the food.",
        "Otherwise, if the food is cold, then if the cook is in, then the IT support must reheat the food.",
        "Otherwise, if the cook is out, then fetch bread.",
        "After that, in either case, this part is done.",
        "After that, unless the procedure has ended, the guest must pay, and the procedure ends.",
        "“Pay” produces the receipt.",
    ]


def test_write_document_sentence_knows_its_units() -> None:
    document = write_document(restaurant())
    assert [unit.kind for unit in document.sentences[1].units] == [
        "action-split",
        "inclusive-action",
        "action-action",
        "action-join",
    ]
    assert [unit.kind for unit in document.sentences[2].units] == ["data-action"]
    assert document.sentences[1].group == document.sentences[2].group != document.sentences[3].group
    assert document.text == " ".join(sentence.text for sentence in document.sentences)


@given(nested_graphs())
def test_write_document_nested_graph_says_every_text_and_unit(graph: ProceduralGraph) -> None:
    document = write_document(graph)
    assert missing_texts(graph, document.text) == []
    assert {unit for sentence in document.sentences for unit in sentence.units} == {*decompose(graph)}
    assert all(
        sentence.text.lstrip("“")[0].isupper() and sentence.text.endswith(".") for sentence in document.sentences
    )


@given(nested_graphs())
def test_write_document_nested_graph_tells_an_action_once(graph: ProceduralGraph) -> None:
    document = write_document(graph)
    constraints = ("data-action", "action-data", "action-notice")
    sentences = [sentence.text for sentence in document.sentences if sentence.units[0].kind not in constraints]
    for action in graph.nodes_of("action"):
        assert sum(text.casefold().count(f"{action.text}".casefold()) for text in sentences) >= 1
        exact = [text for text in sentences if any(f"{action.text}{end}" in text for end in (",", ".", ";"))]
        assert len(exact) <= 1


@given(nested_graphs())
def test_write_document_concatenated_says_every_text_and_spoken_unit(graph: ProceduralGraph) -> None:
    document = write_document(graph, "concatenated")
    assert missing_texts(graph, document.text) == []
    units = [unit for sentence in document.sentences for unit in sentence.units]
    assert units == [unit for unit in decompose(graph) if fragment_text(graph, unit)]
    assert {unit for unit in decompose(graph) if unit.kind in SPOKEN} <= {*units}


@given(untidy_graphs())
@pytest.mark.parametrize("quality", QUALITIES)
def test_write_document_untidy_graph_says_every_text(quality: DocumentQuality, graph: ProceduralGraph) -> None:
    assert missing_texts(graph, write_document(graph, quality).text) == []


@given(untidy_graphs())
def test_group_by_part_untidy_graph_keeps_every_unit(graph: ProceduralGraph) -> None:
    units = decompose(graph)
    assert {unit for group in group_by_part(graph, units) for unit in group.units} == {*units}


def test_write_document_graph_without_flows_is_empty() -> None:
    document = write_document(ProceduralGraph())
    assert (document.text, document.sentences, document.fragments) == ("", (), ())


def test_write_document_unknown_quality_is_refused() -> None:
    with pytest.raises(UnknownNameError, match="quality of PAGED documents 'best'; known: concatenated, pipeline"):
        write_document(restaurant(), "best")  # type: ignore[arg-type]


def test_write_document_other_seed_varies_connectives_only() -> None:
    graph = graph_of("Start -> a\na -> b\nb -> c\nc -> End", a="clerk", b="cook", c="clerk")
    texts = {write_document(graph, seed=seed).text for seed in range(20)}
    assert texts == {
        f"In the beginning, the clerk must a. {first}, the cook must b. "
        f"{second}, the clerk must c, and the procedure ends."
        for first in ("Then", "Next")
        for second in ("Then", "Next")
    }


def test_write_document_hash_seed_changes_nothing() -> None:
    script = (
        "import json, sys\n"
        "from pytest_taskgraph.families.paged.documents import write_document\n"
        "from pytest_taskgraph.workflow.procedural_graph import ProceduralGraph\n"
        "graph = ProceduralGraph.from_json(json.loads(sys.argv[1]))\n"
        "print([write_document(graph, quality, 7).text for quality in ('pipeline', 'concatenated')])\n"
    )
    command = [sys.executable, "-c", script, json.dumps(restaurant().to_json())]
    runs = [bounded_process.run(command, env={**os.environ, "PYTHONHASHSEED": seed}) for seed in ("1", "2")]
    assert [run.returncode for run in runs] == [0, 0]
    assert runs[0].stdout == runs[1].stdout
    assert "the guest must pay" in runs[0].stdout


def test_write_document_own_grouping_is_followed() -> None:
    def backwards(graph: ProceduralGraph, units: Sequence[Unit]) -> Sequence[UnitGroup]:
        return [UnitGroup((unit,)) for unit in reversed(units)]

    graph = graph_of("Start -> a\na -> b\nb -> End", a="clerk", b="clerk")
    assert [sentence.text for sentence in write_document(graph, grouping=backwards).sentences] == [
        "The clerk must b, and the procedure ends.",
        "Separately, the clerk must a.",
        "Next, the procedure goes on with “b” by the clerk.",
        "In the beginning, the procedure goes on with “a” by the clerk.",
    ]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        # A choice with branches that ended, without a join: what follows is the main line.
        (
            "Start -> XOR1\nXOR1 -> (it is ready) a\nXOR1 -> (it is late) End\na -> b\nb -> c\nc -> d\nd -> End",
            [
                "In the beginning, if it is late, then the procedure ends.",
                "Otherwise, if it is ready, then the clerk must a, then b, and then c.",
                "Then, the clerk must d, and the procedure ends.",
            ],
        ),
        # A long branch shows where it is.
        (
            "Start -> XOR1\nXOR1 -> (x) a\na -> b\nb -> c\nc -> d\nd -> XOR2\nXOR1 -> (y) XOR2\nXOR2 -> End",
            [
                "In the beginning, if x, then the clerk must a, then b, and then c.",
                "Then, in this case, the clerk must d.",
                "Otherwise, if y, then nothing has to be done.",
                "After that, in either case, the procedure ends.",
            ],
        ),
        # A parallel branch of several sentences, and more than three branches.
        (
            "Start -> AND1\nAND1 -> a\na -> b\nb -> c\nc -> d\nd -> AND2\nAND1 -> e\ne -> AND2\nAND2 -> f\nf -> End",
            [
                "In the beginning, on the one hand, the clerk must a, then b, and then c.",
                "Then, in this part, the clerk must d.",
                "At the same time, the clerk must e.",
                "When both are done, the clerk must f, and the procedure ends.",
            ],
        ),
        (
            "Start -> AND1\nAND1 -> a\nAND1 -> b\nAND1 -> c\nAND1 -> d\n"
            + "".join(f"{letter} -> AND2\n" for letter in "abcd")
            + "AND2 -> End",
            [
                "In the beginning, the clerk must a; at the same time, the clerk must b; meanwhile, the clerk must c; "
                "meanwhile, the clerk must d.",
                "When all of these are done, the procedure ends.",
            ],
        ),
        # "otherwise" comes last.
        (
            "Start -> XOR1\nXOR1 -> (otherwise) a\nXOR1 -> (it rains) b\na -> XOR2\nb -> XOR2\nXOR2 -> End",
            [
                "In the beginning, if it rains, then the clerk must b.",
                "Otherwise, the clerk must a.",
                "After that, in either case, the procedure ends.",
            ],
        ),
        # A loop.
        (
            "Start -> XOR1\nXOR1 -> a\na -> XOR2\nXOR2 -> (it failed) XOR1\nXOR2 -> (it worked) End",
            [
                "In the beginning, the clerk must a.",
                "Then, if it worked, then the procedure ends.",
                "Otherwise, if it failed, then the procedure goes on at the point before “a” by the clerk.",
            ],
        ),
        # A choice without a join of its own inside another.
        (
            "Start -> XOR1\nXOR1 -> (x) XOR3\nXOR3 -> (p) a\nXOR3 -> (q) b\na -> XOR2\nb -> XOR2\n"
            "XOR1 -> (y) XOR4\nXOR4 -> (r) c\nXOR4 -> (s) d\nc -> XOR2\nd -> XOR2\nXOR2 -> End",
            [
                "In the beginning, if x, then if p, then the clerk must a.",
                "Otherwise, if q, then the clerk must b.",
                "Otherwise, that is, unless x, if y, then if r, then the clerk must c.",
                "Otherwise, if s, then the clerk must d.",
                "After that, whether or not x, the procedure ends.",
            ],
        ),
    ],
)
def test_write_document_structure_is_shown_in_words(text: str, expected: list[str]) -> None:
    graph = graph_of(text, **dict.fromkeys("abcdef", "clerk"))
    sentences = [sentence.text.replace("Next, ", "Then, ") for sentence in write_document(graph).sentences]
    assert sentences == expected


@pytest.mark.parametrize(
    ("text", "actors", "expected"),
    [
        ("data(price list) -> check", {}, "“Check” by the clerk requires access to the price list."),
        ("Start -> check\ncheck -> notice(at most two)", {}, "To check, pay attention to at most two."),
        ("Start -> check\ncheck -> notice(do not sign)", {}, "To check, pay attention to “do not sign”."),
        ("Start -> checks it\nchecks it -> End", {}, "In the beginning, the clerk checks it, and the procedure ends."),
        (
            "Start -> check\ncheck -> End",
            {"check": "Anna"},
            "In the beginning, Anna must check, and the procedure ends.",
        ),
        ("Start -> check\ncheck -> End", {"check": ""}, "In the beginning, check, and the procedure ends."),
        (
            "Start -> check if it is late. Now!\ncheck if it is late. Now! -> End",
            {},
            "In the beginning, the clerk must “check if it is late. Now!”, and the procedure ends.",
        ),
        (
            "Start -> XOR1\nXOR1 -> (When the PDF is there) check",
            {},
            "In the beginning, when the PDF is there, then the clerk must check.",
        ),
        ("Start -> XOR1\nXOR1 -> (late?) check", {}, "In the beginning, if “late?”, then the clerk must check."),
        ("Start -> XOR1\nXOR1 -> (ok) check\nXOR1 -> End", {}, "In the remaining case, the procedure ends."),
    ],
)
def test_write_document_texts_are_fitted_into_sentences(text: str, actors: dict[str, str], expected: str) -> None:
    graph = graph_of(text, **{"check": "clerk", "checks": "clerk"} | actors)
    assert write_document(graph).sentences[-1].text == expected


def test_write_document_deeply_nested_choices_are_told() -> None:
    choices = (f"XOR{number} -> (it is {number}) End\nXOR{number} -> (else) XOR{number + 1}" for number in range(1200))
    graph = graph_of("Start -> XOR0\n" + "\n".join(choices))
    document = write_document(graph)
    assert len(document.sentences) == 1200 + 1
    assert document.sentences[1].text == "Else, further cases are told apart: if it is 1, then the procedure ends."
