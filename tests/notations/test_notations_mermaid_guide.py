"""The law of guides: whoever knows a chart and what its guide says computes the same graph as the reader."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

import pytest
from chart_corpus import READ, Sample
from guide_reader import Link, Path, Reading
from hypothesis import assume, event, given
from hypothesis import strategies as st

from pytest_taskgraph.errors import ReadError
from pytest_taskgraph.notations.mermaid import MERMAID
from pytest_taskgraph.workflow.check import check
from pytest_taskgraph.workflow.model import Workflow

Graph = tuple[set[tuple[Path, str, str]], set[Link], set[tuple[Path, str, str]]]


def by_guide(chart: str) -> Graph:
    return Reading(" ".join(MERMAID.interpret(chart).guide), chart).graph()


def by_reader(chart: str) -> Graph:
    workflow = MERMAID.read(chart)
    check(workflow)
    nodes, links, data = set[tuple[Path, str, str]](), set[Link](), set[tuple[Path, str, str]]()
    for path, level in levels(workflow, ()):
        joins = {f"{gateway.name}_join": gateway.name for gateway in level.gateways}
        # A gateway is called by its id, with a number where a task has that name.
        names = {
            gateway.name: f"<{re.sub('_[0-9]+$', '', joins.get(gateway.name, gateway.name))}>"
            for gateway in level.gateways
        }
        nodes |= {(path, "task", name) for name in level.task_names}
        nodes |= {(path, "data", datum.name) for datum in level.data}
        nodes |= {(path, gateway.kind, names[gateway.name]) for gateway in level.gateways}
        for link in level.links:
            ends = [names.get(name, name) for name in (link.source, link.target)]
            if link.source not in joins:
                links.add((path, ends[0], ends[1], link.guard))
        data |= {(path, link.source, link.target) for link in level.data_links}
    return nodes, links, data


def levels(workflow: Workflow, path: Path) -> Iterator[tuple[Path, Workflow]]:
    yield path, workflow
    for task in workflow.tasks:
        if task.subworkflow is not None:
            yield from levels(task.subworkflow, (*path, task.name))


@pytest.mark.parametrize("sample", READ, ids=lambda one: one.title)
def test_guide_of_corpus_chart_leads_to_same_graph(sample: Sample) -> None:
    assert by_guide(sample.chart) == by_reader(sample.chart)


LABELS = st.sampled_from(
    [
        "",
        "Boil",
        "Cook it",
        "Boil",
        '"Two<br/>lines"',
        '"`**Bold** x`"',
        '"#quot;q#quot;"',
        "Start",
        "end",
        "fork",
        "AND",
        "or",
        "XOR 1",
        "Ready?",
        "n3",
        '"parallel split"',
        '"exclusive join"',
        "fa:fa-car Car",
        '"Ä & ö"',
        '"a, b"',
    ]
)
BRACKETS = st.sampled_from(
    [("[", "]"), ("[", "]"), ("(", ")"), ("([", "])"), ("{", "}"), ("{{", "}}"), ("[(", ")]"), ("((", "))")]
)
NAMED_SHAPES = st.sampled_from(
    ["rect", "db", "disk", "diam", "decision", "hex", "fork", "sm-circ", "stop", "doc", "cyl"]
)
ARROWS = st.sampled_from(
    [
        "-->",
        "-->",
        "-->",
        "---",
        "-.->",
        "==>",
        "<-->",
        "--o",
        "x--x",
        "<-.->",
        "~~~",
        "---->",
        "-. maybe .->",
        "-->|yes|",
        '-->|"a < b"|',
        "-- no -->",
        "== go ==>",
        "-->|otherwise|",
        "---|wire|",
        "e1@-->",
    ]
)
IDS = st.sampled_from([f"n{i}" for i in range(1, 8)])


@st.composite
def nodes(draw: st.DrawFn) -> str:
    """Draw a node, with or without a shape."""
    own, label, (before, behind) = draw(IDS), draw(LABELS), draw(BRACKETS)
    how = draw(st.integers(0, 9))
    if how == 0:
        inner = label.strip('"') or "Said"
        return f'{own}@{{ shape: {draw(NAMED_SHAPES)}, label: "{inner}" }}'
    return f"{own}{before}{label}{behind}" if how < 6 and label else own


@st.composite
def chains(draw: st.DrawFn) -> str:
    """Draw a statement: groups of nodes with arrows between them."""
    groups = draw(st.lists(st.lists(nodes(), min_size=1, max_size=2).map(" & ".join), min_size=1, max_size=3))
    return groups[0] + "".join(f" {draw(ARROWS)} {group}" for group in groups[1:])


@st.composite
def charts(draw: st.DrawFn, depth: int = 0) -> list[str]:
    """Draw the statements of a chart, or of a subgraph in one."""
    lines: list[str] = []
    for _ in range(draw(st.integers(1, 4))):
        if depth < 2 and draw(st.integers(0, 3)) == 0:
            box = draw(st.sampled_from(["g1", "g2 [Group two]", 'g3["Group<br/>three"]', '"Group four"']))
            lines += [f"subgraph {box}", *draw(charts(depth + 1)), "end"]
        else:
            lines.append(draw(st.one_of(chains(), chains(), st.sampled_from(["n1 --> g1", "g2 --> n2", "n3 --- g3"]))))
    return lines


@given(lines=charts())
def test_guide_of_any_chart_leads_to_same_graph(lines: list[str]) -> None:
    boxes = [line for line in lines if line.startswith("subgraph g")]
    fresh = iter(line if line not in boxes[:at] else f"subgraph h{at}" for at, line in enumerate(boxes))
    lines = [next(fresh) if line.startswith("subgraph g") else line for line in lines]
    chart = "\n".join(["flowchart TD", *lines])
    try:
        expected: Any = by_reader(chart)
    except ReadError as error:
        event(f"refused: {str(error).split('found ')[-1][:20]}")
        assume(False)
        raise
    assert by_guide(chart) == expected
