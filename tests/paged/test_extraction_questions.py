"""The questions of PAGED: documents drawn, prompts with worked examples, and what their episodes come to."""

from __future__ import annotations

import re
from dataclasses import replace
from pathlib import Path

import pytest

from pytest_taskgraph.asking import Episode, drive
from pytest_taskgraph.errors import UnknownNameError
from pytest_taskgraph.families.paged.document_questions import check, procedure_pair, question, references
from pytest_taskgraph.families.paged.extraction_methods import METHODS
from pytest_taskgraph.families.paged.extraction_rules.document_elements import graph_of_elements, read_elements
from pytest_taskgraph.families.paged.paged_family import paged
from pytest_taskgraph.families.paged.paged_settings import PagedSettings
from pytest_taskgraph.families.paged.worked_examples import read_worked_examples
from pytest_taskgraph.notations.procedural_text import read_procedural_graph, write_procedural_graph
from pytest_taskgraph.scoring.forms.procedural_graph_form import explain_procedure
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Question, Reply, Request
from pytest_taskgraph.workflow.procedural_graph import ProceduralGraph

SETTINGS = PagedSettings(methods=("all",), instances=3)


def questions(settings: PagedSettings = SETTINGS) -> list[Question]:
    return [question(reference, settings) for reference in references(settings)]


def gold_text(asked_question: Question) -> str:
    assert isinstance(asked_question.reference, dict)
    return write_procedural_graph(ProceduralGraph.from_json(asked_question.reference["flows"]))


def run(episode: Episode, asked_question: Question, text: str) -> Reply:
    """The reply that an episode comes to where every request gets the same text."""
    import asyncio

    async def answer(request: Request) -> Reply:
        return Reply(text)

    return asyncio.run(drive(episode(asked_question), answer)).reply


def test_references_are_of_the_same_documents_for_every_method() -> None:
    ids = [reference.id for reference in references(SETTINGS)]
    documents = {
        method: {document_id.removeprefix(f"{method}-") for document_id in ids if document_id.startswith(f"{method}-")}
        for method in METHODS
    }
    assert len(ids) == len(set(ids)) == 3 * len(METHODS)
    assert len({frozenset(ids) for ids in documents.values()}) == 1


def test_questions_stay_those_of_their_references_where_a_file_vanishes(tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.graph.txt").write_text(f"Start -> boil {name}\nboil {name} -> End\n")
        (tmp_path / f"{name}.document.txt").write_text(f"Boil {name}.")
    settings = replace(SETTINGS, source="own", data={"paged": str(tmp_path)}, methods=("extract",))
    references_drawn = references(settings)
    (tmp_path / "a.graph.txt").unlink()
    assert [question(reference, settings).text for reference in references_drawn] == ["a\nBoil a.", "b\nBoil b."]
    assert [reference.id for reference in references(settings)] == ["extract-b"]


def test_references_of_more_documents_keep_those_of_fewer() -> None:
    fewer, more = ({reference.id for reference in references(replace(SETTINGS, instances=count))} for count in (2, 5))
    assert fewer < more


@pytest.mark.parametrize("method", METHODS)
def test_gold_graph_as_reply_scores_one_in_every_method(method: str) -> None:
    for asked_question in questions(replace(SETTINGS, methods=(method,))):
        text = gold_text(asked_question)
        reply = run(
            paged.episode(asked_question.episode),
            asked_question,
            f"Final answer:\n{text}" if asked_question.place == "marker" else text,
        )
        score = grade(asked_question, reply)
        assert score.value == 1.0


def test_elements_in_a_reply_become_the_graph_of_the_rules() -> None:
    (example, *_) = read_worked_examples()
    asked_question = questions(replace(SETTINGS, methods=("elements",)))[0]
    reply = run(paged.episode("elements"), asked_question, example.elements)
    assert read_procedural_graph(reply.text).graph == read_procedural_graph(example.graph).graph


def test_worked_examples_are_read_without_a_lost_line() -> None:
    for example in read_worked_examples():
        graph = read_procedural_graph(example.graph)
        assert graph.unread == ()
        assert all(node.text in example.document or node.is_gateway for node in graph.graph.nodes_of("data", "notice"))
        rebuilt = graph_of_elements(read_elements(example.elements).elements)
        assert {(node.text, node.actor) for node in rebuilt.nodes_of("action")} == {
            (node.text, node.actor) for node in graph.graph.nodes_of("action")
        }


@pytest.mark.parametrize("shots", [0, 1, 3])
def test_prompt_shows_as_many_worked_examples_as_stated(shots: int) -> None:
    for asked_question in questions(replace(SETTINGS, shots=shots)):
        assert asked_question.prompt.count("\nDocument:\n") == shots + 1
        assert asked_question.text.partition("\n")[2] in asked_question.prompt


def test_more_shots_than_worked_examples_show_all_with_a_notice() -> None:
    example_count = len(read_worked_examples())
    settings = replace(SETTINGS, shots=example_count + 1)
    check(settings)
    assert all(
        asked_question.prompt.count("\nDocument:\n") == example_count + 1 for asked_question in questions(settings)
    )
    assert paged.description(settings).facts["worked examples"] == str(example_count)
    message = f"PAGED has {example_count} worked examples; --taskgraph-shots states {example_count + 1}"
    assert message in [*paged.notices(settings, {})]
    assert message not in [*paged.notices(replace(SETTINGS, shots=example_count), {})]


def test_check_unknown_method_is_refused_with_the_known_ones() -> None:
    with pytest.raises(UnknownNameError, match="unknown method of PAGED 'draw'"):
        check(replace(SETTINGS, methods=("draw",)))


def test_procedure_pair_of_the_gold_graph_has_the_same_nodes_and_links() -> None:
    for asked_question in questions(replace(SETTINGS, methods=("extract",))):
        pair = procedure_pair(asked_question, grade(asked_question, Reply(gold_text(asked_question))))
        assert {node.id for node in pair.expected.nodes} == {node.id for node in pair.given.nodes}
        assert {*pair.expected.edges} == {*pair.given.edges}


def test_procedure_pair_without_a_flow_lacks_its_link() -> None:
    asked_question = questions(replace(SETTINGS, methods=("extract",)))[0]
    lines = [line for line in gold_text(asked_question).splitlines() if not line.startswith("Start ->")]
    pair = procedure_pair(asked_question, grade(asked_question, Reply("\n".join(lines))))
    assert {node.kind for node in pair.expected.nodes} - {node.kind for node in pair.given.nodes} == {"start"}
    assert len({*pair.expected.edges} - {*pair.given.edges}) == 1


def test_procedure_pair_gateway_of_another_sort_is_missing_and_extra() -> None:
    asked_question = next(
        each for each in questions(replace(SETTINGS, methods=("extract",))) if "XOR" in gold_text(each)
    )
    score = grade(asked_question, Reply(re.sub(r"XOR(?=1|2)", "AND", gold_text(asked_question).replace("AND", "OR"))))
    pair = procedure_pair(asked_question, score)
    expected, given = ({(node.id, node.kind) for node in diagram.nodes} for diagram in (pair.expected, pair.given))
    assert {kind for _, kind in expected - given} == {"exclusive"}
    assert {kind for _, kind in given - expected} == {"parallel"}
    explained = " ".join(explain_procedure(asked_question.reference, score.given))
    assert "is a parallel gateway (AND), but has to be an exclusive gateway (XOR)" in explained
