from __future__ import annotations

import csv as standard
from dataclasses import replace
from io import StringIO

import pytest
from described_runs import about_run
from hypothesis import given
from hypothesis import strategies as st

from pytest_taskgraph.errors import UsageError
from pytest_taskgraph.reports.csv import csv
from pytest_taskgraph.results import record
from pytest_taskgraph.trial import Failure, Question, Reply, Score, Trial

anything = st.text(st.characters(), max_size=20) | st.sampled_from(["=1+1", "@SUM(A1)", "a\r\nb", '"', "\ufeff=1"])


def make_trial(name: str = "a", text: str = "Which?", **labels: str | int) -> Trial:
    question = Question(
        name, "understanding", "next_tasks", "structure", text, "p", "task-set", ["A", "B"], "jaccard", labels=labels
    )
    mark = Score(0.5, {"recall": 0.5, "ndcg": None}, given=["A"], missing=["B"])
    return Trial(question, "m", "wrong", Reply("A", 120, 3, None, retries=2), mark, retries=2)


def read(*trials: Trial) -> list[dict[str, str]]:
    text = csv(record.build(trials, about_run("0.1.0", ("m",))))
    return list(standard.DictReader(StringIO(text, newline=""), strict=True))


def test_csv_row_holds_trial() -> None:
    row = read(make_trial(notation="wadl", tasks=12))[0]
    assert row["id"] == "a"
    assert (row["outcome"], row["score"], row["metric.recall"], row["metric.ndcg"]) == ("wrong", "0.5", "0.5", "")
    assert (row["label.notation"], row["label.tasks"]) == ("wadl", "12")
    assert (row["expected"], row["given"], row["missing"], row["extra"]) == ("A, B", "A", "B", "")
    assert (row["tokens_in"], row["retries"], row["repetition"]) == ("120", "2", "1")
    assert row["question"] == "a"


def test_csv_unknown_is_empty_and_zero_is_not() -> None:
    error = replace(make_trial("b"), outcome="error", reply=None, score=None, failure=Failure("timeout", "none"))
    free = replace(make_trial("c"), reply=Reply("", 0, 0, 0.0), score=Score(0.0, given=[]))
    unknown, free_row = read(error, free)
    assert (unknown["score"], unknown["given"], unknown["tokens_in"]) == ("", "", "")
    assert (unknown["failure_kind"], unknown["failure_message"]) == ("timeout", "none")
    assert (float(free_row["score"]), free_row["given"], free_row["tokens_in"]) == (0.0, "none", "0")
    assert float(free_row["cost_usd"]) == 0.0


def test_csv_columns_do_not_depend_on_trial_order() -> None:
    trials = [make_trial("a", zebra=1), make_trial("b", ant=2)]
    text = csv(record.build(trials, about_run("0.1.0")))
    assert text == csv(record.build(trials[::-1], about_run("0.1.0")))
    header, *rows = standard.reader(StringIO(text, newline=""))
    assert header[:2] == ["id", "question"]
    assert header[-4:] == ["label.ant", "label.zebra", "metric.ndcg", "metric.recall"]
    assert {len(row) for row in rows} == {len(header)}


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(1)", " =1", "\t=1", "\n=1", "＝1"])
def test_csv_cells_start_no_formula(text: str) -> None:
    assert read(make_trial(text=text))[0]["question_text"] == f"'{text}"


@given(anything, anything, anything)
def test_csv_any_text_stays_in_its_cell(text: str, name: str, given_answer: str) -> None:
    trial = make_trial(text=text, **{name: given_answer})
    trial = replace(trial, score=Score(0.0, given=[given_answer], remark=text))
    (row,) = read(
        trial,
    )
    assert (row["id"], row["outcome"]) == ("a", "wrong")
    assert None not in row
    cells = [cell for pair in row.items() for cell in pair]
    assert not any(cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t")) for cell in cells)
    assert not any(ord(char) < 32 and char not in "\n\t" for cell in cells for char in cell)


def test_csv_lines_end_in_crlf_and_text_is_utf_8() -> None:
    text = csv(record.build([make_trial(text="a\nb\ud800é")], about_run("0.1.0")))
    assert text.encode().count(b"\r\n") == 2
    assert text.endswith("\r\n")


def test_csv_damaged_record_raises_usage_error() -> None:
    with pytest.raises(UsageError, match="the record is damaged"):
        csv({"trials": [{}], "texts": {}})
