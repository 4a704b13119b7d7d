"""Which questions of the HTML page are drawn, and what stands in the place of a drawing that is left out."""

from __future__ import annotations

from collections.abc import Sequence

import pytest
from described_runs import about_run
from html_page import Page

from pytest_taskgraph.diagram import Diagram, DiagramNode, DiagramPair, pack
from pytest_taskgraph.reports.html import html, marked_drawings
from pytest_taskgraph.reports.html.marked_drawings import (
    MOST_DRAWN,
    MOST_NOT_RIGHT,
    DrawnQuestions,
    select_drawn,
    sort_trials,
)
from pytest_taskgraph.results.record import build
from pytest_taskgraph.trial import Outcome, Question, Reply, Score, Trial

CHART = Diagram("Tea", [DiagramNode("1", "Boil")])
PAIR = pack(DiagramPair(CHART, CHART).to_json())


def make_trial(name: str, outcome: Outcome = "right", *, cluster: str = "", pair: str = "") -> Trial:
    cluster = cluster or f"c-{name}"
    question = Question(name, "f", "g", "", f"Which, {name}?", "prompt", "text", "A", "exact", cluster=cluster)
    score = Score(float(outcome == "right"), given="A")
    return Trial(question, "m", outcome, Reply("Final answer: A"), score, diagram_pair=pair)


def trials_of(outcomes: Sequence[Outcome], *, pair: str = "") -> list[Trial]:
    return [make_trial(f"q{at:03}", outcome, pair=pair) for at, outcome in enumerate(outcomes)]


def select(trials: Sequence[Trial]) -> DrawnQuestions:
    return select_drawn(sort_trials(trials), {trial.question.cluster for trial in trials})


def drawn_outcomes(trials: Sequence[Trial]) -> dict[str, int]:
    """Return how many of the trials with each outcome have their subject drawn."""
    drawn = [trial.outcome for trial in trials if trial.question.cluster in select(trials).clusters]
    return {outcome: drawn.count(outcome) for outcome in dict.fromkeys(drawn)}


def page(trials: Sequence[Trial]) -> Page:
    diagrams = {trial.question.cluster: CHART.to_json() for trial in trials}
    return Page(html(build(trials, about_run("1")) | {"diagrams": diagrams}))


@pytest.fixture
def small_limits(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a page draw three questions, two of which may be answered wrongly."""
    monkeypatch.setattr(marked_drawings, "MOST_DRAWN", 3)
    monkeypatch.setattr(marked_drawings, "MOST_NOT_RIGHT", 2)


def test_select_drawn_small_run_draws_everything() -> None:
    assert drawn_outcomes(trials_of(["wrong", "right", "skipped", "graded"])) == {
        "wrong": 1, "right": 1, "skipped": 1, "graded": 1
    }  # fmt: skip


@pytest.mark.parametrize(
    ("outcomes", "expected"),
    [
        (["right"] * 500, {"right": MOST_DRAWN}),
        (["graded"] * 500, {"graded": MOST_DRAWN}),
        (["right"] * 200 + ["wrong"] * 10, {"right": MOST_DRAWN - 10, "wrong": 10}),
        (["right"] * 200 + ["wrong"] * 200, {"right": MOST_DRAWN - MOST_NOT_RIGHT, "wrong": MOST_NOT_RIGHT}),
        (["error"] * 200, {"error": MOST_NOT_RIGHT}),
        (["right"] * 200 + ["graded"] * 200, {"graded": MOST_DRAWN}),
    ],
)
def test_select_drawn_takes_not_right_first(outcomes: list[Outcome], expected: dict[str, int]) -> None:
    assert drawn_outcomes(trials_of(outcomes)) == expected


def test_select_drawn_shared_subject_counts_once() -> None:
    shared = [make_trial(f"a{at:03}", "wrong", cluster="one") for at in range(500)]
    others: list[Outcome] = ["wrong"] * (MOST_NOT_RIGHT - 1)
    assert select([*shared, *trials_of(others)]).clusters == {
        "one", *(f"c-q{at:03}" for at in range(MOST_NOT_RIGHT - 1))
    }  # fmt: skip


def test_select_drawn_pairs_are_limited_as_subjects_are() -> None:
    outcomes: list[Outcome] = ["right", "wrong"]
    selected = select(trials_of([outcome for outcome in outcomes for _ in range(200)], pair=PAIR))
    wrong = {(f"q{at:03}", "m") for at in range(200, 200 + MOST_NOT_RIGHT)}
    assert selected.pairs == wrong | {(f"q{at:03}", "m") for at in range(MOST_DRAWN - MOST_NOT_RIGHT)}


def test_select_drawn_without_diagrams_is_empty() -> None:
    assert select_drawn(trials_of(["wrong", "right"]), ()) == DrawnQuestions(frozenset(), frozenset())


@pytest.mark.usefixtures("small_limits")
def test_html_wrong_answers_are_drawn_and_others_left_out() -> None:
    report = page(trials_of(["right", "right", "wrong", "right"]))
    assert sorted(report.data("drawings")) == ["c-q000", "c-q001", "c-q002"]
    details = report.data("details")["questions"]  # what is not right comes first
    assert [detail["cluster"] for detail in details] == ["c-q002", "c-q000", "c-q001", ""]
    assert [detail.get("undrawn", "") for detail in details] == ["", "", "", "what the question is about"]


@pytest.mark.usefixtures("small_limits")
def test_html_question_not_drawn_says_how_to_see_it() -> None:
    report = page(trials_of(["right"] * 4))
    detail = report.all("p", class_="note")
    assert (
        "3 diagrams are drawn, those of answers that are not right first; 1 question says how to see others." in detail
    )
    opened = next(text for text in report.all("p") if text.startswith("This page does not draw what"))
    assert "add -k q003 to the run" in opened
    assert "python -m pytest_taskgraph show q003 prints it" in opened


@pytest.mark.usefixtures("small_limits")
def test_html_pairs_not_drawn_are_said_to_be_left_out() -> None:
    report = page(trials_of(["wrong"] * 4, pair=PAIR))
    assert list(report.data("pairs")) == ["0", "1"]
    both = "what the question is about, and the expected and the given answer"
    assert [detail.get("undrawn", "") for detail in report.data("details")["questions"]] == ["", "", both, both]


@pytest.mark.usefixtures("small_limits")
def test_html_question_not_drawn_keeps_its_texts() -> None:
    detail = page(trials_of(["right"] * 4)).data("details")["questions"][-1]
    drawn = page(trials_of(["right"] * 4)).data("details")["questions"][0]
    assert {*drawn} <= {*detail}
    assert detail["reply"] == "Final answer: A"


def test_html_everything_drawn_has_no_note() -> None:
    report = page(trials_of(["right", "wrong"]))
    assert not [text for text in report.all("p") if "how to see others" in text]
    assert len([text for text in report.all("p") if text.startswith("This page does not draw")]) == 1  # the mould
