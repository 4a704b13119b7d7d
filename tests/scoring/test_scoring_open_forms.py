from __future__ import annotations

import pytest

from pytest_taskgraph.errors import UnparseableError
from pytest_taskgraph.plugin.models_under_test import _right_and_wrong
from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.scoring.forms.open_forms import OPEN_FORMS
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.scoring.metrics import metric
from pytest_taskgraph.trial import Json, Parsing, Place, Question, Reply

TWO: Json = {"tasks": ["Bake", "Mix"], "reasons": {"Bake": "It cools the oven.", "Mix": "It sells bread."}}
PARSINGS: list[Parsing] = ["lenient", "strict"]


def read(form: str, text: str, parsing: Parsing = "lenient", names: tuple[str, ...] = ()) -> Json:
    return FORMS[form].read(text, names, parsing)


def question(form: str, reference: Json, place: Place = "whole") -> Question:
    shape = FORMS[form]
    return Question(
        "q",
        "tests",
        "p",
        "c",
        "?",
        "?",
        form,
        reference,
        shape.metric,
        list(shape.further),
        shape.pass_threshold,
        place=place,
    )


@pytest.mark.parametrize("parsing", PARSINGS)
@pytest.mark.parametrize(
    "text",
    [
        "Mix: It sells bread.\nBake: It cools the oven.",
        "- Bake: It cools the oven.\n- Mix: It sells bread.",
        "1. Bake: It cools the oven.\n\n2. Mix: It sells bread.",
        "Dinner.Bake: It cools the oven.\nDinner.Kitchen.`Mix`: It sells bread.",
    ],
)
def test_task_reasons_are_parsed_line_by_line(text: str, parsing: Parsing) -> None:
    assert read("task-reasons", text, parsing) == TWO


@pytest.mark.parametrize(
    "text",
    [
        "Two tasks do not fit, as I see it:\n\n1. **Bake**: It cools\n   the oven.\n2. **Mix:** It sells bread.",
        "1. The task `Bake`: It cools the oven.\n2. `Mix` (too): It sells bread.",
        "* `Bake` - It cools the oven.\n* Task `Mix` – It sells bread.",
        "The task 'Bake' is odd: It cools the oven.\n\"Mix\": It\n  sells bread.",
    ],
)
def test_task_reasons_lenient_ignores_layout(text: str) -> None:
    assert read("task-reasons", text) == TWO


def test_task_reasons_bullet_with_quoted_task_is_reason() -> None:
    text = "1. The description of `Bake` says that it cools.\n2. I find 'Mix' odd, since it sells."
    assert read("task-reasons", text) == {
        "tasks": ["Bake", "Mix"],
        "reasons": {"Bake": text.split("\n")[0], "Mix": text.split("\n")[1]},
    }


@pytest.mark.parametrize("parsing", PARSINGS)
@pytest.mark.parametrize("form", ["task-reasons", "pair-reason"])
@pytest.mark.parametrize("text", ["none", "None.", ""])
def test_task_reasons_none_is_an_answer(form: str, text: str, parsing: Parsing) -> None:
    assert read(form, text, parsing) == {"tasks": [], "reasons": {}}


def test_task_reasons_prose_without_task_is_unparseable() -> None:
    assert read("task-reasons", "There are no such tasks in it.") == {"tasks": [], "reasons": {}}
    with pytest.raises(UnparseableError, match="one task a line"):
        read("task-reasons", "All of it seems to be rather odd.")
    with pytest.raises(UnparseableError, match="two tasks and a reason"):
        read("pair-reason", "It seems to be rather odd.")


@pytest.mark.parametrize("parsing", PARSINGS)
def test_task_reasons_names_with_colons_stay_whole(parsing: Parsing) -> None:
    names = ("A", "A: B", "x,y", "none")
    answer: Json = {"tasks": ["A", "A: B", "none"], "reasons": {"A": "so: it is", "A: B": "thus, and so"}}
    assert read("task-reasons", FORMS["task-reasons"].write(answer, names), parsing, names) == answer


def test_task_reasons_name_with_colon_is_known_with_other_mark() -> None:
    assert read("task-reasons", "A: B: too late", names=("A: B",)) == {
        "tasks": ["A: B"],
        "reasons": {"A: B": "too late"},
    }


@pytest.mark.parametrize(
    "text",
    [
        "Mix, Bake: One mixes first.",
        "**Bake, Mix**: One mixes first.",
        "`Bake` and `Mix`: One mixes first.",
        "Bake -> Mix: One mixes\nfirst.",
        "I looked at all of it.\nThe tasks 'Bake' and 'Mix' are wrong: One mixes first.",
    ],
)
def test_pair_reason_is_parsed_with_reason(text: str) -> None:
    assert read("pair-reason", text) == {"tasks": ["Bake", "Mix"], "reasons": {"": "One mixes first."}}


def test_pair_reason_strict_is_one_line() -> None:
    expected = {"tasks": ["Bake", "Mix"], "reasons": {"": "One mixes first."}}
    assert read("pair-reason", "Mix, Bake: One mixes first.\nMore.", "strict") == expected


@pytest.mark.parametrize(
    "text", ["No: it is tea.", "no, it is tea.", "**No.** it is tea.", "The answer is no: it is\ntea."]
)
def test_yes_no_reason_is_parsed_with_reason(text: str) -> None:
    assert read("yes-no-reason", text) == {"answer": "no", "reason": "it is tea."}


