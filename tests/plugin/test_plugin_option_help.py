"""The help of the options: short, in the terms of the project, with the names that there are."""

from __future__ import annotations

import re

import pytest

from pytest_taskgraph.families.understanding.prompts import PROMPTS
from pytest_taskgraph.families.understanding.variations import RELATIONS
from pytest_taskgraph.notations import NOTATIONS
from pytest_taskgraph.plugin.options import all_options, help_text
from pytest_taskgraph.scoring.metrics import TEXT_METRICS

RETIRED = re.compile(
    r"\b(subject|frame|reading|mark|unreadable|up-front|survey|oracle|undecided|plan|twin|judges|judged|ahead|study)s?\b"
)


def test_help_of_every_option_is_short_and_holds_no_retired_word() -> None:
    texts = {name: help_text(option) for name, option in all_options().items()}
    assert len(texts) > 50
    assert {name: text for name, text in texts.items() if not 0 < len(text) <= 200} == {}
    assert {name: found for name, text in texts.items() if (found := RETIRED.findall(text.lower()))} == {}
    assert [name for name, text in texts.items() if "{" in text] == [], "the words of the families are filled in"
    assert [name for name, text in texts.items() if text.endswith(".")] == [], "a noun phrase or an imperative"


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


def test_help_groups_options_under_short_headings(pytester: pytest.Pytester) -> None:
    lines = pytester.runpytest("--help").outlines
    headings = [line for line in lines if re.match(r"taskgraph.*:$", line)]
    assert headings == [
        "taskgraph:", "taskgraph: asking:", "taskgraph: reports and records:", "taskgraph: understanding:",
        "taskgraph: tasklama:", "taskgraph: steps:", "taskgraph: paged:",
    ]  # fmt: skip
    assert max(map(len, headings)) <= 80
    general = lines[lines.index("taskgraph:") : lines.index("taskgraph: asking:")]
    for name in ("model", "prompt", "gate", "compare", "save", "report", "max-cost"):
        assert any(line.startswith(f"  --taskgraph-{name}=") for line in general), name
