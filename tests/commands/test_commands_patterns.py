from __future__ import annotations

import json
import re
import subprocess
import sys
from dataclasses import replace

import bounded_process
import pytest

from pytest_taskgraph.__main__ import main
from pytest_taskgraph.families.understanding.baselines.prompt_view import names_of
from pytest_taskgraph.families.understanding.patterns import catalogue
from pytest_taskgraph.families.understanding.patterns_command import (
    BY_QUESTION,
    CHANCE,
    HEADER,
    as_markdown,
    describe,
    pattern_rows,
)
from pytest_taskgraph.families.understanding.questions.assembly import question, references
from pytest_taskgraph.families.understanding.questions.chance import GUESSES, MOST_FREQUENT_NUMBER
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.scoring.forms import FORMS

OURS = [name for name, pattern in catalogue().items() if pattern.category != "custom"]


def test_patterns_json_lists_catalogue_in_order(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["patterns", "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert [entry["pattern"] for entry in rows] == OURS
    (row,) = [entry for entry in rows if entry["pattern"] == "parallel_block"]
    assert row.pop("question") == catalogue()["parallel_block"].templates[0]
    assert row == {
        "pattern": "parallel_block",
        "category": "structure",
        "rationale": "Check that the model finds where a parallel block begins and ends.",
        "answer": "task-set",
        "metric": "jaccard",
        "further": ["precision", "recall"],
        "needs": ["parallel"],
        "chance": "by question",
    }


def test_patterns_text_has_three_lines_for_each(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["patterns"]) == 0
    header, *lines = capsys.readouterr().out.splitlines()
    assert header.split() == ["pattern", "category", "answer", "metric", "further", "needs", "chance"]
    assert [line.split()[0] for line in lines[::3]] == OURS
    assert [line.strip() for line in lines[2::3]] == [catalogue()[name].templates[0] for name in OURS]


def test_patterns_markdown_has_table_for_each_category(
    capsys: pytest.CaptureFixture[str],
) -> None:
    assert main(["patterns", "--markdown"]) == 0
    lines = capsys.readouterr().out.splitlines()
    rows = [re.split(r" (?<!\\)\| ", line.strip("|")) for line in lines if line.startswith("|")]
    categories = dict.fromkeys(pattern.category for pattern in catalogue().values() if pattern.category != "custom")
    assert [line for line in lines if line.startswith("## ")] == [
        f"## {category.capitalize()}" for category in categories
    ]
    assert {len(row) for row in rows} == {len(HEADER)}
    assert len(rows) == len(OURS) + 2 * len(categories)


def test_a_bar_or_a_line_break_in_a_phrasing_does_not_break_the_table() -> None:
    odd = replace(pattern_rows()[0], question="{{ a | upper }}\nor `b`?")
    assert r" | ``{{ a \| upper }} or `b`?`` | " in as_markdown([odd])[-1]


def test_patterns_own_metric_has_no_chance() -> None:
    own = replace(catalogue()["parallel_block"], metric="recall")
    assert (describe(own).metric, describe(own).further, describe(own).chance) == ("recall", ("precision",), "-")


def test_patterns_chance_words_agree_with_questions() -> None:
    assert CHANCE.keys() >= FORMS.keys()
    fixed = {name: words for name, words in CHANCE.items() if words != BY_QUESTION}
    unknown = {name for name, words in fixed.items() if words == "none"}
    assert unknown == FORMS.keys() - GUESSES.keys() - {"text"}
    for name in fixed.keys() - unknown:
        of_form = next(pattern.name for pattern in catalogue().values() if pattern.form == name)
        (reference,) = references(UnderstandingSettings(instances=1), {"patterns": of_form})
        asked = question(reference, UnderstandingSettings())
        values = {"0.5": 0.5, "0.1": MOST_FREQUENT_NUMBER, "1/n": 1 / len(names_of(asked.prompt))}
        assert asked.chance == values[fixed[name]]


def test_patterns_outputs_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["patterns", "--json", "--markdown"]) == 4
    assert "not allowed with" in capsys.readouterr().err


def test_patterns_closed_pipe_is_no_error() -> None:
    command = [sys.executable, "-m", "pytest_taskgraph", "patterns"]
    with bounded_process.start(command, stderr=subprocess.PIPE) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        running.stdout.close()
        assert running.stderr.read() == ""
        assert running.wait() == 0