def test_yes_no_reason_strict_verdict_comes_first() -> None:
    assert read("yes-no-reason", " Yes: it is tea.", "strict") == {"answer": "yes", "reason": "it is tea."}
    assert read("yes-no-reason", "yes", "strict") == {"answer": "yes", "reason": ""}
    for text in ("The answer is no", "nothing: so", ""):
        with pytest.raises(UnparseableError, match="yes or no"):
            read("yes-no-reason", text, "strict")


def test_text_accepts_any_text_with_words() -> None:
    assert read("text", " It grinds\n beans. ") == "It grinds beans."
    score = grade(question("text", "It grinds beans.", "marker"), Reply("Well.\nFinal answer: **"))
    assert (score.value, score.status) == (0.0, "unparseable")


def test_grade_tasks_and_reasons_are_two_scores() -> None:
    score = grade(question("task-reasons", TWO), Reply("Bake: It cools.\nStir: It sells bread."))
    assert score.value == pytest.approx(1 / 3)
    assert score.metrics == {"reason": pytest.approx(2 * 1 * 0.5 / 1.5), "explanation": pytest.approx(1 / 3)}
    assert (score.missing, score.extra) == (["Mix"], ["Stir"])


def test_explanation_ignores_surplus_task_but_identification_not() -> None:
    text = FORMS["task-reasons"].write(TWO, []) + "\nStir: so"
    score = grade(question("task-reasons", TWO), Reply(text))
    assert score.value == pytest.approx(2 / 3)
    assert score.metrics == {"reason": 1.0, "explanation": 1.0}


@pytest.mark.parametrize(
    ("given", "reference", "value"),
    [
        ({"tasks": ["A"], "reasons": {"A": "x"}}, {"tasks": ["B"], "reasons": {"B": "x"}}, None),
        ({"tasks": ["A"], "reasons": {}}, {"tasks": ["A"], "reasons": {"A": "x"}}, 0.0),
        ({"tasks": ["A"], "reasons": {"A": "x"}}, {"tasks": ["A"], "reasons": {}}, None),
        ({"tasks": ["A", "C"], "reasons": {"": "x"}}, {"tasks": ["A", "B"], "reasons": {"": "x"}}, 1.0),
        ({"tasks": ["C", "D"], "reasons": {"": "x"}}, {"tasks": ["A", "B"], "reasons": {"": "x"}}, None),
        ({"answer": "no", "reason": "x"}, {"answer": "yes", "reason": "x"}, 1.0),
        ({"answer": "no", "reason": "x"}, {"answer": "no", "reason": ""}, None),
        (None, {"tasks": ["A"], "reasons": {"A": "x"}}, None),
    ],
)
def test_reason_is_measured_if_reference_has_one(given: Json, reference: Json, value: float | None) -> None:
    assert metric("reason")(given, reference) == value


def test_grade_verdict_without_reason_counts() -> None:
    given_question = question("yes-no-reason", {"answer": "no", "reason": "it is tea"})
    score = grade(given_question, Reply("no: who knows"))
    assert (score.value, score.metrics) == (1.0, {"reason": 0.0})
    assert grade(given_question, Reply("yes: it is tea")).value == 0.0


def test_reason_of_unparseable_answer_is_undefined() -> None:
    score = grade(question("task-reasons", TWO), Reply("All of it seems to be rather odd."))
    assert (score.status, score.metrics) == ("unparseable", {"reason": None, "explanation": 0.0})


@pytest.mark.parametrize("form", sorted(OPEN_FORMS))
@pytest.mark.parametrize("place", ["whole", "marker", "first-line"])
@pytest.mark.parametrize(
    "reply", ["I'm sorry, but I can't help with that.", "I cannot answer this.\nPlease ask again."]
)
def test_grade_declining_text_is_refused(form: str, place: Place, reply: str) -> None:
    reference: dict[str, Json] = {"text": "It grinds.", "yes-no-reason": {"answer": "no", "reason": "so"}}
    assert grade(question(form, reference.get(form, TWO), place), Reply(reply)).status == "refused"


def test_grade_text_about_refusing_is_scored() -> None:
    text = "Tells customers that we cannot help with that order."
    score = grade(question("text", text), Reply(text))
    assert (score.value, score.status) == (1.0, "read")
    apology = grade(question("text", text, "marker"), Reply(f"Sorry, I cannot provide more.\nFinal answer: {text}"))
    assert (apology.value, apology.status) == (1.0, "read")


@pytest.mark.parametrize("place", ["whole", "marker", "first-line"])
@pytest.mark.parametrize(
    ("form", "reference"),
    [
        ("text", "Nobody grinds beans."),
        ("task-reasons", TWO),
        ("task-reasons", {"tasks": [], "reasons": {}}),
        ("pair-reason", {"tasks": ["Bake", "Mix"], "reasons": {"": "One mixes first."}}),
        ("yes-no-reason", {"answer": "yes", "reason": ""}),
    ],
)
def test_open_form_has_right_and_wrong_answer(form: str, reference: Json, place: Place) -> None:
    given_question = question(form, reference, place)
    assert [grade(given_question, Reply(reply)).value for reply in _right_and_wrong(given_question)] == [1.0, 0.0]
