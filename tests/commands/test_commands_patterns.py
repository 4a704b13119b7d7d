from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace

import bounded_process
import pytest

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.benchmarks.understanding.patterns import catalogue
from pytest_taskgraph.benchmarks.understanding.patterns_command import (
    BY_QUESTION,
    CHANCE,
    HEADER,
    as_markdown,
    describe,
    listed,
)
from pytest_taskgraph.benchmarks.understanding.questions.chance import chance
from pytest_taskgraph.scoring.forms import FORMS

OURS = [name for name, one in catalogue().items() if one.category != "custom"]


def test_json_tells_every_pattern_in_the_order_of_the_catalogue(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["patterns", "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [one["pattern"] for one in told] == OURS
    (shown,) = [one for one in told if one["pattern"] == "parallel_block"]
    assert shown.pop("question") == catalogue()["parallel_block"].templates[0]
    assert shown == {
        "pattern": "parallel_block",
        "category": "structure",
        "rationale": "Can the model tell where a parallel block begins and ends?",
        "answer": "task-set",
        "metric": "jaccard",
        "further": ["precision", "recall"],
        "needs": ["parallel"],
        "chance": "by question",
    }


def test_the_text_has_three_lines_a_pattern(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["patterns"]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split() == ["pattern", "category", "answer", "metric", "further", "needs", "chance"]
    assert [line.split()[0] for line in lines[::3]] == OURS
    assert [line.strip() for line in lines[2::3]] == [catalogue()[name].templates[0] for name in OURS]


def test_the_markdown_has_a_table_for_each_category_with_a_cell_for_each_column(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["patterns", "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [re.split(r" (?<!\\)\| ", line.strip("|")) for line in lines if line.startswith("|")]
    categories = dict.fromkeys(one.category for one in catalogue().values() if one.category != "custom")
    assert [line for line in lines if line.startswith("## ")] == [f"## {one.capitalize()}" for one in categories]
    assert {len(row) for row in rows} == {len(HEADER)}
    assert len(rows) == len(OURS) + 2 * len(categories)


def test_a_bar_or_a_line_break_in_a_phrasing_does_not_break_the_table() -> None:
    odd = replace(listed()[0], question="{{ a | upper }}\nor `b`?")
    assert r" | ``{{ a \| upper }} or `b`?`` | " in as_markdown([odd])[-1]


def test_the_metric_of_a_pattern_comes_before_that_of_its_form_and_has_no_chance_then() -> None:
    own = replace(catalogue()["parallel_block"], metric="recall")
    assert (describe(own).metric, describe(own).further, describe(own).chance) == ("recall", ("precision",), "-")


def test_every_form_has_words_for_its_chance_that_agree_with_the_chance_of_a_question() -> None:
    assert CHANCE.keys() >= FORMS.keys()
    fixed = {name: told for name, told in CHANCE.items() if told != BY_QUESTION}
    computed = {name: chance(name, "A", ["A", "B", "C", "D"]) for name in fixed}
    values = {"0.5": 0.5, "1/n": 0.25, "none": None}
    assert computed == {name: values[told] for name, told in fixed.items()}


def test_text_and_json_and_markdown_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["patterns", "--json", "--markdown"]) == 4
    assert "not allowed with" in capsys.readouterr().err


def test_a_reader_that_has_enough_is_no_error() -> None:
    command = [sys.executable, "-m", "pytest_taskgraph", "patterns"]
    with bounded_process.start(command, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == ""
        assert running.wait() == 0
