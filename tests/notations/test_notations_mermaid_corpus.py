"""Charts in the styles found in documentation: read as worked out by hand, and stated by their guides."""

from __future__ import annotations

from collections.abc import Callable

import pytest
from chart_corpus import CORPUS, READ, SAMPLES, Sample

from pytest_taskgraph.errors import ReadError
from pytest_taskgraph.notations.mermaid import MERMAID
from pytest_taskgraph.workflow.check import check
from pytest_taskgraph.workflow.graph import shortest_cycle, successors
from pytest_taskgraph.workflow.model import Workflow


def fact(workflow: Workflow, kind: str, task: str) -> list[str]:
    def before(name: str) -> list[str]:
        return [other for other in workflow.task_names if name in successors(workflow, other)]

    data = {datum.name for datum in workflow.data}
    facts: dict[str, Callable[[], list[str]]] = {
        "next": lambda: [*successors(workflow, task)],
        "before": lambda: before(task),
        "first": lambda: [name for name in workflow.task_names if not before(name)],
        "last": lambda: [name for name in workflow.task_names if not successors(workflow, name)],
        "cycle": lambda: ["yes" if shortest_cycle(workflow) else "no"],
        "tasks": lambda: [*workflow.task_names],
        "inside": lambda: [*(workflow.task(task).subworkflow or Workflow("")).task_names],
        "reads": lambda: [link.source for link in workflow.data_links if link.target == task and link.source in data],
        "writes": lambda: [link.target for link in workflow.data_links if link.source == task and link.target in data],
    }
    return sorted(facts[kind]())


def test_corpus_has_enough_charts_with_three_answers_each() -> None:
    assert len(SAMPLES) == CORPUS.read_text(encoding="utf-8").count("\n## ")
    assert len(READ) >= 60
    assert {len(sample.answers) for sample in READ} == {3}


@pytest.mark.parametrize("sample", READ, ids=lambda sample: sample.title)
def test_chart_of_corpus_is_read_as_worked_out_by_hand(sample: Sample) -> None:
    workflow = MERMAID.read(sample.chart)
    check(workflow)
    assert {key: fact(workflow, *key) for key in sample.answers} == sample.answers


@pytest.mark.parametrize(
    "sample", [sample for sample in SAMPLES if sample not in READ], ids=lambda sample: sample.title
)
def test_chart_of_corpus_not_supported_names_line(sample: Sample) -> None:
    with pytest.raises(ReadError) as raised:
        MERMAID.read(sample.chart, "c.mmd")
    (line,) = sample.answers["not supported", ""]
    assert str(raised.value).startswith(f"c.mmd:{line}:")
    assert "\n" not in str(raised.value)


@pytest.mark.parametrize("sample", READ, ids=lambda sample: sample.title)
def test_chart_of_corpus_in_markdown_or_with_crlf_is_the_same(sample: Sample) -> None:
    plain = MERMAID.read(sample.chart)
    assert MERMAID.read(f"# Title\n\n> Words\n\n```mermaid\n{sample.chart}```\n\nMore.\n") == plain
    assert MERMAID.read(sample.chart.replace("\n", "\r\n")) == plain
