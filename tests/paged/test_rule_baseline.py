"""The rule-based extractor as a model: which document of which message it answers to."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from pytest_taskgraph.benchmarks.paged.paged_baselines import BASELINES
from pytest_taskgraph.benchmarks.paged.paged_baselines.document_prompts import document_of_prompt
from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.errors import CannotScoreError, NotAskedError, PromptNotUnderstoodError
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
def test_document_of_prompt_ends_where_the_instruction_begins(prompt: str, document: str) -> None:
    assert document_of_prompt(prompt) == document


def test_document_of_prompt_of_any_size_is_bounded() -> None:
    assert len(document_of_prompt("Document:\n" + "Wash it.\n" * 1_000_000)) <= 200_000
