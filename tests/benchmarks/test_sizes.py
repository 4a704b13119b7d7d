from __future__ import annotations

from pathlib import Path

from steps import count_calls

from pytest_taskgraph.benchmarks.settings import Settings
from pytest_taskgraph.benchmarks.understanding import understanding
from pytest_taskgraph.benchmarks.understanding.baselines import read_back
from pytest_taskgraph.notations import notation
from pytest_taskgraph.trial import Question
from pytest_taskgraph.workflow.model import END, START, Link, Task, Workflow


def chain(size: int, name: str = "Chain") -> Workflow:
    names = [f"T{i}" for i in range(size)]
    links = [Link(a, b) for a, b in zip((START, *names), (*names, END), strict=True)]
    return Workflow(name, tasks=tuple(map(Task, names)), links=tuple(links))


def written(workflow: Workflow, folder: Path) -> str:
    path = folder / f"{workflow.name}.xxp"
    path.write_text(notation("wadl-expanded").write(workflow))
    return str(path)


def questions(path: str, patterns: str, instances: int = 4) -> list[Question]:
    settings = Settings(workflows=(path,), instances=instances)
    found = understanding.references(settings, {"patterns": patterns})
    return [understanding.question(reference, settings) for reference in found]


def test_read_back_second_question_on_same_text_reads_it_no_more(tmp_path: Path) -> None:
    first, *further = questions(written(chain(40, "ReadOnce"), tmp_path), "order_of_two")
    once = count_calls(lambda: read_back(first.prompt))
    again = count_calls(lambda: read_back(further[0].prompt))
    assert 4 * again < once
    assert [read_back(one.prompt)[1] for one in further] == [one.reference for one in further]
