"""Graded questions in each report: a mean beside the chance level and an interval, excluded from rates and totals."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from functools import cache
from io import StringIO
from typing import Any

import pytest
from described_runs import PATTERNS, about_run

from pytest_taskgraph.reports import terminal
from pytest_taskgraph.reports.csv import csv as csv_of
from pytest_taskgraph.reports.headline import verdict
from pytest_taskgraph.reports.html import html
from pytest_taskgraph.reports.junit import properties, suite_properties
from pytest_taskgraph.reports.markdown import markdown
from pytest_taskgraph.results.comparison import compare
from pytest_taskgraph.results.record import about_of, build, tally_of
from pytest_taskgraph.trial import Outcome, Question, Reply, Score, Trial

ABOUT = about_run("0.1.0", ("m",), 7, ("wadl",), "chain-of-thought", "lenient", ("answers",))
TEXT = Question(
    "d0", "understanding", "describe_task", "functionality", "?", "?", "text", "It bakes.", "rouge1",
    pass_threshold=0.0, chance=0.25, labels={"tasks": 12},
)  # fmt: skip
ODD = replace(TEXT, group="odd_task", form="yes-no", reference="yes", metric="correctness", pass_threshold=1.0)


def graded(at: int, score: float, model: str = "m", outcome: Outcome = "graded") -> Trial:
    return Trial(replace(TEXT, id=f"d{at}", cluster=f"w{at}"), model, outcome, Reply("x"), Score(score, given="x"))


def judged_trial(at: int, model: str = "m") -> Trial:
    question = replace(ODD, id=f"o{at}", cluster=f"w{at}", labels={"tasks": 12 + at % 2})
    outcome: Outcome = "right" if at % 2 else "wrong"
    return Trial(question, model, outcome, Reply("x"), Score(float(at % 2)))


def record_of(*trials: Trial, **about: Any) -> dict[str, Any]:  # noqa: ANN401
    return build(trials, replace(ABOUT, **about))


GRADED = [graded(at, score) for at, score in enumerate((0.2, 0.4, 0.4, 0.6))]
NOTE = "4 graded questions of functionality do not count in pass rates and totals"


@cache
def mixed() -> dict[str, Any]:
    return record_of(*GRADED, *(judged_trial(at) for at in range(10)))


@cache
def alone() -> dict[str, Any]:
    return record_of(*GRADED)


def summary_lines(record: dict[str, Any], verbosity: int = 2, width: int = 80) -> list[str]:
    return [line for line, _ in terminal.lines(tally_of(record), about_of(record), verbosity, width)]


def test_terminal_graded_means_stand_beside_chance() -> None:
    lines = summary_lines(mixed())
    assert [line.split()[:3] for line in lines if "0.500" in line] == [
        ["functionality", "10", "0.500"], ["odd_task", "10", "0.500"], ["total", "10", "0.500"],
    ]  # fmt: skip
    head = next(line for line in lines if line.startswith("graded"))
    assert head.split() == ["graded", "n", "mean", "95%", "interval", "chance", "errors", "unparseable"]
    row = next(line for line in lines if line.startswith("describe_task"))
    assert row.split() == ["describe_task", "4*", "0.400", "0.140-0.660", "0.250", "0", "0"]
    assert NOTE in lines


def test_terminal_graded_alone_has_no_table_of_rates() -> None:
    lines = summary_lines(alone())
    assert not any("pass rate" in line for line in lines if line != NOTE)
    assert not any(line.startswith("total") for line in lines)
    assert summary_lines(alone(), -1) == ["taskgraph: m: 4 graded"]
    assert summary_lines(mixed(), -1) == ["taskgraph: m: 5 of 10 right (0.500), mean 0.500, 4 graded"]


@pytest.mark.parametrize("width", [40, 50, 60, 70, 80, 120])
def test_terminal_graded_chance_level_stays_at_any_width(width: int) -> None:
    lines = summary_lines(mixed(), width=width)
    head = next(line for line in lines if line.startswith("graded"))
    assert "chance" in head
    assert max(map(len, lines)) <= width


def test_terminal_several_models_have_graded_line_each() -> None:
    others = [replace(trial, model="n") for trial in GRADED[:2]]
    record = record_of(*GRADED, *others, judged_trial(0), judged_trial(1, "n"), models=("m", "n"))
    rows = [line.split()[:4] for line in summary_lines(record) if line.startswith("describe_task")]
    assert rows == [["describe_task,", "m", "4*", "0.400"], ["describe_task,", "n", "2*", "0.300"]]


def test_markdown_graded_means_have_own_table() -> None:
    text = markdown(mixed())
    assert "| `describe_task` | `m` | 4\\* | 0.400 | 0.140-0.660 | 0.250 | 0.200 | 0 | 0 | 0 | 0 |" in text
    assert "| **total** | 10 | 0.500 |" in text
    assert NOTE in text
    assert "10 right, pass rate 0.500, 4 graded, apart" in text
    assert "**total**" not in markdown(alone())
    assert "pass rate |" not in markdown(alone())


def test_html_graded_means_beside_chance_and_none_right() -> None:
    page = html(mixed())
    _, _, table = page.partition("Graded questions: mean scores")
    table = table.partition("</table>")[0]
    row = table.partition("<tbody>")[2]
    cells = [re.sub(r"<[^>]*>", "", cell).strip() for cell in re.findall(r"(?s)<t[hd][^>]*>(.*?)</t[hd]>", row)]
    assert cells == ["describe_task", "m", "4*", "0.400", "0.140–0.660", "0.250", "0.200", "0", "0", "0", "0"]
    assert '<a class="outcome graded" href="#show:outcome=graded">4 graded</a>' in page
    rates = page[page.index("Pass rates by category") : page.index("Graded questions: mean scores")]
    assert "describe" not in rates


def test_csv_graded_answers_have_outcome_graded() -> None:
    rows = list(csv.DictReader(StringIO(csv_of(mixed()))))
    outcomes = {(row["group"], row["outcome"], row["pass_threshold"]) for row in rows}
    assert outcomes == {("describe_task", "graded", "0.0"), ("odd_task", "right", "1.0"), ("odd_task", "wrong", "1.0")}


def test_junit_graded_questions_have_no_rate() -> None:
    values = dict(suite_properties(tally_of(mixed()), about_of(mixed())))
    assert values["taskgraph.pattern.describe_task"] == (
        "n=4 interval=0.140-0.660 mean=0.400 errors=0 unparseable=0 refused=0 skipped=0 chance=0.250"
    )
    assert "rate=0.500" in values["taskgraph.category.functionality"]
    assert "graded=4" in values["taskgraph.category.functionality"]
    assert (values["taskgraph.n"], values["taskgraph.graded"], values["taskgraph.rate"]) == ("10", "4", "0.500")
    assert dict(properties(GRADED[0], PATTERNS))["taskgraph.outcome"] == "graded"


@pytest.mark.parametrize(
    ("trials", "state", "headline"),
    [
        ([judged_trial(1), judged_trial(3), *GRADED], "passed", "All 2 right, 4 graded"),
        ([judged_trial(1), *GRADED], "passed", "The question is right, 4 graded"),
        (GRADED, "neutral", "No answer is right or wrong, 4 graded"),
        ([judged_trial(0), judged_trial(1), *GRADED], "failed", "1 of 2 not right"),
        (
            [judged_trial(1), graded(0, 0.0, outcome="unparseable")],
            "failed",
            "1 of 1 graded without an answer",
        ),
        ([judged_trial(1), graded(0, 0.0, outcome="error")], "failed", "0 of 1 not right, 1 error"),
    ],
)
def test_verdict_counts_graded_answers_apart(trials: list[Trial], state: str, headline: str) -> None:
    record = record_of(*trials)
    run_verdict = verdict(record, tally_of(record), about_of(record))
    assert (run_verdict.state, run_verdict.headline) == (state, headline)


def test_terminal_graded_without_answer_turns_total_red() -> None:
    cases: list[tuple[Outcome, str]] = [("graded", "green"), ("unparseable", "red"), ("error", "red")]
    for outcome, colour in cases:
        record = record_of(judged_trial(1), graded(0, 0.0, outcome=outcome))
        markup = [
            style for line, style in terminal.lines(tally_of(record), about_of(record), 1) if line.startswith("total")
        ]
        assert [colour in style for style in markup] == [True]


def test_repetitions_graded_patterns_have_no_majority() -> None:
    again = [
        replace(trial, question=replace(trial.question, id=f"{trial.question.id}-r2", repetition=2)) for trial in GRADED
    ]
    record = record_of(*GRADED, *again, judged_trial(1))
    (row,) = [
        line.split() for line in summary_lines(record, width=100) if line.startswith("describe_task ") and " - " in line
    ]
    assert row == ["describe_task", "4", "0.400", "-", "-", "-", "0.000", "0.163"]
    assert "| `describe_task` | 4 | 0.400 | - | - | - | 0.000 | 0.163 |" in markdown(record)
    assert "describe_<wbr>task" in html(record)


def test_comparison_graded_patterns_have_no_pass_rate() -> None:
    worse = record_of(*(graded(at, 0.1) for at in range(4)), *(judged_trial(at) for at in range(10)))
    comparison = compare(mixed(), worse)
    assert "| `describe_task` | inconclusive | 4 | - | 0.400 → 0.100 | 4 | 0 |" in markdown(worse, comparison)
    assert "<td>- →" not in html(worse, comparison)
