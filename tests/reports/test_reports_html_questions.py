from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Literal
from urllib.parse import parse_qs

import pytest
from described_runs import about_run
from html_page import Page

from pytest_taskgraph.catalog import registrations
from pytest_taskgraph.reports.html import html
from pytest_taskgraph.reports.html.embedded_data import permalink
from pytest_taskgraph.reports.html.question_view import MOST_REASONS
from pytest_taskgraph.results.record import build
from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.trial import Json, Outcome, Question, Reply, Score, Trial

HOSTILE = "</script><script>alert(1)</script><img src=x onerror=alert(2)>--><!-- \x1b[31m \u202egnp.exe\u2028&amp;'\""


def make_trial(
    name: str,
    outcome: Outcome = "right",
    *,
    model: str = "m",
    form: str = "task-set",
    reference: Json = "A",
    given: Json = "A",
    **labels: str | int,
) -> Trial:
    question = Question(
        name, "f", "g", "s", f"Which, {name}?", f"prompt of {name}", form, reference, "jaccard", labels=labels
    )
    status: Literal["read", "unparseable"] = "unparseable" if outcome == "unparseable" else "read"
    score = Score(float(outcome == "right"), given=given if status == "read" else None, status=status)
    return Trial(question, model, outcome, Reply("Final answer: A"), score)


def page(*trials: Trial) -> Page:
    models = tuple(dict.fromkeys(trial.model for trial in trials))
    return Page(html(build(trials, about_run("0.1.0", models))))


@pytest.fixture
def explaining_form() -> Iterator[str]:
    """A form that says as many sentences about an answer as the answer has letters."""
    form = replace(
        FORMS["text"], name="spelled", explain=lambda _, given: [f"Letter {letter}." for letter in str(given)]
    )
    with registrations() as catalogs:
        catalogs.add(FORMS.kind, form.name, form, "tests")
        yield form.name


def test_permalink_hostile_id_and_model_are_encoded() -> None:
    link = permalink("a&model=b#c d+e%20", "x/y:z=\"'<>")
    assert re.fullmatch(r"#question=[\w.~%-]*&model=[\w.~%-]*", link)
    assert parse_qs(link[1:]) == {"question": ["a&model=b#c d+e%20"], "model": ["x/y:z=\"'<>"]}


def test_html_question_has_named_link_to_itself() -> None:
    report = page(make_trial("q 1", model="a/b"))
    (attributes, *_) = [own for tag, own, _ in report.elements if tag == "a" and own.get("class") == "permalink"]
    assert attributes["href"] == "#question=q%201&model=a%2Fb"
    assert attributes["aria-label"] == "Link to q 1, a/b"


def test_html_grid_has_question_by_model_and_prompt() -> None:
    ids = {"plain": "q", "terse": "q-terse"}
    models = ("baseline:rules", "m")
    trials = [make_trial(ids[prompt], model=model, prompt=prompt) for model in models for prompt in ids]
    report = page(*trials, make_trial("r-terse-k2", "wrong", model="m", prompt="terse"))
    cells, index = report.data("cells"), report.data("index")
    assert cells["columns"] == [
        ["m", "plain", "m"], ["m", "terse", "m"],
        ["baseline:rules", "plain", "baseline rules"], ["baseline:rules", "terse", "baseline rules"],
    ]  # fmt: skip
    shown = {
        name: [(index[at]["id"], index[at]["model"]) if at >= 0 else None for at in places]
        for name, *places in cells["rows"]
    }
    assert shown == {
        "r-k2": [None, ("r-terse-k2", "m"), None, None],
        "q": [("q", "m"), ("q-terse", "m"), ("q", "baseline:rules"), ("q-terse", "baseline:rules")],
    }


def test_html_grid_of_one_prompt_has_column_for_each_model() -> None:
    trials = [make_trial("q-terse", model="m", prompt="terse"), make_trial("q-terse", model="n", prompt="terse")]
    assert page(*trials, make_trial("r", model="n")).data("cells") == {
        "columns": [["m", "", "m"], ["n", "", "n"]], "rows": [["q-terse", 0, 1], ["r", -1, 2]],
    }  # fmt: skip


