"""The rule-based extractor as a model: which document of which message it answers to."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pytest_taskgraph.asking import Exchange, drive
from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.errors import CannotScoreError, NotAskedError, PromptNotUnderstoodError
from pytest_taskgraph.families.paged.document_questions import question, references
from pytest_taskgraph.families.paged.extraction_methods import METHODS
from pytest_taskgraph.families.paged.extraction_rules.document_elements import FORMAT, read_elements
from pytest_taskgraph.families.paged.paged_baselines import BASELINES
from pytest_taskgraph.families.paged.paged_baselines.rule_baseline import read_document_prompt
from pytest_taskgraph.families.paged.paged_family import paged
from pytest_taskgraph.families.paged.paged_settings import PagedSettings
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Request

PROMPT = """\
Extract the graph of a document.

Document:
Bake the bread.

Graph:
Start -> bake the bread
bake the bread -> End

Document:
Wash the car. If it is dusty, wax it.

Polish the car.

Write the graph, and nothing else.

Graph:
"""
ANSWER = """\
Start -> wash the car
wash the car -> XOR1
XOR1 -> (it is dusty) wax it
wax it -> XOR2
XOR1 -> XOR2
XOR2 -> polish the car
polish the car -> End
"""
MODEL = BASELINES["rules"](Settings())


def ask(*messages: dict[str, Any]) -> str:
    return asyncio.run(MODEL.answer(Request(messages=list(messages)))).text


def user(content: str) -> dict[str, Any]:
    return {"role": "user", "content": content}


def test_rules_answer_the_last_document_of_a_prompt() -> None:
    assert ask(user(PROMPT)).strip() == ANSWER.strip()


def test_rules_answer_feedback_with_the_document_before_it() -> None:
    feedback = user("The gateway XOR1 may be inclusive. Write the refined graph.")
    reply = {"role": "assistant", "content": "Document:\nSing a song."}
    assert ask(user(PROMPT), reply, feedback).strip() == ANSWER.strip()


def test_rules_name_themselves_as_source() -> None:
    reply = asyncio.run(MODEL.answer(Request(messages=[user(PROMPT)])))
    assert reply.source == MODEL.name == "baseline:rules"


@pytest.mark.parametrize("content", ["", "What is a graph?", "Document:\n\n", "Document:\nGraph:\n"])
def test_rules_without_a_document_are_not_asked(content: str) -> None:
    with pytest.raises(PromptNotUnderstoodError, match="Document:"):
        ask(user(content))


def test_rules_without_messages_are_not_asked() -> None:
    with pytest.raises(PromptNotUnderstoodError):
        ask()


def test_rules_with_tools_are_not_asked() -> None:
    with pytest.raises(NotAskedError, match="tools"):
        asyncio.run(MODEL.answer(Request(messages=[user(PROMPT)], tools=[{"type": "function"}])))


def test_rules_cannot_score() -> None:
    with pytest.raises(CannotScoreError):
        asyncio.run(MODEL.answer(Request(messages=[user(PROMPT)], kind="score")))


@pytest.mark.parametrize(
    ("prompt", "document"),
    [
        ("Document: Wash it.", "Wash it."),
        ("Document:\n```\nWash it.\n\nGraph:\nDry it.\n```\nAnswer now.", "Wash it.\n\nGraph:\nDry it."),
        ("<document>\nThe document:\n<document>\nWash it.\n</document>\nGo.", "Wash it."),
        ("**Document:**\nWash it.\n\nWrite the letter.\n\nFirst reason step by step.", "Wash it.\n\nWrite the letter."),
        ("## Document:\nWash it.\nReasoning:\nNone.", "Wash it."),
        ("Document:\nWash it.\n\nDocument:\n\nDry it.\n\n", "Dry it."),
    ],
)
def test_read_document_prompt_document_ends_where_the_instruction_begins(prompt: str, document: str) -> None:
    assert read_document_prompt(prompt).document == document


def test_read_document_prompt_of_any_size_is_bounded() -> None:
    assert len(read_document_prompt("Document:\n" + "Wash it.\n" * 1_000_000).document) <= 200_000


def test_rules_answer_behind_the_marker_that_a_prompt_asks_for() -> None:
    reasoned = PROMPT.replace(
        "Write the graph, and nothing else.\n\nGraph:", 'Reason first. Then write "Final answer:" and the graph.'
    )
    assert ask(user(reasoned)) == f"Final answer:\n{ANSWER.strip()}"


def test_rules_answer_behind_the_marker_that_feedback_asks_for() -> None:
    assert ask(user(PROMPT), user('Write "Final answer:" and the graph.')) == f"Final answer:\n{ANSWER.strip()}"


def test_rules_take_a_marker_in_the_document_for_its_words() -> None:
    answer = ask(user(PROMPT.replace("Polish the car.", 'Say "Final answer: elements:".')))
    assert answer.startswith("Start -> wash the car\n")


def test_rules_list_elements_where_a_prompt_asks_for_them() -> None:
    prompt = f"List the elements:\n\n{FORMAT}\nDocument:\nWash the car. If it is dusty, wax it.\n\nElements:\n"
    assert ask(user(prompt)) == "activity: wash the car\ncondition: it is dusty\nactivity: wax it"


@pytest.mark.parametrize("method", METHODS)
def test_rules_answer_each_method_in_the_form_that_its_prompt_asks_for(method: str) -> None:
    settings = PagedSettings(methods=(method,), instances=12)
    for reference in references(settings):
        drawn_question = question(reference, settings)
        exchanges: list[Exchange] = []
        transcript = asyncio.run(drive(paged.episode(drawn_question.episode)(drawn_question), MODEL.answer, exchanges))
        first = exchanges[0].reply
        assert first is not None
        assert first.text.startswith("Final answer:\n") == (method == "reason")
        assert bool(read_elements(first.text).elements) == (method == "elements")
        assert grade(drawn_question, transcript.reply).value > (0.7 if method == "elements" else 0.9)
