"""Labels that a family states before a question is built, against those of the questions."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from pytest_taskgraph.benchmarks.family import Family
from pytest_taskgraph.benchmarks.option import OptionValue
from pytest_taskgraph.families import FAMILIES
from pytest_taskgraph.families.steps.steps_family import steps
from pytest_taskgraph.families.understanding.questions.labels import BUILT, difficulty
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.workflow.model import Gateway, Link, Task, Workflow

CHAIN = "flowchart TD\n    START([START]) --> A --> B --> END([END])\n"


@pytest.mark.parametrize("family", FAMILIES.values(), ids=FAMILIES)
def test_family_labels_equal_those_of_questions(family: Family) -> None:
    options: Mapping[str, OptionValue] = {"steps-method": ("all",), "steps-seeds": 2} if family is steps else {}
    settings, declared = UnderstandingSettings(instances=4, own=options), family.labels()
    labels_of_questions = [family.question(reference, settings).labels for reference in family.references(settings, {})]
    assert {label for labels in labels_of_questions for label in labels} == set(declared) - {
        "edit"
    }  # of own files alone
    closed = {
        (name, str(value)) for labels in labels_of_questions for name, value in labels.items() if declared[name].closed
    }
    assert closed <= {(name, value) for name, label in declared.items() for value in label.values}


def test_difficulty_measures_layers_through_gateways() -> None:
    links = [
        ("START", "F"), ("F", "A"), ("F", "G"), ("G", "B"), ("G", "F"),  # F and G: gateways that form a cycle
        ("A", "C"), ("B", "C"), ("C", "A"), ("C", "END"), ("Unlinked", "END"), ("B", "undeclared"),
    ]  # fmt: skip
    workflow = Workflow(
        "W",
        tasks=(*map(Task, "AB"), Task("C", subworkflow=Workflow("I", tasks=(Task("D"),))), Task("Unlinked")),
        gateways=(Gateway("F", "parallel", "split"), Gateway("G", "exclusive", "split")),
        links=tuple(Link(source, target, "n > 1" if source == "G" else None) for source, target in links),
    )
    assert difficulty(workflow) == {"tasks": 4, "links": 11, "guards": 2, "depth": 2, "width": 2, "nested": 1}
    assert difficulty(Workflow("W"))["depth"] == difficulty(Workflow("W"))["width"] == 0


def test_built_labels_are_those_unknown_before_building() -> None:
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
def test_question_labels_agree_with_known_labels(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, chosen: dict[str, Any]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("own.mmd").write_text(CHAIN)
    Path("patterns/patterns").mkdir(parents=True)
    phrasings = "\n{# or #}\n".join(f"What follows '{{{{ task }}}}' in {{{{ place }}}}, {way}?" for way in "abc")
    Path("patterns/patterns/next_tasks.jinja").write_text(phrasings)
    settings = UnderstandingSettings(**{"instances": 8, **chosen})
    references = understanding.references(settings, {"patterns": "next_tasks"})
    assert references
    for reference in references:
        known_before, labels = reference.labels, understanding.question(reference, settings).labels
        assert {name: labels.get(name) for name in known_before} == known_before
