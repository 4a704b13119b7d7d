"""The simulated model's replies to a question of every form, and of a form that states no wrong answer."""

from __future__ import annotations

import asyncio
from dataclasses import replace

import pytest

from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.catalog import registrations
from pytest_taskgraph.plugin.models_under_test import ModelChoice, ModelUnderTest
from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.scoring.schedules import Schedule
from pytest_taskgraph.trial import Json, Place, Question, Request, Score

EMPTY_ORDER: Json = {"tasks": [], "before": []}
REFERENCES: list[tuple[str, Json]] = [
    ("yes-no", "yes"),
    ("yes-no", "no"),
    ("task", "Nobody"),
    ("letter", "Brew"),
    ("task-set", ["Brew", "Nobody"]),
    ("task-set", []),
    ("groups", [["Brew", "Pour"]]),
    ("groups", []),
    ("task-order", {"tasks": ["Pour", "Brew"], "before": [[0, 1]]}),
    ("task-order", EMPTY_ORDER),
    ("schedule", Schedule(("Pour", "Brew"), (2, 3), ((0, 1),), None, 5, "minutes", (0, 2)).to_json()),
    ("number", 0),
    ("condition", {"condition": "n >= 3", "domains": {"n": None}}),
    ("text", "Nobody pours."),
    ("task-reasons", {"tasks": ["Brew"], "reasons": {"Brew": "It rinses."}}),
    ("task-reasons", {"tasks": [], "reasons": {}}),
    ("pair-reason", {"tasks": ["Brew", "Pour"], "reasons": {"": "Both rinse."}}),
    ("yes-no-reason", {"answer": "no", "reason": "It waits."}),
    ("task-graph", {"steps": ["Brew tea", "Pour tea"], "dependencies": [[0, 1]]}),
    ("composed-task-graph", {"steps": ["Brew tea", "Pour tea"], "dependencies": [[0, 1]]}),
    ("procedural-graph", {"flows": [[["action", "Brew tea", "guest"], ["end", "", ""], ""]]}),
]


def score_of(accuracy: int, question: Question) -> Score:
    subject = ModelUnderTest(ModelChoice(f"simulated:{accuracy}"), {}, Settings())
    subject.learn_answer(question)
    assert subject.client is not None
    reply = asyncio.run(subject.client.answer(Request([{"role": "user", "content": question.prompt}])))
    return grade(question, reply)


def make_question(form: str, reference: Json, place: Place = "marker") -> Question:
    return Question(
        "q", "tests", "g", "s", "?", "Which?", form, reference, FORMS[form].metric, names=["Brew", "Pour", "Nobody"],
        place=place,
    )  # fmt: skip


def test_references_cover_every_form() -> None:
    assert {form for form, _ in REFERENCES} == set(FORMS)


@pytest.mark.parametrize("place", ["marker", "whole", "first-line"])
@pytest.mark.parametrize(("form", "reference"), REFERENCES)
def test_simulated_model_replies_right_and_wrong_in_every_form(form: str, reference: Json, place: Place) -> None:
    right, wrong = (score_of(accuracy, make_question(form, reference, place)) for accuracy in (1, 0))
    assert (right.status, right.value) == ("read", 1.0)
    assert (wrong.status, wrong.value) == ("read", 0.0)


def test_simulated_model_form_without_wrong_answer_gets_empty_reply() -> None:
    with registrations() as registered:
        registered.add(FORMS.kind, "verse", replace(FORMS["text"], name="verse", wrong=None), "tests")
        question = make_question("verse", "A rose is a rose.")
        assert score_of(1, question).value == 1.0
        assert (score_of(0, question).status, score_of(0, question).value) == ("unparseable", 0.0)


@pytest.mark.parametrize("accuracy", [0, 1])
def test_simulated_model_request_with_replies_of_gets_one_of_them(accuracy: int) -> None:
    subject = ModelUnderTest(ModelChoice(f"simulated:{accuracy}"), {}, Settings())
    assert subject.client is not None
    chat = Request([{"role": "user", "content": "Is A before B?"}], right="yes", wrong="no")
    assert asyncio.run(subject.client.answer(chat)).text == ("no", "yes")[accuracy]
    scored = Request(kind="score", context="Plan:", texts=[" a b", " b"], right=[-1.0, -2.0], wrong=[-2.0, -1.0])
    reply = asyncio.run(subject.client.answer(scored))
    expected = ([(-2.0, 2), (-1.0, 1)], [(-1.0, 2), (-2.0, 1)])[accuracy]
    assert [(score.logprob, score.tokens) for score in reply.scores] == expected
