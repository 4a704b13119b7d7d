"""Replies that state a time, to questions that ask for a number of units of time."""

from __future__ import annotations

import pytest

from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Question, Reply

MINUTES = "How many minutes does workflow 'W' take from its start to its end?"
HOURS = "By how many hours can task 'Mix' start later than at its earliest without making workflow 'W' end later?"


def given(question: str, reply: str) -> object:
    asked = Question("q", "f", "g", "s", question, question, "number", 137, "correctness", names=["Mix", "Bake"])
    return grade(asked, Reply(reply)).given


@pytest.mark.parametrize(
    ("reply", "minutes"),
    [
        ("137", 137),
        ("It takes 137 minutes.", 137),
        ("The whole takes **2 hours and 17 minutes**.", 137),
        ("Final answer: 2 hours 17 minutes", 137),
        ("It takes 2 hours, 17 minutes (137 minutes).", 137),
        ("1 day and 2 hours", 1560),
        ("Workflow 'W' takes 10 + 60 + 30 = 100 minutes.", 100),
    ],
)
def test_grade_time_in_other_units_is_converted(reply: str, minutes: int) -> None:
    assert given(MINUTES, reply) == minutes


@pytest.mark.parametrize("reply", ["90 minutes", "2.5 hours"])
def test_grade_time_that_is_no_whole_number_of_unit_is_unparseable(reply: str) -> None:
    assert given(HOURS, reply) is None


def test_grade_time_converted_only_where_question_counts_units() -> None:
    assert given("How many tasks of workflow 'W' run?", "2 hours and 17 tasks") == 17
