"""Replies are read as the page about answer parsing states, and as a person reads the replies of the corpus."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import pytest

from pytest_taskgraph.errors import ProviderError
from pytest_taskgraph.scoring.condition_meaning import is_same_condition
from pytest_taskgraph.scoring.forms import FORMS
from pytest_taskgraph.scoring.grade import grade
from pytest_taskgraph.trial import Json, Question, Reply

PAGE = Path(__file__).resolve().parents[2] / "docs" / "explanation" / "answer-parsing.md"
ROW = re.compile(r"^ +\| (tasks|task|yes or no|number) \| `(.+)` \| (.+) \|$", re.MULTILINE)
QUESTIONS = {
    "tasks": ("task-set", "Which tasks in workflow 'Process' read data 'Data10'?"),
    "task": ("task", "Which task runs first in workflow 'Process'?"),
    "yes or no": ("yes-no", "Is the control flow of workflow 'Process' connected?"),
    "number": ("number", "How many times does task 'Task9' run, if m = 17 at the start?"),
}
EXAMPLES = ROW.findall(PAGE.read_text(encoding="utf-8"))


REFERENCES: dict[str, Json] = {"task-set": ["Task1"], "task": "Task1", "yes-no": "yes", "number": 5}


def make_question(form: str, text: str, reference: Json, **further: Any) -> Question:  # noqa: ANN401
    return Question(
        id="q", family="f", group="g", section="", text=text, prompt=text, form=form, reference=reference, **further
    )


def read(question: Question, reply: str, finish_reason: str = "stop") -> Json:
    """What is read: the answer, or the word for a reply without one."""
    try:
        score = grade(question, Reply(reply, finish_reason=finish_reason))
    except ProviderError as error:
        return error.kind
    return score.given if score.status == "read" else {"refused": "refusal"}.get(score.status, score.status)


# Replies with what a person reads in them; those with a "gap" are not read so yet.
CORPUS = [json.loads(line) for line in Path(__file__).with_name("replies.jsonl").read_text("utf-8").splitlines()]
OUTCOMES = ("unparseable", "refusal", "truncated")


def is_read_as(row: dict[str, Any], got: Json, wanted: Json) -> bool:
    """Whether what is read equals what a person reads: conditions by their meaning, reasons left out."""
    if wanted in OUTCOMES or got in OUTCOMES:
        return got == wanted
    if row["form"] == "text":
        return str(got).split() == str(wanted).split()
    if row["form"] == "condition":
        return is_same_condition(str(got), {"condition": wanted, "domains": row["reference"]["domains"]})
    if isinstance(got, dict):
        stated = wanted if isinstance(wanted, dict) else {"answer": wanted}
        return all(got[name] == stated[name] for name in ("tasks", "answer") if name in got)
    if row["form"] == "groups" and isinstance(got, list) and isinstance(wanted, list):
        return sorted(map(sorted, got)) == sorted(map(sorted, wanted))  # type: ignore[arg-type]
    return sorted(got) == sorted(wanted) if row["form"] == "task-set" else got == wanted  # type: ignore[arg-type,type-var]


@pytest.mark.parametrize(
    "row", [pytest.param(row, id=row["id"], marks=[pytest.mark.xfail] * ("gap" in row)) for row in CORPUS]
)
def test_reply_is_read_as_person_reads_it(row: dict[str, Any]) -> None:
    shown = {name: row[name] for name in ("place", "names", "spellings") if name in row}
    question = make_question(row["form"], row["question"], row["reference"], metric=FORMS[row["form"]].metric, **shown)
    got = read(question, row["reply"], row.get("finish_reason", "stop"))
    assert any(is_read_as(row, got, wanted) for wanted in (row["expect"], *row.get("allow", ()))), got


def test_page_has_examples_of_rules() -> None:
    assert len(EXAMPLES) >= 15
    assert {answer for answer, _, _ in EXAMPLES} == set(QUESTIONS)


@pytest.mark.parametrize(("answer", "reply", "expected"), EXAMPLES, ids=range(len(EXAMPLES)))
def test_example_of_page_is_read_as_stated(answer: str, reply: str, expected: str) -> None:
    form, text = QUESTIONS[answer]
    question = make_question(form, text, REFERENCES[form], metric=FORMS[form].metric)
    got = read(question, reply.replace("⏎", "\n"))
    shown = (", ".join(map(str, got)) or "none") if isinstance(got, list) else str(got)
    assert shown == expected


def test_table_whose_row_lacks_cells_is_read_as_far_as_it_goes() -> None:
    names = ["Brew", "Mix"]
    question = make_question("task-set", "Which tasks read 'Milk'?", [*names], metric="jaccard", names=names)
    table = "| no | Task | note |\n|---|---|---|\n| 1 | Brew | of the pot |\n| 2 | Mix |\n| 3 |"
    assert read(question, f"Final answer:\n\n{table}") == ["Brew", "Mix"]
