from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import ProviderError, UnknownNameError
from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.scoring.schedules import Schedule
from pytest_taskgraph.trial import Json, Parsing, Place, Question, Reply

GRAPH: Json = {"steps": ["Grind beans", "Rinse the cup", "Pour"], "dependencies": [[0, 2], [1, 2]]}
REFERENCES: dict[str, Json] = {
    "yes-no": "no",
    "task": "Brew",
    "letter": "Brew",
    "task-set": ["Brew", "Grind"],
    "groups": [["Brew", "Grind"], ["Pour"]],
    "task-order": {"tasks": ["Grind", "Rinse", "Brew"], "before": [[0, 2], [1, 2]]},
    "schedule": Schedule(("Grind", "Brew"), (2, 3), ((0, 1),), None, 5, "minutes", (0, 2)).to_json(),
    "number": 3,
    "condition": {"condition": "n >= 3", "domains": {"n": None}},
    "text": "It grinds the beans.",
    "task-reasons": {"tasks": ["Brew", "Pour"], "reasons": {"Brew": "It rinses.", "Pour": "It reads no cup."}},
    "pair-reason": {"tasks": ["Brew", "Grind"], "reasons": {"": "Beans are ground before."}},
    "yes-no-reason": {"answer": "no", "reason": "It makes tea."},
    "procedural-graph": {
        "flows": [
            [["start", "", ""], ["action", "Grind beans", "barista"], ""],
            [["action", "Grind beans", "barista"], ["exclusive", "XOR1", ""], ""],
            [["exclusive", "XOR1", ""], ["end", "", ""], "it is late"],
        ]
    },
    "task-graph": GRAPH,
    "composed-task-graph": GRAPH,
}
NAMES = ["Brew", "Grind", "Pour", "Rinse"]


def question(
    form: str = "task-set",
    reference: Json = None,
    place: Place = "marker",
    parsing: Parsing = "lenient",
    metric: str = "",
) -> Question:
    return Question(
        "q", "tests", "p", "c", "?", "?", form, REFERENCES[form] if reference is None else reference,
        metric or FORMS[form].metric, list(FORMS[form].further), names=NAMES, place=place, parsing=parsing,
    )  # fmt: skip


@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize("place", ["marker", "whole", "first-line"])
def test_grade_written_reference_scores_1(form: str, place: Place) -> None:
    given_question = question(form, place=place)
    text = FORMS[form].write(given_question.reference, NAMES)
    replies = {"marker": f"Thinking.\nFinal answer: {text}", "whole": text, "first-line": f"{text}\n\nBecause."}
    score = grade(given_question, Reply(replies[place]))
    answers: dict[str, Json] = {
        "task-order": ["Grind", "Rinse", "Brew"],
        "schedule": {"tasks": ["Grind", "Brew"], "starts": [0, 2]},
        "condition": "n >= 3",
    }
    right = answers.get(form, given_question.reference)
    assert (score.value, score.given, score.status) == (1.0, right, "read")
    assert (score.missing, score.extra) == ([], [])


SOME_REPLIES = ["I'm sorry, but I can't help", "no", "Brew, Pour", "Final answer: Brew"]


@given(
    st.text(st.characters(exclude_categories=()), max_size=60) | st.sampled_from(SOME_REPLIES),
    st.sampled_from(sorted(FORMS)),
    st.sampled_from(["marker", "whole", "first-line"]),
    st.sampled_from(["lenient", "strict"]),
    st.sampled_from(["stop", "refusal"]),
)
def test_grade_any_reply_lies_within_0_and_1(
    reply: str, form: str, place: Place, parsing: Parsing, finish: str
) -> None:
    score = grade(question(form, place=place, parsing=parsing), Reply(reply, finish_reason=finish))
    assert 0.0 <= score.value <= 1.0
    assert all(value is None or 0.0 <= value <= 1.0 for value in score.metrics.values())
    assert score.status == "read" or (score.value == 0.0 and score.remark)


def test_grade_set_lists_missing_and_extra_names() -> None:
    score = grade(question(), Reply("Final answer: Brew, Pour, Stir"))
    assert score.value == pytest.approx(1 / 4)
    assert (score.given, score.missing, score.extra) == (["Brew", "Pour", "Stir"], ["Grind"], ["Pour", "Stir"])
    assert score.metrics == {"precision": pytest.approx(1 / 3), "recall": pytest.approx(1 / 2)}


def test_grade_groups_lists_missing_and_extra_groups() -> None:
    score = grade(question("groups"), Reply("Final answer:\nPour\nPour\nGrind"))
    assert (score.missing, score.extra) == (["Brew, Grind"], ["Grind", "Pour"])
    assert score.value == pytest.approx((1 + 1 / 2) / 3)


