"""What a family tells of labels before a question is built, against the labels of the questions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_taskgraph.benchmarks import FAMILIES
from pytest_taskgraph.benchmarks.family import Family
from pytest_taskgraph.benchmarks.settings import OptionValue
from pytest_taskgraph.benchmarks.steps import steps
from pytest_taskgraph.benchmarks.understanding import understanding
from pytest_taskgraph.benchmarks.understanding.family_options import UnderstandingSettings
from pytest_taskgraph.benchmarks.understanding.questions.labels import BUILT

CHAIN = "flowchart TD\n    START([START]) --> A --> B --> END([END])\n"


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_a_family_lists_the_labels_of_its_questions_and_no_others(family: Family) -> None:
    asked: Mapping[str, OptionValue] = {"steps-method": ("all",), "steps-seeds": 2} if family is steps else {}
    settings, listed = UnderstandingSettings(instances=6, own=asked), family.labels()
    made = [family.question(one, settings).labels for one in family.references(settings, {})]
    assert {label for labels in made for label in labels} == set(listed) - {"edit"}  # of own files alone
    closed = {(name, str(value)) for labels in made for name, value in labels.items() if listed[name].closed}
    assert closed <= {(name, value) for name, label in listed.items() for value in label.values}


def test_what_takes_building_a_question_is_all_that_is_not_known_before() -> None:
    settings = UnderstandingSettings(instances=1)
    reference = understanding.references(settings, {"patterns": "next_tasks"})[0]
    assert understanding.labels().keys() - reference.labels.keys() == set(BUILT)


@pytest.mark.parametrize(
    "chosen",
    [
        {},
        {"phrasing": "first"},
        {"phrasing": "second", "prompt": "direct"},
        {"tasks": (8, 16), "notations": ("json", "mermaid")},
        {"templates": "patterns"},
        {"workflows": ("own.mmd",)},
    ],
)
def test_a_question_turns_out_to_have_the_labels_that_were_known_and_lacks_those_known_to_be_none(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.mmd").write_text(CHAIN)
    Path("patterns/patterns").mkdir(parents=True)
    ways = "\n{# or #}\n".join(f"What follows '{{{{ task }}}}' in {{{{ place }}}}, {way}?" for way in "abc")
    Path("patterns/patterns/next_tasks.jinja").write_text(ways)
    settings = UnderstandingSettings(**{"instances": 8, **chosen})
    references = understanding.references(settings, {"patterns": "next_tasks"})
    assert references
    for one in references:
        known, labels = one.labels, understanding.question(one, settings).labels
        assert {name: labels.get(name) for name in known} == known
