"""The help of the options: short, in the terms of the project, with the names that there are."""

from __future__ import annotations

import re

import pytest

from pytest_taskgraph.benchmarks.understanding.prompts import PROMPTS
from pytest_taskgraph.benchmarks.understanding.variations import RELATIONS
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.plugin.options import all_options, baseline_names, heading, help_text
from pytest_taskgraph.scoring.metrics import TEXT_METRICS

RETIRED = re.compile(
    r"\b(subject|frame|reading|mark|unreadable|up-front|survey|oracle|undecided|plan|twin|judges|judged|ahead|study)s?\b"
)


@pytest.mark.parametrize("name", all_options())
def test_help_of_option_is_short_and_holds_no_retired_word(name: str) -> None:
    text = help_text(all_options()[name])
    assert 0 < len(text) <= 200
    assert RETIRED.findall(text.lower()) == []
    assert "{" not in text, "the words of the families are filled in"
    assert not text.endswith("."), "a noun phrase or an imperative, no sentence"


@pytest.mark.parametrize(
    ("option", "names"),
    [
        ("prompt", list(PROMPTS)),
        ("notation", list(NOTATIONS)),
        ("text-metric", list(TEXT_METRICS)),
        ("vary", list(RELATIONS)),
    ],
)
def test_help_of_option_names_every_value(option: str, names: list[str]) -> None:
    words = set(re.findall(r"[\w-]+", help_text(all_options()[option])))
    assert set(names) <= words


def test_heading_of_options_names_every_baseline() -> None:
    assert set(baseline_names()) <= set(re.findall(r"[\w-]+", heading()))
    assert heading().startswith(
        "benchmarks of workflow understanding, steps of complex tasks, next steps, procedural documents; "
        "baselines: reader, "
    )