def test_html_one_model_with_one_prompt_has_no_grid() -> None:
    report = page(make_trial("q", prompt="terse"), make_trial("r", prompt="terse"))
    assert "cells" not in {own.get("id") for _, own, _ in report.elements}
    assert "Question by model" not in report.all("a")


def test_html_grid_of_many_questions_is_small() -> None:
    trials = [make_trial(f"next_tasks-wadl-n012-s0-{at:03}", model=f"m{of}") for at in range(300) for of in range(8)]
    assert len(page(*trials).raw("cells")) < 25_000


def test_html_list_of_questions_hides_a_single_model() -> None:
    one, two = page(make_trial("q")), page(make_trial("q"), make_trial("q", model="n"))
    classes = [
        [own.get("class") for tag, own, _ in report.elements if tag == "ol" and own.get("id") == "list"]
        for report in (one, two)
    ]
    assert classes == [["one-model"], [None]]


def test_html_hostile_question_link_stays_in_page() -> None:
    report = page(*(make_trial(HOSTILE, model=model) for model in (HOSTILE, "b")))
    links = [own["href"] for tag, own, _ in report.elements if tag == "a" and own.get("class") == "permalink"]
    assert len(links) == 3
    assert all(re.fullmatch(r"#question=[\w.~%-]*&model=[\w.~%-]*", link) for link in links[:2])


def test_html_wrong_answer_states_reasons_in_words(explaining_form: str) -> None:
    report = page(make_trial("q", "wrong", form=explaining_form, reference="x", given="ab"))
    assert report.all("ul", data_list="why")[0] == "Letter a. Letter b."
    assert report.data("details")["questions"][0]["why"] == ["Letter a.", "Letter b."]
    assert report.all("bdi", data_slot="score")[0] == "0.000; pass threshold 1.000"


def test_html_many_reasons_are_cut_and_counted(explaining_form: str) -> None:
    report = page(make_trial("q", "wrong", form=explaining_form, reference="x", given="a" * (MOST_REASONS + 3)))
    reasons = report.data("details")["questions"][0]["why"]
    assert len(reasons) == MOST_REASONS + 1
    assert reasons[-1] == "and 3 further reasons"


def test_html_right_answer_has_no_reasons(explaining_form: str) -> None:
    report = page(make_trial("q", form=explaining_form, reference="ab", given="ab"))
    assert report.data("details")["questions"][0]["why"] == []
    assert report.all("bdi", data_slot="score")[0] == "1.000"


def test_html_unparseable_reply_says_so() -> None:
    trial = make_trial("q", "unparseable")
    report = page(trial)
    assert report.all("ul", data_list="why")[0] == "the reply has no answer that can be parsed"
    remarked = page(
        Trial(trial.question, "m", "unparseable", trial.reply, Score(0.0, status="unparseable", remark="no"))
    )
    assert remarked.all("ul", data_list="why")[0] == "no"


def test_html_question_reads_from_outcome_to_facts() -> None:
    trial = make_trial("q", "wrong", reference=["A"], given=["B"], tasks=3)
    trial = replace(trial, score=Score(0.0, given=["B"], missing=["A"], extra=["B"], remark="r"))
    report = page(replace(trial, question=replace(trial.question, system="be brief")))
    order = [
        own.get("data-slot") or own["data-list"]
        for _, own, _ in report.elements
        if "data-slot" in own or "data-list" in own
    ]
    body = order[order.index("score") : order.index("labels") + 1]
    assert body == [
        "score", "why", "missing", "extra", "text", "expected", "given", "reply", "prompt", "system", "facts", "labels",
    ]  # fmt: skip


def test_html_buttons_of_question_have_names_of_their_own() -> None:
    names = [own["aria-label"] for _, own, _ in page(make_trial("q")).elements if own.get("class") == "copy"]
    assert names[:2] == ["Copy: Reply", "Copy: Prompt"]


def test_html_hostile_reasons_are_text() -> None:
    with registrations() as catalogs:
        form = replace(FORMS["text"], name="quoting", explain=lambda _, given: [str(given)])
        catalogs.add(FORMS.kind, form.name, form, "tests")
        report = page(make_trial("q", "wrong", form="quoting", reference="x", given=HOSTILE))
    assert "img" not in {tag for tag, _, _ in report.elements}
    assert report.all("ul", data_list="why")[0].startswith("</script><script>alert(1)")
