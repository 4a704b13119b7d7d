from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from workflow_builders import level

from pytest_taskgraph.diagram import MOST_NODES, Diagram, DiagramEdge, DiagramGroup, DiagramNode
from pytest_taskgraph.families.understanding.understanding_family import understanding
from pytest_taskgraph.families.understanding.understanding_settings import UnderstandingSettings
from pytest_taskgraph.generation.strategies import workflows
from pytest_taskgraph.workflow.model import END, START, Data, DataLink, Gateway, Link, QualifiedName, Task, Workflow
from pytest_taskgraph.workflow.references import expand, levels
from pytest_taskgraph.workflow.workflow_diagram import diagram

INSIDE = level("START -> Weigh\nWeigh -> END")


def edges_by_place(workflow: Workflow) -> dict[str, set[tuple[str, str, str]]]:
    """The links by the label of the group that they stand in, by labels."""
    drawing = diagram(workflow)
    labels = {element.id: element.label for element in drawing.nodes} | {
        element.id: element.label for element in drawing.groups
    }
    places = {element.id: element.group for element in drawing.nodes} | {
        element.id: element.parent for element in drawing.groups
    }
    edges: dict[str, set[tuple[str, str, str]]] = {}
    for edge in drawing.edges:
        assert places[edge.source] == places[edge.target]
        where = labels.get(places[edge.source], "")
        edges.setdefault(where, set()).add((labels[edge.source], labels[edge.target], edge.label))
    return edges


def test_diagram_elements_are_nodes_and_guarded_edges() -> None:
    workflow = replace(
        level("START -> A\nA -> X\nX -> B [n > 3]\nX -> END [otherwise]\nB -> END", Gateway("X", "exclusive", "split")),
        data=(Data("Bill"),),
        data_links=(DataLink("A", "Bill"), DataLink("Bill", "B")),
    )
    drawing = diagram(workflow)
    assert {(element.label, element.kind) for element in drawing.nodes} == {
        ("START", "start"), ("A", "task"), ("B", "task"), ("X", "exclusive"), ("Bill", "data"), ("END", "end")
    }  # fmt: skip
    assert edges_by_place(workflow)[""] >= {
        ("X", "B", "n > 3"),
        ("X", "END", "otherwise"),
        ("A", "Bill", ""),
        ("Bill", "B", ""),
    }
    assert sorted(element.kind for element in drawing.edges) == ["control"] * 5 + ["data"] * 2


def test_diagram_composite_inside_is_in_its_group() -> None:
    whole = Workflow("W", tasks=(Task("Outer", subworkflow=INSIDE),), links=(Link(START, "Outer"), Link("Outer", END)))
    assert edges_by_place(whole) == {
        "": {("START", "Outer", ""), ("Outer", "END", "")},
        "Outer": {("START", "Weigh", ""), ("Weigh", "END", "")},
    }


def test_diagram_reference_is_drawn_with_its_workflow() -> None:
    called = replace(INSIDE, name="Scales", package="shop")
    whole = Workflow("W", "shop", tasks=(Task("Outer", reference=QualifiedName("Scales")),), others=(called,))
    drawing = diagram(whole)
    assert drawing.groups == [DiagramGroup("g0", "Outer", "", "shop.Scales")]
    assert edges_by_place(whole) == {"Outer": {("START", "Weigh", ""), ("Weigh", "END", "")}}


def test_diagram_recursive_workflow_is_drawn_once() -> None:
    loop = Workflow("Loop", tasks=(Task("Again", reference=QualifiedName("Loop")),))
    whole = Workflow("W", tasks=(Task("Outer", reference=QualifiedName("Loop")),), others=(loop,))
    drawing = diagram(whole)
    assert [(element.label, element.kind, element.note) for element in drawing.nodes] == [
        ("Outer", "composite", "calls Loop"), ("Again", "composite", "calls Loop")
    ]  # fmt: skip
    assert [element.label for element in drawing.groups] == ["Loop"]


def test_diagram_composite_without_room_is_closed_with_note() -> None:
    many = Workflow("Many", tasks=tuple(Task(f"T{at}") for at in range(MOST_NODES)))
    drawing = diagram(Workflow("W", tasks=(Task("Outer", subworkflow=many), Task("Inner", subworkflow=INSIDE))))
    (outer,) = [element for element in drawing.nodes if element.label == "Outer"]
    assert (outer.kind, outer.note) == ("composite", f"{MOST_NODES} tasks inside")
    assert [element.label for element in drawing.groups] == ["Inner"]


def test_diagram_large_level_draws_first_and_counts_others() -> None:
    many = Workflow("W", tasks=tuple(Task(f"T{at}") for at in range(MOST_NODES + 7)))
    drawing = diagram(many)
    assert len(drawing.nodes) == MOST_NODES
    assert drawing.omitted == 7
    dense = Workflow("W", tasks=(Task("A"), Task("B")), links=(Link("A", "B"),) * 5_000)
    assert len(diagram(dense).edges) + diagram(dense).omitted == 5_000


def test_diagram_project_too_large_to_expand_is_unexpanded() -> None:
    deep = tuple(
        Workflow(f"L{at}", tasks=tuple(Task(f"T{n}", reference=QualifiedName(f"L{at + 1}")) for n in range(10)))
        for at in range(8)
    )
    drawing = diagram(replace(deep[0], others=deep[1:]))
    assert [node.note for node in drawing.nodes[:2]] == ["calls L1", "calls L1"]


@given(workflows())
def test_diagram_any_workflow_draws_all_tasks(workflow: Workflow) -> None:
    drawing = diagram(workflow)
    expected = sorted(task.name for _, level in levels(expand(workflow)) for task in level.tasks)
    labels = [element.label for element in drawing.nodes if element.kind in ("task", "composite")] + [
        element.label for element in drawing.groups
    ]
    inside = {
        element.id for element in drawing.groups if not element.parent and element.label not in expected
    }  # further workflows
    assert inside or sorted(labels) == expected
    assert drawing.omitted == 0


@given(workflows())
def test_diagram_json_round_trip_is_equal(workflow: Workflow) -> None:
    drawing = diagram(workflow)
    assert Diagram.from_json(json.loads(json.dumps(drawing.to_json()))) == drawing
    assert diagram(workflow) == drawing


def test_diagram_json_omits_defaults() -> None:
    drawing = Diagram("W", [DiagramNode("n0", "A")], [DiagramEdge("n0", "n0")])
    assert drawing.to_json() == {
        "title": "W",
        "nodes": [{"id": "n0", "label": "A"}],
        "edges": [{"source": "n0", "target": "n0"}],
        "groups": [],
        "omitted": 0,
    }


@pytest.mark.parametrize("pattern", ["next_tasks", "infinite_recursion"])
def test_diagram_of_question_is_its_workflow(pattern: str) -> None:
    chosen = UnderstandingSettings(tasks=(12,), instances=2)
    for reference in understanding.references(chosen, {"patterns": pattern}):
        prompt = understanding.question(reference, chosen).prompt
        labels = [node.label for node in understanding.diagram(reference, chosen).nodes if node.kind == "task"]
        assert labels
        assert all(label in prompt for label in labels)


def test_diagram_of_cluster_is_shared() -> None:
    chosen = UnderstandingSettings(tasks=(12,), instances=1, notations=("wadl", "mermaid"))
    first, second = understanding.references(chosen, {"patterns": "next_tasks"})
    assert understanding.question(first, chosen).cluster == understanding.question(second, chosen).cluster
    assert understanding.diagram(first, chosen) == understanding.diagram(second, chosen)
