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


def made(name: str = "a", text: str = "Which?", **labels: str | int) -> Trial:
    question = Question(
        name, "understanding", "next_tasks", "structure", text, "p", "task-set", ["A", "B"], "jaccard", labels=labels
    )
    mark = Score(0.5, {"recall": 0.5, "ndcg": None}, given=["A"], missing=["B"])
    return Trial(question, "m", "wrong", Reply("A", 120, 3, None, retries=2), mark, retries=2)


def read(*trials: Trial) -> list[dict[str, str]]:
    text = csv(record.build(trials, about_run("0.1.0", ("m",))))
    return list(standard.DictReader(StringIO(text, newline=""), strict=True))


def test_a_row_tells_the_trial() -> None:
    row = read(made(notation="wadl", tasks=12))[0]
    assert row["id"] == "a"
    assert (row["outcome"], row["score"], row["metric.recall"], row["metric.ndcg"]) == ("wrong", "0.5", "0.5", "")
    assert (row["label.notation"], row["label.tasks"]) == ("wadl", "12")
    assert (row["expected"], row["given"], row["missing"], row["extra"]) == ("A, B", "A", "B", "")
    assert (row["tokens_in"], row["retries"], row["repetition"]) == ("120", "2", "1")
    assert row["once"] == "a"


def test_what_is_unknown_is_empty_and_what_is_zero_is_not() -> None:
    error = replace(made("b"), outcome="error", reply=None, score=None, failure=Failure("timeout", "none"))
    free = replace(made("c"), reply=Reply("", 0, 0, 0.0), score=Score(0.0, given=[]))
    unknown, known = read(error, free)
    assert (unknown["score"], unknown["given"], unknown["tokens_in"]) == ("", "", "")
    assert (unknown["failure_kind"], unknown["failure_message"]) == ("timeout", "none")
    assert (float(known["score"]), known["given"], known["tokens_in"]) == (0.0, "none", "0")
    assert float(known["cost_usd"]) == 0.0


def test_every_row_has_every_column_in_an_order_that_the_trials_do_not_change() -> None:
    ones = [made("a", zebra=1), made("b", ant=2)]
    text = csv(record.build(ones, about_run("0.1.0")))
    assert text == csv(record.build(ones[::-1], about_run("0.1.0")))
    header, *rows = standard.reader(StringIO(text, newline=""))
    assert header[:2] == ["id", "once"]
    assert header[-4:] == ["label.ant", "label.zebra", "metric.ndcg", "metric.recall"]
    assert {len(row) for row in rows} == {len(header)}


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(1)", " =1", "\t=1", "\n=1", "＝1"])
def test_no_cell_starts_a_formula(text: str) -> None:
    assert read(made(text=text))[0]["question"] == f"'{text}"


@given(anything, anything, anything)
def test_any_text_keeps_to_its_cell(text: str, name: str, given_answer: str) -> None:
    one = made(text=text, **{name: given_answer})
    one = replace(one, score=Score(0.0, given=[given_answer], remark=text))
    (row,) = read(
        one,
    )
    assert (row["id"], row["outcome"]) == ("a", "wrong")
    assert None not in row
    cells = [cell for pair in row.items() for cell in pair]
    assert not any(cell.lstrip(" ").startswith(("=", "+", "-", "@", "\t")) for cell in cells)
    assert not any(ord(char) < 32 and char not in "\n\t" for cell in cells for char in cell)


def test_lines_end_as_the_standard_says_and_the_text_is_utf_8() -> None:
    text = csv(record.build([made(text="a\nb\ud800é")], about_run("0.1.0")))
    assert text.encode().count(b"\r\n") == 2
    assert text.endswith("\r\n")


def test_a_damaged_record_is_refused() -> None:
    with pytest.raises(UsageError, match="the record is damaged"):
        csv({"trials": [{}], "texts": {}})