def test_grade_unparseable_answer_scores_0_with_remark() -> None:
    score = grade(question("yes-no"), Reply("Final answer: perhaps"))
    assert (score.value, score.status, score.remark) == (0.0, "unparseable", "expected yes or no, found 'perhaps'")


def test_grade_undefined_main_metric_counts_0_with_remark() -> None:
    score = grade(question(metric="precision"), Reply("Final answer: none"))
    assert (score.value, score.metrics["precision"]) == (0.0, None)
    assert "precision is undefined" in score.remark


@pytest.mark.parametrize(
    "reply",
    [
        "I'm sorry, but I can't help with that.",
        "I’m sorry, I cannot assist with this request. No further comment.",
        "As an AI language model, I cannot inspect workflows.",
        "Unfortunately, I am unable to answer without the file.",
        "Sorry, I won't answer.\nFinal answer: I can't help with that.",
        "I must decline.",
    ],
)
@pytest.mark.parametrize("form", ["yes-no", "task", "task-set", "groups"])
@pytest.mark.parametrize("place", ["marker", "whole", "first-line"])
def test_grade_declining_reply_without_answer_is_refused(reply: str, form: str, place: Place) -> None:
    score = grade(question(form, place=place), Reply(reply))
    assert (score.value, score.status) == (0.0, "refused")


@pytest.mark.parametrize(
    ("form", "reply"),
    [
        ("yes-no", "I'm sorry, but I can't provide a proof.\nFinal answer: no"),
        ("yes-no", "I cannot find such a link.\nNo, there is none."),
        ("task", "I can't answer with certainty.\nFinal answer: Brew"),
        ("task-set", "Sorry, I cannot provide reasons.\nFinal answer: Brew, Grind"),
    ],
)
def test_grade_declining_reply_with_answer_is_scored(form: str, reply: str) -> None:
    score = grade(question(form), Reply(reply))
    assert (score.value, score.status) == (1.0, "read")


def test_grade_apology_before_empty_set_is_scored() -> None:
    assert grade(question(reference=[]), Reply("Sorry, I cannot provide more.\nFinal answer: none")).value == 1.0


def test_grade_reply_that_finds_nothing_is_scored() -> None:
    assert grade(question("yes-no"), Reply("I cannot find it, so: maybe")).status == "unparseable"


def test_grade_withheld_reply_without_answer_is_refused() -> None:
    assert grade(question("task"), Reply("", finish_reason="refusal")).status == "refused"
    assert grade(question("task"), Reply("Final answer: Brew", finish_reason="refusal")).value == 1.0


@pytest.mark.parametrize("text", ["", "Bre", "Final answer: Brew"])
def test_grade_filtered_reply_raises_content_filter(text: str) -> None:
    with pytest.raises(ProviderError, match="content-filter: "):
        grade(question("task"), Reply(text, finish_reason="content_filter"))


@pytest.mark.parametrize("form", sorted(FORMS))
@pytest.mark.parametrize("text", ["", "First, Brew comes after\nGrind, no", "So.\nFinal answer:", "So.\nFinal answ"])
def test_grade_reply_cut_off_before_answer_raises_truncated(form: str, text: str) -> None:
    with pytest.raises(ProviderError, match="truncated: the reply was cut off"):
        grade(question(form), Reply(text, finish_reason="length"))


@pytest.mark.parametrize(
    ("place", "text"),
    [("marker", "Final answer: Brew"), ("marker", "I think.\n\nBrew"), ("whole", "Brew"), ("first-line", "Brew")],
)
def test_grade_reply_cut_off_within_its_last_line_is_truncated(place: Place, text: str) -> None:
    with pytest.raises(ProviderError, match="truncated"):
        grade(question("task", place=place), Reply(text, finish_reason="length"))


def test_grade_reply_cut_off_behind_its_answer_is_scored() -> None:
    assert grade(question("task"), Reply("Final answer: Brew\nThis is si", finish_reason="length")).value == 1.0
    assert grade(question("task", place="first-line"), Reply("Brew\nNext st", finish_reason="length")).value == 1.0


def test_grade_unknown_form_or_metric_raises_first() -> None:
    with pytest.raises(UnknownNameError, match="unknown metric 'vibes'"):
        grade(question(metric="vibes"), Reply(""))


@pytest.mark.parametrize(
    "reply",
    [Reply("", finish_reason="length", reasoning="A, for"), Reply(" ", finish_reason="length", tokens_reasoning=9)],
)
def test_grade_reply_cut_off_within_reasoning_says_so(reply: Reply) -> None:
    with pytest.raises(ProviderError, match="ended at the token limit within its reasoning; raise max_tokens"):
        grade(question("task"), reply)
